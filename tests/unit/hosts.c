#include "tests/unit/hosts.h"

#include "model/origin.h"
#include "model/suspect.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define WORDS_MAX 40
#define NS_PER_S 1000000000ull
#define BOOTED_NS (1784892267 * NS_PER_S) /* since 1970 */

struct words {
	char *v[WORDS_MAX];
	size_t n;
	char *line; /* owned: what v points into */
};

/* Parts a line at its blanks; quotes hold together and go. */
static void split(struct words *w, const char *line, size_t len)
{
	char *from, *to;
	bool quoted = false, inside = false;

	w->n = 0;
	w->line = strndup(line, len);
	assert_non_null(w->line);
	for (from = to = w->line; *from; from++) {
		if (*from == '#' && !quoted && !inside)
			break;
		if (*from == '"') {
			quoted = !quoted;
		} else if (isspace((unsigned char)*from) && !quoted) {
			if (inside)
				*to++ = '\0';
			inside = false;
			continue;
		} else {
			if (!inside) {
				assert_true(w->n < WORDS_MAX);
				w->v[w->n++] = to;
			}
			*to++ = *from;
			inside = true;
			continue;
		}
		if (!inside) { /* a quote begins a word, be it empty */
			assert_true(w->n < WORDS_MAX);
			w->v[w->n++] = to;
			inside = true;
		}
	}
	*to = '\0';
}

static int64_t number(const char *text)
{
	char *end;
	long long v = strtoll(text, &end, 10);

	if (end == text || *end)
		fail_msg("hosts: \"%s\" is no number", text);
	return v;
}

/* The value where word is "key=value", else NULL. */
static const char *value_of(const char *word, const char *key)
{
	size_t n = strlen(key);

	return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static void set_bytes(struct bytes *b, const char *text)
{
	assert_true(bytes_set(b, text, strlen(text)));
}

static void set_args(struct detail *d, const char *text)
{
	size_t len = strlen(text);

	assert_true(bytes_set(&d->cmdline, text, len + 1));
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ')
			d->cmdline.data[i] = '\0';
	d->cmdline_total = d->cmdline.len;
}

static void add_mark(struct detail *d, const char *text)
{
	const char *colon = strchr(text, ':');
	struct mark *m;

	d->marks = realloc(d->marks, (d->n_marks + 1) * sizeof(*d->marks));
	assert_non_null(d->marks);
	m = &d->marks[d->n_marks++];
	m->name = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	m->value = strdup(colon ? colon + 1 : "1");
	assert_true(m->name && m->value);
}

static void add_secret(struct detail *d, const char *name)
{
	d->secret_names =
		realloc(d->secret_names, (d->n_secret_names + 1) * sizeof(*d->secret_names));
	assert_non_null(d->secret_names);
	d->secret_names[d->n_secret_names] = strdup(name);
	assert_non_null(d->secret_names[d->n_secret_names++]);
}

static uint64_t signals(const char *text)
{
	char copy[128], *rest = copy;
	uint64_t mask = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *name; (name = strsep(&rest, ","));) {
		int sig = 1;

		while (sig < NSIG && (!sigabbrev_np(sig) || strcmp(sigabbrev_np(sig), name) != 0))
			sig++;
		if (sig == NSIG)
			fail_msg("hosts: \"%s\" is no signal", name);
		mask |= 1ull << (sig - 1);
	}
	return mask;
}

static void set_nspid(struct detail *d, const char *text)
{
	char copy[128], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	d->n_nspid = 0;
	for (char *pid; (pid = strsep(&rest, "/"));) {
		assert_true(d->n_nspid < PROCESS_NSPID_MAX);
		d->nspid[d->n_nspid++] = (pid_t)number(pid);
	}
}

static void set_unread(struct detail *d, const char *name)
{
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (strcmp(detail_name(1u << i), name) == 0) {
			d->unread[i] = EACCES;
			d->have &= ~(1u << i);
			if (1u << i == DETAIL_EXE)
				bytes_free(&d->exe);
			else if (1u << i == DETAIL_CWD)
				bytes_free(&d->cwd);
			else if (1u << i == DETAIL_CGROUP)
				bytes_free(&d->cgroup);
			return;
		}
	fail_msg("hosts: \"%s\" is no detail", name);
}

