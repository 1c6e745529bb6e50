#include "engine/launched.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/proc_stat.h"
#include "engine/recorded_parts.h"
#include "record/digest_cache.h"

#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define ANCESTORS_MAX 32

static int read_link(const char *path, struct bytes *out)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text));

	return n < 0 ? -errno : bytes_set(out, text, (size_t)n) ? 0 : -ENOMEM;
}

static int describe_command(struct run_record *r, const struct launched *how, struct err *err)
{
	struct bytes raw = {0};
	size_t len = 0, at = 0;
	char *joined, *real = realpath(how->exe, NULL);
	int rc;

	if (real)
		bytes_set(&r->exe, real, strlen(real));
	free(real);
	for (char *const *a = how->argv; *a; a++)
		len += strlen(*a) + 1;
	joined = malloc(len + 1); /* of none at all, too */
	if (!joined)
		return err_nomem(err);
	for (char *const *a = how->argv; *a; a++) {
		size_t n = strlen(*a) + 1;

		memcpy(joined + at, *a, n);
		at += n;
	}
	rc = mask_args(joined, len, &raw, NULL);
	free(joined);
	if (rc < 0)
		return err_nomem(err);
	r->args = raw;
	return 0;
}

/* Names of our environment, which the command gets, that tell of a credential. */
static int describe_environment(struct run_record *r)
{
	size_t n = 0, all = 0;

	while (environ[all])
		all++;
	r->secret_names = calloc(all + 1, sizeof(*r->secret_names));
	if (!r->secret_names)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		size_t len = strcspn(environ[i], "=");

		if (!mask_name_is_secret(environ[i], len))
			continue;
		r->secret_names[n] = strndup(environ[i], len);
		if (!r->secret_names[n])
			return -ENOMEM;
		r->n_secret_names = ++n;
	}
	return 0;
}

static int add_descriptor(struct run_record *r, int fd)
{
	struct inherited_fd d = {.fd = fd};
	char path[40];
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0 || (flags & FD_CLOEXEC))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_link(path, &d.what) == -ENOMEM)
		return -ENOMEM;
	if (!VEC_PUSH(&r->inherited_fds, d)) {
		bytes_free(&d.what);
		return -ENOMEM;
	}
	return 0;
}

static int describe_descriptors(struct run_record *r, const struct spawn_caller *c)
{
	int rc = 0;

	for (int fd = 0; !rc && fd < 3; fd++)
		rc = add_descriptor(r, fd);
	for (size_t i = 0; !rc && i < c->fds.n; i++)
		rc = add_descriptor(r, c->fds.v[i]);
	return rc;
}

static int add_requester(struct run_record *r, pid_t pid, pid_t *parent)
{
	char path[64], text[PROC_STAT_MAX];
	const char *comm;
	struct requester q = {0};
	struct proc_stat st;

	*parent = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (proc_stat_read_text(AT_FDCWD, path, text) < 0 || proc_stat_parse(text, &st, &comm) < 0)
		return 0;
	q.id = (struct identity){pid, st.start};
	if (!bytes_set(&q.comm, comm, strlen(comm)))
		return -ENOMEM;
	if (!VEC_PUSH(&r->requested_by, q)) {
		bytes_free(&q.comm);
		return -ENOMEM;
	}
	*parent = st.ppid;
	return 0;
}

static int describe_requesters(struct run_record *r, struct identity front)
{
	struct proc_stat st;
	char path[64];
	pid_t pid;

	if (proc_stat_read(front.pid, &st) < 0)
		return 0;
	pid = st.ppid;
	if (pid > 1) {
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
		if (read_link(path, &r->requester_exe) == -ENOMEM)
			return -ENOMEM;
	}
	for (int n = 0; pid > 1 && n < ANCESTORS_MAX; n++)
		if (add_requester(r, pid, &pid) < 0)
			return -ENOMEM;
	return 0;
}

