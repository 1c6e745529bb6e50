#include "record/export_parts.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define DIFF_MAX (8u << 20) /* bytes of a comparison that is told; beyond it is named only */

/* One name in a directory, that leads nowhere else. */
static bool is_plain(const char *name, size_t len)
{
	return len > 0 && len < 128 && name[0] != '.' && !memchr(name, '/', len);
}

/*
 * "acts/NAME/FILE" or "runs/NAME/FILE" below the state directory, opened step by step
 * without following a link: a journal from elsewhere names what it likes.
 */
static int open_parent(const struct export *x, const char *path, int *fd, const char **file,
		       struct err *err)
{
	const char *dir, *slash = NULL;
	AUTO_FREE char *name = NULL;
	AUTO_FD top = -1;
	int r;

	if (strncmp(path, "acts/", 5) == 0 || strncmp(path, "runs/", 5) == 0)
		slash = strchr(path + 5, '/');
	if (!slash)
		return err_set(err, EINVAL, "no name of a file below acts or runs");
	dir = path + 5;
	if (!is_plain(dir, (size_t)(slash - dir)) || !is_plain(slash + 1, strlen(slash + 1)))
		return err_set(err, EINVAL, "no name of a file below acts or runs");
	name = strndup(dir, (size_t)(slash - dir));
	if (!name)
		return err_nomem(err);
	r = statedir_subdir(x->state, path[0] == 'a' ? "acts" : "runs", &top, err);
	if (r < 0)
		return r;
	*fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return err_errno(err, errno, "%.150s", path);
	*file = slash + 1;
	return 0;
}

/* Of the very bytes that were compared. */
static int read_diff(int dir, const char *file, const char *sha256, json_t **out)
{
	AUTO_FREE char *text = NULL;
	AUTO_FD fd = -1;
	char hex[CHAIN_HEX];
	ssize_t n;

	if (journal_open_read(dir, file, &fd, NULL) < 0)
		return 0;
	n = file_read_all_fd(fd, DIFF_MAX, &text);
	if (n < 0)
		return n == -ENOMEM ? -ENOMEM : 0;
	if (chain_digest(text, (size_t)n, hex, NULL) < 0 || strcmp(hex, sha256) != 0)
		return 0;
	return json_read_line(text, (size_t)n, out, NULL) == -ENOMEM ? -ENOMEM : 0;
}

/* act: whose comparison is read, where it is one; NULL: of none. */
static int check(const struct export *x, struct export_act *act, struct export_file *f)
{
	struct err err = {0};
	const char *file = NULL;
	AUTO_FD dir = -1;
	int r = open_parent(x, f->name, &dir, &file, &err);

	if (!r)
		r = digest_file(dir, file, f->found, NULL, &err);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		f->state = EXPORT_FILE_MISSING;
		snprintf(f->why, sizeof(f->why), "%.199s", err.text);
		return 0;
	}
	f->state = strcmp(f->found, f->sha256) == 0 ? EXPORT_FILE_SAME : EXPORT_FILE_CHANGED;
	if (f->state != EXPORT_FILE_SAME || strcmp(f->what, "diff") != 0 || !act || act->diff)
		return 0;
	return read_diff(dir, file, f->sha256, &act->diff);
}

static int tell(struct export *x, const struct export_file *f)
{
	if (f->state == EXPORT_FILE_CHANGED)
		return export_gap(x, "files", 0, 0,
				  "%.200s is not what the journal says it was: nothing is told "
				  "from it",
				  f->name);
	if (f->state == EXPORT_FILE_MISSING)
		return export_gap(x, "files", 0, 0, "%.200s cannot be read (%s)", f->name, f->why);
	return 0;
}

static int check_event(struct export *x, struct export_act *act, struct export_file_list *list,
		       const json_t *event)
{
	const char *what = event_str(event, "what"), *name = event_str(event, "file"),
		   *sha256 = event_str(event, "sha256");
	struct export_file f = {
		.what = what ? what : "", .name = name ? name : "", .sha256 = sha256 ? sha256 : ""};
	int r = check(x, act, &f);

	if (!r)
		r = tell(x, &f);
	if (!r && !VEC_PUSH(list, f))
		r = -ENOMEM;
	return r;
}

static int check_events(struct export *x, struct export_act *act, struct export_file_list *list,
			const struct events *events)
{
	int r = 0;

	for (size_t i = 0; i < events->n && !r; i++)
		if (event_is(events->v[i], "snapshot"))
			r = check_event(x, act, list, events->v[i]);
	return r;
}

int export_files(struct export *x, struct err *err)
{
	int r = check_events(x, NULL, &x->files, &x->snapshots);

	for (size_t i = 0; i < x->acts.n && !r; i++)
		r = check_events(x, &x->acts.v[i], &x->acts.v[i].files, &x->acts.v[i].events);
	return r < 0 ? err_nomem(err) : 0;
}