static bool set_detail(struct detail *d, const char *word)
{
	const char *v;

	if ((v = value_of(word, "cgroup")))
		set_bytes(&d->cgroup, v);
	else if ((v = value_of(word, "exe")))
		set_bytes(&d->exe, v);
	else if ((v = value_of(word, "cwd")))
		set_bytes(&d->cwd, v);
	else if ((v = value_of(word, "fd0")) || (v = value_of(word, "fd1")) ||
		 (v = value_of(word, "fd2")))
		set_bytes(&d->stdio[word[2] - '0'], v);
	else if ((v = value_of(word, "args")))
		set_args(d, v);
	else if ((v = value_of(word, "mark")))
		add_mark(d, v);
	else if ((v = value_of(word, "secret")))
		add_secret(d, v);
	else if ((v = value_of(word, "uid")))
		d->uid = d->euid = (uid_t)number(v);
	else if ((v = value_of(word, "euid")))
		d->euid = (uid_t)number(v);
	else if ((v = value_of(word, "sigign")))
		d->sig_ignored = signals(v);
	else if ((v = value_of(word, "sigblk")))
		d->sig_blocked = signals(v);
	else if ((v = value_of(word, "sigcgt")))
		d->sig_caught = signals(v);
	else if ((v = value_of(word, "nspid")))
		set_nspid(d, v);
	else if ((v = value_of(word, "audit")))
		d->audit_session = number(v);
	else if ((v = value_of(word, "loginuid")))
		d->login_uid = number(v);
	else if ((v = value_of(word, "tracer")))
		d->tracer = (pid_t)number(v);
	else if ((v = value_of(word, "unread")))
		set_unread(d, v);
	else if (strcmp(word, "cwd_deleted") == 0)
		d->cwd_deleted = true;
	else
		return false;
	return true;
}

static uint8_t descriptors(const char *text)
{
	uint8_t bits = 0;

	for (; *text; text++)
		if (*text != ',') {
			assert_in_range(*text, '0', '2');
			bits |= (uint8_t)(1u << (*text - '0'));
		}
	return bits;
}

static bool set_stat(struct process *p, const char *word)
{
	const char *v;

	if ((v = value_of(word, "tty")))
		assert_true(tty_number(v, &p->tty_nr));
	else if ((v = value_of(word, "cpu")))
		p->cpu_ticks = (uint64_t)number(v);
	else if ((v = value_of(word, "threads")))
		p->threads = (uint32_t)number(v);
	else if ((v = value_of(word, "stack")))
		p->start_stack = (uint64_t)number(v);
	else if ((v = value_of(word, "remote")))
		p->connections = 1, set_bytes(&p->remote, v);
	else if ((v = value_of(word, "holds")))
		p->ends |= descriptors(v);
	else if ((v = value_of(word, "other")))
		p->ends |= (uint8_t)(descriptors(v) << RUN_ENDS);
	else if ((v = value_of(word, "spoke")))
		assert_int_equal(sscanf(v, "%" SCNu64 "-%" SCNu64, &p->spoke_from, &p->spoke_until),
				 2);
	else if (strcmp(word, "fds_unread") == 0)
		p->ends_error = EACCES;
	else if (strcmp(word, "tty_closed") == 0)
		p->tty_closed = true;
	else if (strcmp(word, "kthread") == 0)
		p->pf |= PROCESS_PF_KTHREAD;
	else
		return false;
	return true;
}

static void set_word(struct process *p, const char *word)
{
	if (strcmp(word, "noread") == 0) {
		detail_unref(p->detail);
		p->detail = NULL;
	} else if (!set_stat(p, word) && !(p->detail && set_detail(p->detail, word))) {
		fail_msg("hosts: process %d: \"%s\"", p->id.pid, word);
	}
}