/* Whom the record is about, once it is there. */
static int describe_root(struct run_record *r, const struct launched *how, struct err *err)
{
	struct run *run = &r->run;

	run->root = how->root;
	run->pgid = how->pgid;
	run->sid = how->sid;
	run->owns_pgid = how->owns_pgid;
	run->owns_sid = how->owns_sid;
	if (how->owns_pgid)
		run->pgid_holder = how->root;
	if (how->owns_sid)
		run->sid_holder = how->root;
	run->since_ticks = how->root.start;
	r->coverage = *how->coverage;
	r->started_wall_ns = clock_wall_ns();
	r->deadline_wall_ns = how->deadline_wall_ns;
	snprintf(r->unit_kind, sizeof(r->unit_kind), "%s", unit_kind_name(how->unit->kind));
	r->unit_cannot_hold = strdup(unit_cannot_hold(how->unit));
	if (how->fallbacks)
		r->unit_fallbacks = strdup(how->fallbacks);
	if (!r->unit_cannot_hold || (how->fallbacks && !r->unit_fallbacks) ||
	    (*how->unit->path &&
	     !bytes_set(&run->cgroup, how->unit->path, strlen(how->unit->path))))
		return err_nomem(err);
	return 0;
}

static int describe_run(struct run_record *r, const struct launched *how)
{
	struct run *run = &r->run;

	snprintf(run->id, sizeof(run->id), "%s", how->id);
	run->recorded = true;
	run->uid = getuid();
	run->chosen = (struct selector){
		.kind = SELECT_ENV, .name = strdup(RUN_MARK), .value = strdup(how->mark)};
	return run->chosen.name && run->chosen.value &&
			       read_link("/proc/self/cwd", &run->cwd) != -ENOMEM
		       ? 0
		       : -ENOMEM;
}

static int describe(struct run_record *r, const struct launched *how, struct err *err)
{
	r->host = *how->host;
	r->launched = true;
	r->started_known = KNOWN_SEEN;
	r->grace_ns = how->grace_ns;
	r->front = how->front;
	r->warden = how->warden;
	r->operator= operator_current();
	snprintf(r->version, sizeof(r->version), "%s", PACKAGE_VERSION);
	snprintf(r->target, sizeof(r->target), "env:%s", RUN_MARK);
	snprintf(r->mark, sizeof(r->mark), "%s", how->mark);
	if (how->parent_run)
		snprintf(r->parent_run, sizeof(r->parent_run), "%s", how->parent_run);
	if (describe_run(r, how) < 0 || describe_environment(r) < 0 ||
	    describe_descriptors(r, how->caller) < 0 || describe_requesters(r, how->front) < 0 ||
	    (how->approved_by && recorded_copy_masked(how->approved_by, &r->approved_by) < 0))
		return err_nomem(err);
	return describe_command(r, how, err);
}

/* Those that are known without hashing anything: the command waits. */
static void find_digests(struct run_record *r, const struct statedir *s)
{
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[32];

	digest_cache_find(s, proc, "self/exe", r->stray_sha256, NULL);
	if (!r->requested_by.n)
		return;
	snprintf(link, sizeof(link), "%d/exe", (int)r->requested_by.v[0].id.pid);
	digest_cache_find(s, proc, link, r->requester_sha256, NULL);
}

int launched_prepare(const struct launched *how, struct launching *l, struct err *err)
{
	int r;

	*l = (struct launching){0};
	r = describe(&l->record, how, err);
	if (!r)
		r = recorded_state_dir(how->state_dir, STATEDIR_WRITE, &l->state, err);
	if (!r)
		find_digests(&l->record, l->state);
	return r;
}

void launching_clear(struct launching *l)
{
	run_record_clear(&l->record);
	statedir_close(l->state);
	*l = (struct launching){0};
}

int launched_create(const struct launched *how, struct launching *l, struct recorded *out,
		    struct err *err)
{
	int r = describe_root(&l->record, how, err);

	memset(out, 0, sizeof(*out));
	if (!r)
		r = rundir_create(l->state, &l->record, &out->dir, err);
	if (r < 0)
		return r;
	out->state = l->state;
	out->story.record = l->record;
	*l = (struct launching){0};
	out->story.state = RUN_ACTIVE;
	r = rundir_watch(&out->dir, err); /* nobody else tells what the warden tells */
	if (r < 0)
		recorded_close(out);
	return r < 0 ? r : 0;
}
