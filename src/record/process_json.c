#include "record/process_json.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/origin.h"
#include "model/suspect.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The answer to every question about a process whose details were not read. */
static const struct detail not_read = {
	.uid = (uid_t)-1,
	.euid = (uid_t)-1,
	.tracer = -1,
	.audit_session = -2,
	.login_uid = -2,
};

void process_json_tty(struct jw *j, const char *key, uint32_t tty_nr)
{
	char name[32];

	jw_str(j, key, tty_name(tty_nr, name) ? name : NULL);
}

void process_json_state(struct jw *j, const char *key, char state)
{
	if (state)
		jw_strn(j, key, &state, 1);
	else
		jw_null(j, key);
}

void process_json_pid(struct jw *j, const char *key, pid_t pid)
{
	if (pid < 0)
		jw_null(j, key);
	else
		jw_int(j, key, pid);
}

void process_json_uid(struct jw *j, const char *key, uid_t uid)
{
	if (uid == (uid_t)-1)
		jw_null(j, key);
	else
		jw_uint(j, key, uid);
}

void process_json_identity(struct jw *j, const char *key, struct identity id)
{
	jw_object(j, key);
	jw_int(j, "pid", id.pid);
	jw_uint(j, "start_ticks", id.start);
	jw_object_end(j);
}

/* The argument at *at, of *len bytes; false: there is none left. */
static bool next_arg(const struct bytes *args, size_t *at, const char **arg, size_t *len)
{
	if (*at >= args->len)
		return false;
	*arg = args->data + *at;
	*len = strnlen(*arg, args->len - *at);
	*at += *len + 1;
	return true;
}

static void write_args_b64(struct jw *j, const char *b64_key, const struct bytes *args)
{
	const char *arg;
	size_t len, at = 0;

	jw_array(j, b64_key);
	while (next_arg(args, &at, &arg, &len)) {
		if (text_utf8_valid(arg, len))
			jw_null(j, NULL);
		else
			jw_base64(j, NULL, arg, len);
	}
	jw_array_end(j);
}

void process_json_args(struct jw *j, const char *key, const char *b64_key, const struct bytes *args)
{
	bool exact = true;
	const char *arg;
	size_t len, at = 0;

	if (!args->data) {
		jw_null(j, key);
		return;
	}
	jw_array(j, key);
	while (next_arg(args, &at, &arg, &len)) {
		jw_strn(j, NULL, arg, len);
		exact = exact && text_utf8_valid(arg, len);
	}
	jw_array_end(j);
	if (!exact)
		write_args_b64(j, b64_key, args);
}

static void write_stat(struct jw *j, const struct process *p)
{
	jw_int(j, "pid", p->id.pid);
	process_json_pid(j, "ppid", p->ppid);
	process_json_pid(j, "pgid", p->pgid);
	process_json_pid(j, "sid", p->sid);
	process_json_tty(j, "tty", p->tty_nr);
	if (p->tty_closed)
		jw_bool(j, "tty_closed", true);
	jw_int(j, "tpgid", p->tpgid);
	process_json_state(j, "state", p->state);
	jw_uint(j, "start_ticks", p->id.start);
}

static void write_started_at(struct jw *j, const struct process *p, const struct host *h)
{
	char text[CLOCK_RFC3339_MAX];
	uint64_t wall_ns;

	if (h && host_started_wall_ns(h, p->id.start, &wall_ns)) {
		clock_rfc3339(wall_ns, text);
		jw_str(j, "started_at", text);
	} else {
		jw_null(j, "started_at");
	}
}

static void write_owner(struct jw *j, const struct detail *d)
{
	process_json_uid(j, "uid", d->uid);
	process_json_uid(j, "euid", d->euid);
	jw_bytes(j, "user", &d->user);
}

static void write_inode(struct jw *j, const char *key, uint64_t number)
{
	if (number)
		jw_uint(j, key, number);
	else
		jw_null(j, key);
}

static void write_deleted(struct jw *j, const char *key, const struct bytes *path, bool deleted)
{
	if (path->data)
		jw_bool(j, key, deleted);
	else
		jw_null(j, key);
}

static void write_program(struct jw *j, const struct detail *d, const struct bytes *cmdline)
{
	jw_bytes(j, "comm", &d->comm);
	jw_bytes(j, "exe", &d->exe);
	write_deleted(j, "exe_deleted", &d->exe, d->exe_deleted);
	write_inode(j, "exe_dev", d->exe_dev);
	write_inode(j, "exe_inode", d->exe_inode);
	jw_bytes(j, "cwd", &d->cwd);
	write_deleted(j, "cwd_deleted", &d->cwd, d->cwd_deleted);
	jw_bytes(j, "cmdline", cmdline);
	process_json_args(j, "args", "args_b64", &d->cmdline);
	if (d->cmdline.data && d->cmdline_total > d->cmdline.len) {
		jw_bool(j, "args_cut", true);
		jw_uint(j, "args_bytes", d->cmdline_total);
	}
}