static void default_detail(struct process *p, const char *comm)
{
	struct detail *d = p->detail = detail_new();
	char exe[128];

	assert_non_null(d);
	snprintf(exe, sizeof(exe), "/usr/bin/%s", comm);
	d->have = DETAIL_BASIC;
	set_bytes(&d->comm, comm);
	set_args(d, comm);
	set_bytes(&d->cgroup, "/");
	set_bytes(&d->exe, exe);
	set_bytes(&d->cwd, "/");
	d->uid = d->euid = 0;
	d->tracer = 0;
	d->nspid[0] = p->id.pid;
	d->n_nspid = 1;
	d->audit_session = d->login_uid = -1;
}

static void add_process(struct table *t, const struct words *in, const struct words *w)
{
	struct process p = {.tpgid = -1, .threads = 1, .ends_known = true};

	if (w->n < 7 || strlen(w->v[4]) != 1)
		fail_msg("hosts: a process is: pid ppid pgid sid state start comm [key=value...]");
	p.id.pid = (pid_t)number(w->v[0]);
	p.ppid = (pid_t)number(w->v[1]);
	p.pgid = (pid_t)number(w->v[2]);
	p.sid = (pid_t)number(w->v[3]);
	p.state = w->v[4][0];
	p.id.start = (uint64_t)number(w->v[5]);
	default_detail(&p, w->v[6]);
	for (size_t i = 1; i < in->n; i++)
		set_word(&p, in->v[i]);
	for (size_t i = 7; i < w->n; i++)
		set_word(&p, w->v[i]);
	p.owner = p.detail ? p.detail->euid : 0;
	assert_true(table_add(t, &p));
}

static void set_text(char *out, size_t size, const char *text)
{
	assert_true((size_t)snprintf(out, size, "%s", text) < size);
}

static void add_login(struct table *t, const struct words *w)
{
	struct login l = {.uid = 1000, .audit = -1, .state = "active", .service = "sshd"};

	assert_true(w->n >= 2);
	set_text(l.id, sizeof(l.id), w->v[1]);
	snprintf(l.scope, sizeof(l.scope), "session-%.32s.scope", l.id);
	for (size_t i = 2; i < w->n; i++) {
		const char *word = w->v[i], *v;

		if ((v = value_of(word, "leader")))
			l.leader = (pid_t)number(v);
		else if ((v = value_of(word, "uid")))
			l.uid = (uid_t)number(v);
		else if ((v = value_of(word, "audit")))
			l.audit = number(v);
		else if ((v = value_of(word, "scope")))
			set_text(l.scope, sizeof(l.scope), v);
		else if ((v = value_of(word, "state")))
			set_text(l.state, sizeof(l.state), v);
		else if ((v = value_of(word, "service")))
			set_text(l.service, sizeof(l.service), v);
		else if ((v = value_of(word, "tty")))
			set_text(l.tty, sizeof(l.tty), v);
		else
			fail_msg("hosts: login %s: \"%s\"", l.id, word);
	}
	assert_true(VEC_PUSH(&t->host.logins, l));
}

static void set_host(struct table *t, const struct words *w)
{
	for (size_t i = 1; i < w->n; i++) {
		const char *word = w->v[i], *v;

		if ((v = value_of(word, "self")))
			t->host.self.pid = (pid_t)number(v);
		else if ((v = value_of(word, "pipes-of")))
			t->ends_of.pid = (pid_t)number(v);
		else if ((v = value_of(word, "uid")))
			t->host.uid = (uid_t)number(v);
		else if ((v = value_of(word, "at")))
			t->host.boot_ns = (uint64_t)number(v) * NS_PER_S;
		else if ((v = value_of(word, "ticks")))
			t->host.ticks_per_second = number(v);
		else if (strcmp(word, "hidepid") == 0)
			t->coverage.hidepid = true;
		else if (strcmp(word, "partial") == 0)
			t->coverage.partial = true;
		else if (strcmp(word, "inner-pid-ns") == 0)
			t->host.pid_ns_initial = false;
		else if (strcmp(word, "no-logins") == 0)
			t->host.logins_known = false;
		else
			fail_msg("hosts: host: \"%s\"", word);
	}
}

