#include "engine/drill.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/proc_stat.h"
#include "contain/signal.h"
#include "engine/recorded.h"
#include "record/host_json.h"
#include "record/outfile.h"
#include "record/process_json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DRILL_SCHEMA "stray.drill/1"
#define DRILL_BYTES_MAX 65536
#define END_NS 2000000000ull
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static void read_boot_id(char out[static 64])
{
	ssize_t n = file_read_at(AT_FDCWD, BOOT_ID, out, 64);

	out[n > 0 ? strcspn(out, "\n") : 0] = '\0';
}

static void end_one(struct identity id)
{
	struct target_set one = {0};

	if (target_add(&one, id, NULL, NULL) == 0) {
		signal_each(&one, SIGKILL);
		target_set_wait(&one, clock_boot_ns() + END_NS, NULL);
	}
	target_set_clear(&one);
}

static void end_all(const struct drill *d)
{
	for (unsigned i = 0; i < d->n; i++)
		end_one(d->v[i].id);
}

static int make_all(struct drill *d, unsigned seconds, struct err *err)
{
	struct fixture_options o = {.seconds = seconds, .cgroup = -1};

	for (int s = 0; s < FIXTURE_SHAPES; s++) {
		struct drill_member *m = &d->v[d->n];
		int r;

		/* a plain child holds the streams, as one does: who waits for their end, waits */
		o.keep_stdio = s == FIXTURE_CHILD;
		r = fixture_make((enum fixture_shape)s, &o, &m->id, err);
		if (r < 0)
			return r;
		m->shape = (enum fixture_shape)s;
		m->pgid = getpgid(m->id.pid);
		m->sid = getsid(m->id.pid);
		d->n++;
	}
	return 0;
}

static void write_json(const struct drill *d, struct jw *j)
{
	char boot_id[64];

	read_boot_id(boot_id);
	jw_object(j, NULL);
	jw_str(j, "schema", DRILL_SCHEMA);
	time_json(j, "started_at", d->started_wall_ns);
	jw_str(j, "boot_id", boot_id);
	process_json_identity(j, "process", d->self);
	jw_int(j, "pgid", d->pgid);
	jw_int(j, "sid", d->sid);
	jw_array(j, "fixtures");
	for (unsigned i = 0; i < d->n; i++) {
		jw_object(j, NULL);
		jw_str(j, "shape", fixture_name(d->v[i].shape));
		jw_int(j, "pid", d->v[i].id.pid);
		jw_uint(j, "start_ticks", d->v[i].id.start);
		jw_int(j, "pgid", d->v[i].pgid);
		jw_int(j, "sid", d->v[i].sid);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
}

static int open_dir(const char *option, enum statedir_use use, int *fd, struct err *err)
{
	struct statedir *s = NULL;
	int r = recorded_state_dir(option, use, &s, err);

	if (!r)
		r = statedir_subdir(s, "drills", fd, err);
	statedir_close(s);
	return r;
}

static int write_file(const char *state_dir, struct drill *d, struct err *err)
{
	struct outfile f = {0};
	AUTO_FD dir = -1;
	struct jw *j;
	int r = open_dir(state_dir, STATEDIR_WRITE, &dir, err);

	if (!r)
		r = outfile_create(dir, d->name, &f, err);
	if (r < 0)
		return r;
	j = jw_open(f.stream, false);
	if (j) {
		write_json(d, j);
		r = jw_close(j);
	}
	if (!j || r < 0)
		r = j ? err_errno(err, -r, "%s", d->name) : err_nomem(err);
	else
		r = outfile_finish(&f, err);
	outfile_discard(&f);
	return r;
}

int drill_start(const char *state_dir, unsigned seconds, struct drill *out, struct err *err)
{
	time_t now;
	struct proc_stat st;
	struct tm tm;
	int r = proc_stat_read(getpid(), &st);

	memset(out, 0, sizeof(*out));
	if (r < 0)
		return err_errno(err, -r, "/proc/self/stat");
	out->started_wall_ns = clock_wall_ns();
	now = (time_t)(out->started_wall_ns / CLOCK_NS_PER_S);
	gmtime_r(&now, &tm);
	strftime(out->name, 24, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(out->name + strlen(out->name), 24, "-%d.json", (int)st.pid);
	out->self = (struct identity){st.pid, st.start};
	out->pgid = st.pgid;
	out->sid = st.sid;
	r = make_all(out, seconds, err);
	if (!r)
		r = write_file(state_dir, out, err);
	if (r < 0)
		end_all(out);
	return r;
}

/* --- afterwards --- */

static int none(struct err *err)
{
	return err_set(err, ENOENT, "no drill was started: stray doctor --drill starts one");
}

/* The names begin with the time: the last is the greatest. */
static int find_last(int fd, char *name, size_t size, struct err *err)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	*name = '\0';
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, name) > 0)
			snprintf(name, size, "%.60s", e->d_name);
	if (d)
		closedir(d);
	return *name ? 0 : none(err);
}