/* -1 is the kernel's "unset", which is known; -2 is not known. */
static void write_login_id(struct jw *j, const char *key, int64_t id)
{
	if (id < -1)
		jw_null(j, key);
	else
		jw_int(j, key, id);
}

static void write_origin(struct jw *j, const struct process *p, const struct detail *d)
{
	jw_bytes(j, "cgroup", &d->cgroup);
	write_deleted(j, "cgroup_v2", &d->cgroup, d->cgroup_v2);
	if (p->origin == ORIGIN_UNKNOWN) {
		jw_null(j, "origin");
	} else {
		jw_object(j, "origin");
		jw_str(j, "kind", origin_kind_name((enum origin_kind)p->origin));
		jw_bytes(j, "name", &p->origin_name);
		jw_object_end(j);
	}
	write_login_id(j, "audit_session", d->audit_session);
	write_login_id(j, "login_uid", d->login_uid);
}

static void write_use(struct jw *j, const struct process *p)
{
	jw_bool(j, "kthread", process_is_kthread(p));
	jw_uint(j, "threads", p->threads);
	jw_uint(j, "cpu_ticks", p->cpu_ticks);
	jw_uint(j, "rss_kb", p->rss_kb);
}

static const char *mark_name(const struct detail *d, size_t i)
{
	return d->marks[i].name;
}

static const char *credential_name(const struct detail *d, size_t i)
{
	return d->secret_names[i];
}

/* Names of the environment: a process may give them any byte. */
static void write_names(struct jw *j, const char *key, const char *b64_key, const struct detail *d,
			size_t n, const char *(*name)(const struct detail *, size_t))
{
	bool exact = true;

	jw_array(j, key);
	for (size_t i = 0; i < n; i++) {
		jw_str(j, NULL, name(d, i));
		exact = exact && text_utf8_valid(name(d, i), strlen(name(d, i)));
	}
	jw_array_end(j);
	if (exact)
		return;
	jw_array(j, b64_key);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(name(d, i));

		if (text_utf8_valid(name(d, i), len))
			jw_null(j, NULL);
		else
			jw_base64(j, NULL, name(d, i), len);
	}
	jw_array_end(j);
}

static void write_environment(struct jw *j, const struct detail *d)
{
	if (!detail_knows(d, DETAIL_ENVIRON)) {
		jw_null(j, "env_marks");
		jw_null(j, "env_credentials");
		return;
	}
	write_names(j, "env_marks", "env_marks_b64", d, d->n_marks, mark_name);
	write_names(j, "env_credentials", "env_credentials_b64", d, d->n_secret_names,
		    credential_name);
}

static void write_status(struct jw *j, const struct detail *d)
{
	if (d->n_nspid > 1) {
		jw_array(j, "nspid");
		for (int i = 0; i < d->n_nspid; i++)
			jw_int(j, NULL, d->nspid[i]);
		jw_array_end(j);
	}
	if (!detail_knows(d, DETAIL_STATUS))
		return;
	jw_uint_string(j, "sig_pending", d->sig_pending);
	jw_uint_string(j, "sig_blocked", d->sig_blocked);
	jw_uint_string(j, "sig_ignored", d->sig_ignored);
	jw_uint_string(j, "sig_caught", d->sig_caught);
	process_json_pid(j, "tracer", d->tracer);
}

static void write_asked_for(struct jw *j, const struct detail *d)
{
	if (detail_knows(d, DETAIL_WCHAN))
		jw_bytes(j, "wchan", &d->wchan);
	if (detail_knows(d, DETAIL_NS)) {
		jw_object(j, "namespaces");
		for (int i = 0; i < NS_COUNT; i++)
			write_inode(j, ns_name(i), d->ns[i]);
		jw_object_end(j);
	}
	if (detail_knows(d, DETAIL_STDIO)) {
		jw_object(j, "stdio");
		jw_bytes(j, "stdin", &d->stdio[0]);
		jw_bytes(j, "stdout", &d->stdio[1]);
		jw_bytes(j, "stderr", &d->stdio[2]);
		jw_object_end(j);
	}
}

static void write_unreadable(struct jw *j, const struct detail *d)
{
	jw_array(j, "unreadable");
	for (unsigned i = 0; i < DETAIL_COUNT; i++) {
		if (!d->unread[i])
			continue;
		jw_object(j, NULL);
		jw_str(j, "member", detail_name(1u << i));
		jw_str(j, "errno", err_name(d->unread[i]));
		jw_object_end(j);
	}
	jw_array_end(j);
}

