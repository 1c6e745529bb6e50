#include "record/rundir.h"

#include "base/file.h"
#include "record/digest.h"
#include "record/ledger.h"
#include "record/outfile.h"
#include "record/statedir_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define WATCH_LOCK "watch.lock"
#define UNBORN ".new-" /* no id begins with a dot */
#define DYING ".gone-"
#define SWEEP_AGE_S 3600 /* to make one, or to remove one, takes milliseconds */

bool rundir_id_valid(const char *id)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t len = strlen(id);

	return len > 0 && len <= RUN_ID_MAX && strspn(id, letters) == len && !strchr("._-", *id);
}

int rundir_new_id(char out[static RUN_ID_MAX + 1], struct err *err)
{
	unsigned number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_errno(err, errno, "no random number for the run's id");
	snprintf(out, RUN_ID_MAX + 1, "run-%08x", number);
	return 0;
}

void rundir_close(struct rundir *d)
{
	journal_close(d->journal);
	file_close_fd(&d->watch);
	file_close_fd(&d->fd);
	free(d->path);
	*d = (struct rundir){.fd = -1, .watch = -1};
}

static int name(struct rundir *d, const struct statedir *s, const char *id, struct err *err)
{
	*d = (struct rundir){.fd = -1, .watch = -1};
	snprintf(d->id, sizeof(d->id), "%s", id);
	if (asprintf(&d->path, "%s/runs/%s", statedir_path(s), id) < 0) {
		d->path = NULL;
		return err_nomem(err);
	}
	return 0;
}

static int write_record(struct rundir *d, const struct run_record *r, struct err *err)
{
	struct outfile f;
	int rc = outfile_create(d->fd, RUNDIR_RECORD, &f, err);

	if (rc < 0)
		return rc;
	f.sync_later = true; /* see fill() */
	rc = run_record_write(f.stream, r, err);
	if (rc < 0)
		outfile_discard(&f);
	else
		rc = outfile_finish(&f, err);
	return rc;
}

/* The first event holds the digest of the record, so that one proves the other. */
static int open_journal(struct rundir *d, const struct run_record *r, struct err *err)
{
	char sha256[DIGEST_HEX];
	struct jw *w;
	int rc = digest_file(d->fd, RUNDIR_RECORD, sha256, NULL, err);

	if (!rc)
		rc = journal_create(d->fd, RUNDIR_JOURNAL, JOURNAL_SCHEMA, &d->journal, err);
	if (rc < 0)
		return rc;
	w = journal_begin(d->journal, d->id, "run_opened", KNOWN_SEEN);
	if (w) {
		jw_str(w, "how", r->launched ? "launched" : "adopted");
		jw_str(w, "record_sha256", sha256);
		operator_json(w, "operator", &r->operator);
	}
	return journal_commit(d->journal, true, err);
}

/* All of it is on the disk when this returns.  The journal goes first: a file system that keeps one
 * itself then writes the others with it. */
static int fill(struct rundir *d, const struct run_record *r, struct err *err)
{
	AUTO_FD lock = openat(d->fd, WATCH_LOCK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_FD record = -1;
	int rc = lock < 0 ? err_errno(err, errno, "%.150s", d->path) : write_record(d, r, err);

	if (!rc)
		rc = journal_open_read(d->fd, RUNDIR_RECORD, &record, err);
	if (!rc)
		rc = open_journal(d, r, err);
	if (rc < 0)
		return rc;
	rc = file_sync(record);
	if (!rc)
		rc = file_sync(d->fd);
	return rc ? err_errno(err, -rc, "%.150s", d->path) : 0;
}

static bool is_made(const char *name)
{
	static const char *const made[] = {".",        "..",         RUNDIR_RECORD, RUNDIR_JOURNAL,
					   WATCH_LOCK, RUNDIR_SOCKET};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (strcmp(name, made[i]) == 0)
			return true;
	return rundir_is_snapshot(name);
}

/* NULL with errno; closedir() leaves the directory itself open. */
static DIR *list(const struct rundir *d)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		file_close_fd(&fd);
	return dir;
}

