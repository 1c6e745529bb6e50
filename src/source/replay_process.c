#include "source/replay.h"

#include "model/origin.h"

#include <errno.h>
#include <string.h>

#define PID_MAX 4194304 /* PID_MAX_LIMIT, include/linux/threads.h */
#define ERRNO_MAX 133   /* EHWPOISON, the last: include/uapi/asm-generic/errno.h */
#define ERRNO_OTHER 255 /* one that has no name here */

static int get_pid(const json_t *o, const char *key, int64_t min, pid_t *out, bool *known,
		   struct err *err)
{
	int64_t n = *out;
	int r = json_get_int(o, key, min, PID_MAX, &n, known, err);

	*out = (pid_t)n;
	return r;
}

static int missing(const char *key, struct err *err)
{
	return err_set(err, EINVAL, "%s is missing", key);
}

static int read_identity(const json_t *o, struct process *p, struct err *err)
{
	bool known = false;
	int r = get_pid(o, "pid", 1, &p->id.pid, &known, err);

	if (!r && !known)
		r = missing("pid", err);
	if (!r)
		r = json_get_uint(o, "start_ticks", &p->id.start, &known, err);
	if (!r && !known)
		r = missing("start_ticks", err);
	return r;
}

static int read_state(const json_t *o, struct process *p, struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, "state", &text, err);

	if (r < 0)
		return r;
	if (!text)
		return missing("state", err);
	/* proc(5) of all times */
	if (strlen(text) != 1 || !strchr("RSDZTtIXxKWP", *text))
		return err_set(err, EINVAL, "state: not one of the kernel's letters");
	p->state = *text;
	return 0;
}

static int read_tty(const json_t *o, struct process *p, struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, "tty", &text, err);

	if (!r && text && !tty_number(text, &p->tty_nr))
		r = err_set(err, EINVAL, "tty: no terminal's name");
	if (!r)
		r = json_get_bool(o, "tty_closed", &p->tty_closed, NULL, err);
	return r;
}

static int read_stat(const json_t *o, struct process *p, struct err *err)
{
	bool kthread = false;
	int64_t threads = 0;
	int r;

	p->ppid = p->pgid = p->sid = p->tpgid = -1;
	r = get_pid(o, "ppid", 0, &p->ppid, NULL, err);
	if (!r)
		r = get_pid(o, "pgid", 0, &p->pgid, NULL, err);
	if (!r)
		r = get_pid(o, "sid", 0, &p->sid, NULL, err);
	if (!r)
		r = get_pid(o, "tpgid", -1, &p->tpgid, NULL, err);
	if (!r)
		r = read_state(o, p, err);
	if (!r)
		r = read_tty(o, p, err);
	if (!r)
		r = json_get_bool(o, "kthread", &kthread, NULL, err);
	if (!r)
		r = json_get_int(o, "threads", 0, PID_MAX, &threads, NULL, err);
	if (!r)
		r = json_get_uint(o, "cpu_ticks", &p->cpu_ticks, NULL, err);
	if (!r)
		r = json_get_uint(o, "rss_kb", &p->rss_kb, NULL, err);
	p->pf = kthread ? PROCESS_PF_KTHREAD : 0;
	p->threads = (uint32_t)threads;
	return r;
}

static int get_uid(const json_t *o, const char *key, uid_t *uid, struct err *err)
{
	int64_t n;
	bool known = false;
	int r = json_get_int(o, key, 0, UINT32_MAX - 1, &n, &known, err);

	if (!r && known)
		*uid = (uid_t)n;
	return r;
}

static int read_args(const json_t *o, struct detail *d, struct err *err)
{
	struct bytes args = {0};
	bool known = false, cut = false;
	uint64_t total = 0;
	int r = json_get_args(o, &args, &known, err);

	if (!r)
		r = json_get_bool(o, "args_cut", &cut, NULL, err);
	if (!r)
		r = json_get_uint(o, "args_bytes", &total, NULL, err);
	if (!r && cut && (!known || total <= args.len))
		r = err_set(err, EINVAL, "args_bytes: no more than there is in args");
	if (r < 0) {
		bytes_free(&args);
		return r;
	}
	d->cmdline = args;
	d->cmdline_total = cut ? (size_t)total : args.len;
	d->have |= known ? DETAIL_CMDLINE : 0;
	return 0;
}

static int get_text(const json_t *o, const char *key, struct bytes *out, struct detail *d,
		    unsigned bit, struct err *err)
{
	int r = json_get_bytes(o, key, out, err);

	if (!r && out->data)
		d->have |= bit;
	return r;
}