static int read_identity(const json_t *o, struct identity *out, struct err *err)
{
	int64_t pid = 0;
	int r = json_get_int(o, "pid", 0, INT32_MAX, &pid, NULL, err);

	out->pid = (pid_t)pid;
	return r ? r : json_get_uint(o, "start_ticks", &out->start, NULL, err);
}

static int read_member(const json_t *o, struct drill *d, struct err *err)
{
	struct drill_member *m = &d->v[d->n];
	int64_t pgid = 0, sid = 0;
	const char *shape = NULL;
	int r = json_get_str(o, "shape", &shape, err);

	if (!r)
		r = read_identity(o, &m->id, err);
	if (!r)
		r = json_get_int(o, "pgid", 0, INT32_MAX, &pgid, NULL, err);
	if (!r)
		r = json_get_int(o, "sid", 0, INT32_MAX, &sid, NULL, err);
	m->pgid = (pid_t)pgid;
	m->sid = (pid_t)sid;
	for (int s = 0; !r && shape && s < FIXTURE_SHAPES; s++)
		if (strcmp(shape, fixture_name((enum fixture_shape)s)) == 0) {
			m->shape = (enum fixture_shape)s;
			d->n++;
			return 0;
		}
	return r;
}

static int read_object(const json_t *o, struct drill *d, struct err *err)
{
	const char *schema = NULL, *boot = NULL, *at = NULL;
	char here[64];
	const json_t *v;
	size_t i;
	int r = json_get_str(o, "schema", &schema, err);

	if (!r && (!schema || strcmp(schema, DRILL_SCHEMA) != 0))
		r = err_set(err, EINVAL, "no drill, or of another version");
	if (!r)
		r = json_get_str(o, "boot_id", &boot, err);
	read_boot_id(here);
	if (!r && (!boot || strcmp(boot, here) != 0))
		r = err_set(err, ESTALE, "of another boot: nothing of it is left");
	if (!r)
		r = json_get_str(o, "started_at", &at, err);
	if (!r && at)
		clock_parse_rfc3339(at, &d->started_wall_ns);
	if (!r)
		r = read_identity(json_object_get(o, "process"), &d->self, err);
	json_array_foreach(json_object_get(o, "fixtures"), i, v)
	{
		if (!r && d->n < FIXTURE_SHAPES)
			r = read_member(v, d, err);
	}
	return r;
}

static int read_file(int dir, struct drill *d, struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_FD fd = -1;
	struct err why = {0};
	json_t *o = NULL;
	ssize_t n;
	int r;

	fd = openat(dir, d->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "drill %s", d->name);
	r = file_check_ours(fd, d->name, err); /* whom it names is ended */
	if (r < 0)
		return r;
	n = file_read_all_fd(fd, DRILL_BYTES_MAX, &text);
	if (n < 0)
		return err_errno(err, (int)-n, "drill %s", d->name);
	r = json_read_line(text, (size_t)n, &o, &why);
	if (!r)
		r = read_object(o, d, &why);
	json_decref(o);
	return r < 0 ? err_set(err, -r, "drill %s: %s", d->name, why.text) : 0;
}

int drill_after(const char *state_dir, const char *name, struct drill *out, struct err *err)
{
	AUTO_FD dir = -1;
	struct err why = {0};
	int r = open_dir(state_dir, STATEDIR_READ, &dir, &why);

	memset(out, 0, sizeof(*out));
	if (r == -ENOENT)
		return none(err);
	if (r < 0)
		return err_set(err, -r, "%s", why.text);
	if (!r && name)
		snprintf(out->name, sizeof(out->name), "%s", name);
	else if (!r)
		r = find_last(dir, out->name, sizeof(out->name), err);
	if (!r)
		r = read_file(dir, out, err);
	if (r < 0)
		return r;
	out->self_alive = !proc_has_ended(out->self.pid, out->self.start);
	for (unsigned i = 0; i < out->n; i++)
		out->v[i].alive = !proc_has_ended(out->v[i].id.pid, out->v[i].id.start);
	for (unsigned i = 0; i < out->n; i++)
		if (out->v[i].alive)
			end_one(out->v[i].id);
	return 0;
}