static struct table *new_table(void)
{
	struct table *t = table_new();

	assert_non_null(t);
	strcpy(t->host.hostname, "web-01");
	strcpy(t->host.boot_id, "5c0a3c8e-14c8-4a0c-9d0e-0d9f3f6c2b11");
	t->host.boot_ns = 10000 * NS_PER_S;
	t->host.ticks_per_second = 100;
	t->host.logins_known = true;
	t->host.pid_ns_initial = true;
	t->coverage.sources = 1u << SOURCE_PROC;
	return t;
}

struct table *hosts_table(const char *text)
{
	struct table *t = new_table();
	struct words in = {0}, w;
	struct process *self, *root;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		split(&w, line, len);
		line += len + (line[len] == '\n');
		if (w.n && strcmp(w.v[0], "host") == 0) {
			set_host(t, &w);
		} else if (w.n && strcmp(w.v[0], "login") == 0) {
			add_login(t, &w);
		} else if (w.n && strcmp(w.v[0], "in") == 0) {
			free(in.line);
			in = w;
			continue; /* its line is freed later */
		} else if (w.n) {
			add_process(t, &in, &w);
		}
		free(w.line);
	}
	free(in.line);
	t->host.wall_ns = BOOTED_NS + t->host.boot_ns;
	table_sort(t);
	self = table_pid(t, t->host.self.pid);
	if (self)
		t->host.self = self->id;
	root = table_pid(t, t->ends_of.pid);
	if (root)
		t->ends_of = root->id;
	return t;
}

void hosts_look(struct tracker *k, const char *text)
{
	struct err err = {0};

	assert_int_equal(tracker_fold(k, hosts_table(text), &err), 0);
}

void hosts_track(struct tracker *k, const char *text)
{
	tracker_init(k);
	hosts_look(k, text);
}

struct process *hosts_process(const struct table *t, pid_t pid)
{
	struct process *p = table_pid(t, pid);

	if (!p)
		fail_msg("hosts: there is no process %d", pid);
	return p;
}

static void add(char *out, const char *format, ...)
{
	size_t used = strlen(out);
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(out + used, HOSTS_TEXT - used, format, ap);
	va_end(ap);
	assert_true(n >= 0 && (size_t)n < HOSTS_TEXT - used);
}

static void add_bits(char *out, const struct process *p, unsigned bits,
		     const char *(*name)(unsigned))
{
	if (!bits)
		return;
	add(out, "%s%d", *out ? ", " : "", p->id.pid);
	for (unsigned i = 0; i < 16; i++)
		if (bits & 1u << i)
			add(out, " %s", name(1u << i));
}

void hosts_suspects(const struct table *t, char out[static HOSTS_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < t->procs.n; i++)
		add_bits(out, &t->procs.v[i], t->procs.v[i].suspect, suspect_name);
}

void hosts_explained(const struct table *t, char out[static HOSTS_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < t->procs.n; i++)
		add_bits(out, &t->procs.v[i], t->procs.v[i].explained, suspect_name);
}

void hosts_evidence(const struct table *t, char out[static HOSTS_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < t->procs.n; i++)
		add_bits(out, &t->procs.v[i], t->procs.v[i].evidence, evidence_name);
}

void hosts_reparented(const struct table *t, char out[static HOSTS_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (p->reparented != KNOWN_NOT)
			add(out, "%s%d %s", *out ? ", " : "", p->id.pid, known_name(p->reparented));
		else if (p->reparent_possible)
			add(out, "%s%d possible", *out ? ", " : "", p->id.pid);
	}
}

void hosts_origins(const struct table *t, char out[static HOSTS_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (p->origin == ORIGIN_UNKNOWN)
			continue;
		add(out, "%s%d %s", *out ? ", " : "", p->id.pid,
		    origin_kind_name((enum origin_kind)p->origin));
		if (p->origin_name.len)
			add(out, " %s", p->origin_name.data);
	}
}