static int read_program(const json_t *o, struct detail *d, struct err *err)
{
	int r = get_text(o, "comm", &d->comm, d, DETAIL_COMM, err);

	if (!r)
		r = get_text(o, "exe", &d->exe, d, DETAIL_EXE, err);
	if (!r)
		r = json_get_bool(o, "exe_deleted", &d->exe_deleted, NULL, err);
	if (!r)
		r = json_get_uint(o, "exe_dev", &d->exe_dev, NULL, err);
	if (!r)
		r = json_get_uint(o, "exe_inode", &d->exe_inode, NULL, err);
	if (!r)
		r = get_text(o, "cwd", &d->cwd, d, DETAIL_CWD, err);
	if (!r)
		r = json_get_bool(o, "cwd_deleted", &d->cwd_deleted, NULL, err);
	if (!r)
		r = get_text(o, "cgroup", &d->cgroup, d, DETAIL_CGROUP, err);
	if (!r)
		r = json_get_bool(o, "cgroup_v2", &d->cgroup_v2, NULL, err);
	return r ? r : read_args(o, d, err);
}

static int read_nspid(const json_t *o, pid_t pid, struct detail *d, struct err *err)
{
	const json_t *list = json_object_get(o, "nspid");

	if (!list || json_is_null(list)) { /* written only where it has more than one */
		if (d->have & DETAIL_STATUS) {
			d->nspid[0] = pid;
			d->n_nspid = 1;
		}
		return 0;
	}
	if (!json_is_array(list) || json_array_size(list) > PROCESS_NSPID_MAX)
		return err_set(err, EINVAL, "nspid: not a list of up to %d numbers",
			       PROCESS_NSPID_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *n = json_array_get(list, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 ||
		    json_integer_value(n) > PID_MAX)
			return err_set(err, EINVAL, "nspid: not a PID");
		d->nspid[i] = (pid_t)json_integer_value(n);
	}
	d->n_nspid = (int)json_array_size(list);
	return 0;
}

static int read_status(const json_t *o, pid_t pid, struct detail *d, struct err *err)
{
	bool known = false;
	int r = get_uid(o, "uid", &d->uid, err);

	if (!r)
		r = get_uid(o, "euid", &d->euid, err);
	if (!r)
		r = json_get_bytes(o, "user", &d->user, err);
	if (!r)
		r = json_get_uint(o, "sig_pending", &d->sig_pending, &known, err);
	if (!r)
		r = json_get_uint(o, "sig_blocked", &d->sig_blocked, NULL, err);
	if (!r)
		r = json_get_uint(o, "sig_ignored", &d->sig_ignored, NULL, err);
	if (!r)
		r = json_get_uint(o, "sig_caught", &d->sig_caught, NULL, err);
	if (!r)
		r = get_pid(o, "tracer", 0, &d->tracer, NULL, err);
	if (known)
		d->have |= DETAIL_STATUS;
	return r ? r : read_nspid(o, pid, d, err);
}

static int read_login(const json_t *o, struct detail *d, struct err *err)
{
	bool audit = false, login = false;
	int r = json_get_int(o, "audit_session", -1, UINT32_MAX, &d->audit_session, &audit, err);

	if (!r)
		r = json_get_int(o, "login_uid", -1, UINT32_MAX, &d->login_uid, &login, err);
	if (audit || login)
		d->have |= DETAIL_LOGIN;
	return r;
}

static int take_mark(void *ctx, const char *data, size_t len)
{
	struct detail *d = ctx;
	struct mark *grown = realloc(d->marks, (d->n_marks + 1) * sizeof(*d->marks));
	struct mark m = {strndup(data, len), strdup("")};

	if (grown)
		d->marks = grown;
	if (!grown || !m.name || !m.value) {
		free(m.name);
		free(m.value);
		return -ENOMEM;
	}
	d->marks[d->n_marks++] = m;
	return 0;
}

static int take_credential(void *ctx, const char *data, size_t len)
{
	struct detail *d = ctx;
	char **grown = realloc(d->secret_names, (d->n_secret_names + 1) * sizeof(*grown));
	char *name = strndup(data, len);

	if (grown)
		d->secret_names = grown;
	if (!grown || !name) {
		free(name);
		return -ENOMEM;
	}
	d->secret_names[d->n_secret_names++] = name;
	return 0;
}

static int read_environment(const json_t *o, struct detail *d, struct err *err)
{
	bool marks = false, credentials = false;
	int r = json_get_texts(o, "env_marks", "env_marks_b64", take_mark, d, &marks, err);

	if (!r)
		r = json_get_texts(o, "env_credentials", "env_credentials_b64", take_credential, d,
				   &credentials, err);
	if (marks)
		d->have |= DETAIL_ENVIRON;
	return r;
}