/* The names of the set bits, in an array. */
static void write_bits(struct jw *j, const char *key, unsigned bits, const char *(*name)(unsigned))
{
	jw_array(j, key);
	for (; bits; bits &= bits - 1)
		jw_str(j, NULL, name(bits & -bits));
	jw_array_end(j);
}

static void write_run(struct jw *j, const struct process *p, const struct run *run)
{
	char flags[7];

	run_flags(run, p, flags);
	jw_array(j, "flags");
	for (const char *f = flags; *f; f++)
		if (*f != '-')
			jw_strn(j, NULL, f, 1);
	jw_array_end(j);
	write_bits(j, "evidence", p->evidence, evidence_name);
	write_bits(j, "classes", run_classes(run, p), class_name);
	if (p->parent_known == KNOWN_NOT)
		jw_null(j, "original_ppid");
	else
		process_json_pid(j, "original_ppid", p->parent_was.pid);
}

void process_json_execed(struct jw *j, const struct detail *d)
{
	static const struct bytes unknown;

	jw_bytes(j, "comm", d ? &d->comm : &unknown);
	jw_bytes(j, "exe", d ? &d->exe : &unknown);
	process_json_args(j, "args", "args_b64", d ? &d->cmdline : &unknown);
	jw_str(j, "args_from", d && d->cmdline.data ? "proc" : NULL);
}

void process_json_happened(struct jw *j, uint64_t boot_ns)
{
	if (boot_ns)
		jw_uint(j, "happened_mono_ns", boot_ns);
	else
		jw_null(j, "happened_mono_ns");
}

void process_json_status(struct jw *j, int status)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (name)
		jw_str(j, "signal", name);
	else if (WIFSIGNALED(status))
		jw_strf(j, "signal", "%d", WTERMSIG(status));
	else
		jw_int(j, "status", WEXITSTATUS(status));
}

void process_json_facts(struct jw *j, const struct process *p, const struct host *host,
			const struct run *run)
{
	const struct detail *d = p->detail ? p->detail : &not_read;

	process_json_pid(j, "ppid", p->ppid);
	process_json_pid(j, "pgid", p->pgid);
	process_json_pid(j, "sid", p->sid);
	process_json_tty(j, "tty", p->tty_nr);
	write_started_at(j, p, host);
	process_json_uid(j, "uid", d->uid);
	jw_bytes(j, "user", &d->user);
	jw_bytes(j, "comm", &d->comm);
	jw_bytes(j, "exe", &d->exe);
	process_json_args(j, "args", "args_b64", &d->cmdline);
	jw_bytes(j, "cwd", &d->cwd);
	jw_bytes(j, "cgroup", &d->cgroup);
	if (detail_knows(d, DETAIL_ENVIRON))
		write_names(j, "env_credentials", "env_credentials_b64", d, d->n_secret_names,
			    credential_name);
	else
		jw_null(j, "env_credentials");
	write_run(j, p, run);
	if (p->reach_known && !p->reach_error)
		jw_uint(j, "connections", p->connections);
	else
		jw_null(j, "connections");
	jw_bytes(j, "remote", &p->remote);
}

/* Arguments joined by spaces, for reading; those that end a list and are empty
 * are left off (a program that overwrites its title pads with NULs). */
static bool join_args(const struct bytes *args, struct bytes *out)
{
	size_t len = args->len;

	if (!args->data)
		return true;
	while (len && !args->data[len - 1])
		len--;
	if (!bytes_set(out, args->data, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!out->data[i])
			out->data[i] = ' ';
	return true;
}

int process_json(struct jw *j, const char *key, const struct process *p,
		 const struct process_json_options *options, struct err *err)
{
	static const struct process_json_options none;
	const struct process_json_options *o = options ? options : &none;
	const struct detail *d = p->detail ? p->detail : &not_read;
	struct bytes cmdline = {0};

	if (!join_args(&d->cmdline, &cmdline))
		return err_nomem(err);
	jw_object(j, key);
	write_stat(j, p);
	write_started_at(j, p, o->host);
	write_owner(j, d);
	write_program(j, d, &cmdline);
	write_origin(j, p, d);
	write_use(j, p);
	write_environment(j, d);
	write_status(j, d);
	write_asked_for(j, d);
	if (o->run_id && run_is_member(p))
		jw_str(j, "run_id", o->run_id);
	if (o->run)
		write_run(j, p, o->run);
	if (o->suspects) {
		write_bits(j, "suspect", p->suspect, suspect_name);
		write_bits(j, "explained", p->explained, suspect_name);
	}
	write_unreadable(j, d);
	jw_object_end(j);
	bytes_free(&cmdline);
	return 0;
}