static void remove_made(const struct rundir *d, int runs, const char *as)
{
	DIR *dir = d->fd >= 0 ? list(d) : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (is_made(e->d_name))
			unlinkat(d->fd, e->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(runs, as, AT_REMOVEDIR);
}

static int make(struct rundir *d, int runs, const struct run_record *r, struct err *err)
{
	char unborn[sizeof(UNBORN) + RUN_ID_MAX + 16];
	struct stat st;
	int rc = 0;

	if (fstatat(runs, d->id, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(err, EEXIST, "%s: there is a run of that id already: choose another",
			       d->id);
	snprintf(unborn, sizeof(unborn), UNBORN "%d-%s", (int)getpid(), d->id);
	if (mkdirat(runs, unborn, 0700) < 0)
		return err_errno(err, errno, "%.150s: cannot be made", d->path);
	d->fd = openat(runs, unborn, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->fd < 0)
		rc = err_errno(err, errno, "%.150s", d->path);
	if (!rc)
		rc = fill(d, r, err);
	if (!rc && renameat2(runs, unborn, runs, d->id, RENAME_NOREPLACE) < 0)
		rc = errno == EEXIST ? err_set(err, EEXIST,
					       "%s: there is a run of that id already: "
					       "choose another",
					       d->id)
				     : err_errno(err, errno, "%.150s", d->path);
	if (rc < 0)
		remove_made(d, runs, unborn);
	return rc;
}

static int note(const struct rundir *d, const struct statedir *s, const char *event,
		struct err *err)
{
	return ledger_note(s, d->id, event, journal_seq(d->journal), journal_head(d->journal),
			   RUN_ACTIVE, true, err);
}

/* The line may be there all the same, where it could not be synced. */
static int note_opened(const struct rundir *d, const struct statedir *s, struct err *err)
{
	int rc = note(d, s, "run_opened", err);

	if (rc < 0 && rc != -ETIMEDOUT)
		note(d, s, "run_pruned", NULL);
	return rc;
}

/* It has its name, and the ledger learns of it when that is on the disk: what it tells is there. */
static int be_born(struct rundir *d, const struct statedir *s, int runs, struct err *err)
{
	int rc = file_sync(runs);

	if (rc < 0)
		err_errno(err, -rc, "%.150s", d->path);
	else
		rc = note_opened(d, s, err);
	if (rc < 0)
		remove_made(d, runs, d->id);
	return rc;
}

int rundir_create(const struct statedir *s, const struct run_record *r, struct rundir *out,
		  struct err *err)
{
	AUTO_FD runs = -1;
	int rc;

	*out = (struct rundir){.fd = -1, .watch = -1};
	if (!rundir_id_valid(r->run.id))
		return err_set(err, EINVAL,
			       "%.64s: no id of a run: letters, digits, '.', '_', '-', at most %d, "
			       "and a letter or digit first",
			       r->run.id, RUN_ID_MAX);
	rc = statedir_subdir(s, "runs", &runs, err);
	if (!rc)
		rc = name(out, s, r->run.id, err);
	if (!rc)
		rc = make(out, runs, r, err);
	if (!rc)
		rc = be_born(out, s, runs, err);
	if (rc < 0)
		rundir_close(out);
	return rc;
}

/* Who acts on what run.json says acts for who could write it. */
static int check_record(const struct rundir *d, struct err *err)
{
	AUTO_FD fd = -1;
	int r = journal_open_read(d->fd, RUNDIR_RECORD, &fd, err);

	return r ? r : file_check_ours(fd, RUNDIR_RECORD, err);
}

int rundir_open(const struct statedir *s, const char *id, bool write, struct rundir *out,
		struct err *err)
{
	AUTO_FD runs = -1;
	int rc;

	*out = (struct rundir){.fd = -1, .watch = -1};
	rc = statedir_subdir(s, "runs", &runs, err);
	if (!rc)
		rc = name(out, s, id, err);
	if (!rc) {
		rc = statedir_enter(runs, id, out->path, write ? STATEDIR_WRITE : STATEDIR_READ,
				    &out->fd, err);
	}
	if (!rc && write)
		rc = check_record(out, err);
	if (!rc && write)
		rc = journal_open(out->fd, RUNDIR_JOURNAL, JOURNAL_SCHEMA, &out->journal, err);
	if (rc < 0)
		rundir_close(out);
	return rc;
}

/*
 * The lock belongs to the open file description (fcntl(2), F_OFD_SETLK): it goes with
 * who has it open, and can be asked for without being taken.
 */
int rundir_watch(struct rundir *d, struct err *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(d->fd, WATCH_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "%.150s/" WATCH_LOCK, d->path);
	r = file_check_ours(fd, WATCH_LOCK, err);
	if (!r && fcntl(fd, F_OFD_SETLK, &whole) == 0) {
		d->watch = fd;
		return 1;
	}
	if (!r && errno != EAGAIN && errno != EACCES)
		r = err_errno(err, errno, "%.150s/" WATCH_LOCK, d->path);
	close(fd);
	return r;
}

void rundir_unwatch(struct rundir *d)
{
	file_close_fd(&d->watch);
	d->watch = -1;
}

uint64_t rundir_journal_bytes(const struct rundir *d)
{
	struct stat st;

	return fstatat(d->fd, RUNDIR_JOURNAL, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size
									     : 0;
}

int rundir_is_watched(const struct rundir *d)
{
	struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	AUTO_FD fd = openat(d->fd, WATCH_LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &whole) < 0)
		return -errno;
	return whole.l_type != F_UNLCK;
}

int rundir_is_ours(const struct rundir *d, struct err *err)
{
	DIR *dir = list(d);
	const struct dirent *e;
	int r = 0;

	if (!dir)
		return err_errno(err, errno, "%.150s", d->path);
	while (!r && (e = readdir(dir)))
		if (!is_made(e->d_name))
			r = err_set(err, ENOTEMPTY,
				    "%.150s: not removed: holds what stray did not make", d->path);
	closedir(dir);
	return r;
}

int rundir_remove(const struct statedir *s, const struct rundir *d, struct err *err)
{
	char dying[sizeof(DYING) + RUN_ID_MAX + 16];
	AUTO_FD runs = -1;
	int r = statedir_subdir(s, "runs", &runs, err);

	if (r < 0)
		return r;
	/* it goes as it came: whole, whenever we die */
	snprintf(dying, sizeof(dying), DYING "%d-%s", (int)getpid(), d->id);
	if (renameat2(runs, d->id, runs, dying, RENAME_NOREPLACE) < 0)
		return err_errno(err, errno, "%.150s", d->path);
	remove_made(d, runs, dying);
	return 0;
}

/* What is left of one that was not finished: nobody has it in hand any more. */
static void sweep_one(int runs, const char *name)
{
	struct rundir d = {
		.fd = openat(runs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		.watch = -1};
	struct stat st;

	if (d.fd >= 0 && fstat(d.fd, &st) == 0 && st.st_uid == geteuid() &&
	    st.st_mtime < time(NULL) - SWEEP_AGE_S)
		remove_made(&d, runs, name);
	rundir_close(&d);
}

int rundir_sweep(const struct statedir *s, struct err *err)
{
	const struct dirent *e;
	int fd, runs, r = statedir_subdir(s, "runs", &fd, err);
	DIR *dir;

	if (r < 0)
		return r;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(err, errno, "%.150s/runs", statedir_path(s));
	}
	runs = dirfd(dir);
	while ((e = readdir(dir)))
		if (strncmp(e->d_name, UNBORN, sizeof(UNBORN) - 1) == 0 ||
		    strncmp(e->d_name, DYING, sizeof(DYING) - 1) == 0)
			sweep_one(runs, e->d_name);
	closedir(dir);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void rundir_list_clear(struct rundir_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct rundir_list){0};
}

static int list_names(DIR *dir, struct rundir_list *out)
{
	const struct dirent *e;

	while ((errno = 0, e = readdir(dir))) {
		char *copy;

		if (!rundir_id_valid(e->d_name))
			continue;
		copy = strdup(e->d_name);
		if (!copy || !VEC_PUSH(out, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	return -errno;
}

int rundir_list(const struct statedir *s, struct rundir_list *out, struct err *err)
{
	int fd, r;
	DIR *dir;

	*out = (struct rundir_list){0};
	if (faccessat(statedir_fd(s), "runs", F_OK, 0) < 0 && errno == ENOENT)
		return 0; /* nothing was ever recorded here */
	r = statedir_subdir(s, "runs", &fd, err);
	if (r < 0)
		return r;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(err, errno, "%.150s/runs", statedir_path(s));
	}
	r = list_names(dir, out);
	closedir(dir);
	if (r < 0) {
		rundir_list_clear(out);
		return err_errno(err, -r, "%.150s/runs", statedir_path(s));
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_name);
	return 0;
}

static int choose(const struct rundir_list *l, const char *name, char *id, struct err *err)
{
	const char *found = NULL, *other = NULL;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->v[i], name) == 0) {
			found = l->v[i];
			other = NULL;
			break;
		}
		if (strncmp(l->v[i], name, strlen(name)) != 0)
			continue;
		if (found && !other)
			other = l->v[i];
		else if (!found)
			found = l->v[i];
	}
	if (!found)
		return err_set(err, ENOENT, "%.64s: no such run: stray runs lists them", name);
	if (other)
		return err_set(err, ENOTUNIQ, "%.64s: which one: %s, %s ...?", name, found, other);
	snprintf(id, RUN_ID_MAX + 1, "%s", found);
	return 0;
}

int rundir_find(const struct statedir *s, const char *name, char id[static RUN_ID_MAX + 1],
		struct err *err)
{
	struct rundir_list l;
	int r = rundir_list(s, &l, err);

	if (!r)
		r = choose(&l, name, id, err);
	rundir_list_clear(&l);
	return r;
}