/* A member that is an object; *out NULL where it is missing or null. */
static int get_object(const json_t *o, const char *key, const json_t **out, struct err *err)
{
	const json_t *value = json_object_get(o, key);

	*out = NULL;
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_object(value))
		return err_set(err, EINVAL, "%s: not an object", key);
	*out = value;
	return 0;
}

static int read_stdio(const json_t *o, struct detail *d, struct err *err)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};
	const json_t *stdio = NULL;
	int r = get_object(o, "stdio", &stdio, err);

	for (int i = 0; stdio && i < 3 && !r; i++)
		r = json_get_bytes(stdio, names[i], &d->stdio[i], err);
	if (stdio)
		d->have |= DETAIL_STDIO;
	return r;
}

static int read_asked_for(const json_t *o, struct detail *d, struct err *err)
{
	const json_t *ns = NULL;
	int r = json_get_bytes(o, "wchan", &d->wchan, err);

	if (json_object_get(o, "wchan"))
		d->have |= DETAIL_WCHAN;
	if (!r)
		r = get_object(o, "namespaces", &ns, err);
	if (r < 0)
		return r;
	for (int i = 0; ns && i < NS_COUNT && !r; i++)
		r = json_get_uint(ns, ns_name(i), &d->ns[i], NULL, err);
	if (ns)
		d->have |= DETAIL_NS;
	return r ? r : read_stdio(o, d, err);
}

static unsigned char errno_number(const char *name)
{
	for (int code = 1; code <= ERRNO_MAX; code++)
		if (strcmp(name, err_name(code)) == 0)
			return (unsigned char)code;
	return ERRNO_OTHER;
}

static int read_unread_one(const json_t *o, struct detail *d, struct err *err)
{
	const char *member = NULL, *code = NULL;
	int r;

	if (!json_is_object(o))
		return err_set(err, EINVAL, "unreadable: not a list of objects");
	r = json_get_str(o, "member", &member, err);
	if (!r)
		r = json_get_str(o, "errno", &code, err);
	if (r < 0)
		return r;
	if (!member || !code)
		return err_set(err, EINVAL, "unreadable: member or errno is missing");
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (strcmp(member, detail_name(1u << i)) == 0)
			d->unread[i] = errno_number(code);
	return 0;
}

static int read_unreadable(const json_t *o, struct detail *d, bool *any, struct err *err)
{
	const json_t *list = json_object_get(o, "unreadable");
	int r = 0;

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return err_set(err, EINVAL, "unreadable: not a list");
	*any = json_array_size(list) > 0;
	for (size_t i = 0; i < json_array_size(list) && !r; i++)
		r = read_unread_one(json_array_get(list, i), d, err);
	return r;
}

static int read_origin(const json_t *o, struct process *p, struct err *err)
{
	const json_t *origin = NULL;
	const char *kind = NULL;
	int r = get_object(o, "origin", &origin, err);

	if (r < 0 || !origin)
		return r;
	r = json_get_str(origin, "kind", &kind, err);
	/* a kind that is not known here is no origin that we could speak of */
	for (int k = 0; !r && kind && k <= ORIGIN_CRON; k++)
		if (strcmp(kind, origin_kind_name((enum origin_kind)k)) == 0)
			p->origin = (uint8_t)k;
	if (!r && p->origin != ORIGIN_UNKNOWN)
		r = json_get_bytes(origin, "name", &p->origin_name, err);
	return r;
}

static int read_detail(const json_t *o, struct process *p, struct err *err)
{
	struct detail *d = p->detail = detail_new();
	bool unreadable = false;
	int r;

	if (!d)
		return err_nomem(err);
	r = read_program(o, d, err);
	if (!r)
		r = read_status(o, p->id.pid, d, err);
	if (!r)
		r = read_login(o, d, err);
	if (!r)
		r = read_environment(o, d, err);
	if (!r)
		r = read_asked_for(o, d, err);
	if (!r)
		r = read_unreadable(o, d, &unreadable, err);
	p->owner = d->euid;
	if (!r && !d->have && !unreadable) { /* it never had any */
		detail_unref(d);
		p->detail = NULL;
	}
	if (!r && p->detail)
		p->detail = detail_pack(d);
	return r;
}

int replay_process(const json_t *o, struct process *p, struct err *err)
{
	int r;

	memset(p, 0, sizeof(*p));
	if (!json_is_object(o))
		return err_set(err, EINVAL, "not an object");
	r = read_identity(o, p, err);
	if (!r)
		r = read_stat(o, p, err);
	if (!r)
		r = read_origin(o, p, err);
	return r ? r : read_detail(o, p, err);
}
