#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/file.h"
#include "engine/recorded.h"
#include "record/ledger.h"
#include "record/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define OPT_HEAD 300

static const struct cmd_option options[] = {
	{OPT_HEAD, "head", "HASH", "a head known from elsewhere, which must be in it"},
	{0, NULL, NULL, NULL},
};

/* The event whose head was given, in the journal that is read. */
struct given {
	uint64_t seq; /* 0: it is not in it */
	char event[32], at[CLOCK_RFC3339_MAX];
};

struct verify {
	struct cmd_common common;
	const char *head;
	struct line line;
	struct jw *j; /* NULL: text */
	bool broken;  /* one of them does not hold */
	bool trouble; /* one could not be read; said already */
	struct given given;
	const char *id;       /* of the run whose journal is read; NULL: of none */
	struct sealed sealed; /* of that run */
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	(void)id;
	if (strlen(arg) != CHAIN_HEX - 1 || strspn(arg, "0123456789abcdef") != CHAIN_HEX - 1)
		return err_set(err, EINVAL, "--head: 64 hex digits, not '%.80s'", arg);
	((struct verify *)ctx)->head = arg;
	return 0;
}

static void print_given_json(const struct verify *v, const struct journal_verdict *w)
{
	const struct given *g = &v->given;

	if (!g->seq) {
		jw_null(v->j, "given_head");
		return;
	}
	jw_object(v->j, "given_head");
	jw_uint(v->j, "seq", g->seq);
	jw_str(v->j, "event", g->event);
	jw_str(v->j, "at", g->at);
	jw_uint(v->j, "follow", w->seq - g->seq);
	jw_object_end(v->j);
}

static void print_json(struct verify *v, const char *name, const struct journal_verdict *w)
{
	jw_object(v->j, NULL);
	jw_str(v->j, "name", name);
	jw_bool(v->j, "holds", w->fault == JOURNAL_HOLDS);
	jw_str(v->j, "fault", w->fault == JOURNAL_HOLDS ? NULL : journal_fault_name(w->fault));
	jw_str(v->j, "why", w->why[0] ? w->why : NULL);
	if (w->line)
		jw_uint(v->j, "line", w->line);
	else
		jw_null(v->j, "line");
	jw_uint(v->j, "seq", w->seq);
	jw_str(v->j, "head", w->head);
	jw_uint(v->j, "torn_bytes", w->torn_bytes);
	jw_uint(v->j, "torn_closed", w->torn_closed);
	if (w->anchored_seq)
		jw_uint(v->j, "anchored_seq", w->anchored_seq);
	else
		jw_null(v->j, "anchored_seq");
	print_given_json(v, w);
	jw_object_end(v->j);
}

static void print_text(struct verify *v, const char *name, const struct journal_verdict *w)
{
	const struct given *g = &v->given;
	struct line *o = &v->line;

	line_put(o, ROLE_HEAD, "%s: ", name);
	if (w->fault != JOURNAL_HOLDS) {
		line_put(o, ROLE_SURVIVOR, "does not hold: %s", w->why);
		line_end(o);
		return;
	}
	line_put(o, ROLE_GOOD, "holds");
	line_put(o, ROLE_NORMAL, ", %llu event%s; ", (unsigned long long)w->seq,
		 w->seq == 1 ? "" : "s");
	if (w->anchored_seq)
		line_put(o, ROLE_NORMAL, "anchored to seq %llu",
			 (unsigned long long)w->anchored_seq);
	else
		line_put(o, ROLE_NORMAL, "not anchored");
	if (w->torn_bytes)
		line_put(o, ROLE_SUSPECT, "; its last %llu bytes are a torn tail",
			 (unsigned long long)w->torn_bytes);
	if (w->torn_closed)
		line_put(o, ROLE_NORMAL, "; %llu torn tail%s, closed",
			 (unsigned long long)w->torn_closed, w->torn_closed == 1 ? "" : "s");
	line_end(o);
	line_put(o, ROLE_DIM, "  head %s", w->head);
	line_end(o);
	if (!g->seq)
		return;
	line_put(o, ROLE_NORMAL, "  --head is that of event %llu, %s, of %s; ",
		 (unsigned long long)g->seq, g->event, g->at);
	if (w->seq > g->seq)
		line_put(o, ROLE_NORMAL, "%llu follow%s", (unsigned long long)(w->seq - g->seq),
			 w->seq - g->seq == 1 ? "s" : "");
	else
		line_put(o, ROLE_NORMAL, "none follows");
	line_end(o);
}

static void report(struct verify *v, const char *name, const struct journal_verdict *w)
{
	v->broken = v->broken || w->fault != JOURNAL_HOLDS;
	if (v->j)
		print_json(v, name, w);
	else
		print_text(v, name, w);
	v->given = (struct given){0};
}

static void copy_text(char *out, size_t size, const json_t *event, const char *key)
{
	const char *text = NULL;

	json_get_str(event, key, &text, NULL);
	snprintf(out, size, "%.*s", (int)size - 1, text ? text : "");
}

static int take(void *ctx, const json_t *event, struct err *err)
{
	struct verify *v = ctx;
	const char *hash = NULL;

	json_get_str(event, "hash", &hash, NULL);
	if (v->head && hash && strcmp(hash, v->head) == 0) {
		json_get_uint(event, "seq", &v->given.seq, NULL, NULL);
		copy_text(v->given.event, sizeof(v->given.event), event, "event");
		copy_text(v->given.at, sizeof(v->given.at), event, "at");
	}
	return v->id ? sealed_event(&v->sealed, v->id, event, err) : 0;
}

static int add_given_head(const struct verify *v, struct ledger_heads *heads, struct err *err)
{
	struct journal_head h = {.from = "--head"};

	if (!v->head)
		return 0;
	memcpy(h.hash, v->head, CHAIN_HEX);
	return VEC_PUSH(heads, h) ? 0 : err_nomem(err);
}

/*
 * A run's directory that is not there, or has something else in the place of what
 * belongs there, is a finding; what cannot be read is trouble.
 */
static bool is_finding(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EINVAL;
}

static void report_finding(struct verify *v, const char *name, enum journal_fault fault,
			   const char *why)
{
	struct journal_verdict w = {.fault = fault, .head = CHAIN_START};

	snprintf(w.why, sizeof(w.why), "%.*s", (int)sizeof(w.why) - 1, why);
	report(v, name, &w);
}

/* What the ledger knows of one run. */
struct ledger_says {
	struct ledger_heads heads;
	struct journal_verdict ledger;
	int missing; /* -errno: there is no ledger, or something in its place */
};

static int ask_ledger(const struct statedir *s, const char *id, struct ledger_says *k,
		      struct err *err)
{
	struct err why = {0};

	k->missing = ledger_heads(s, id, &k->heads, &k->ledger, &why);
	if (!k->missing || is_finding(k->missing))
		return 0;
	return err_set(err, why.code, "%s", why.text);
}

/*
 * A run is in the ledger before its second event is written: only who died while
 * making it left it out.
 */
static void check_known(const struct ledger_says *k, struct journal_verdict *w)
{
	if (w->fault != JOURNAL_HOLDS || k->heads.n || w->seq < 2 || k->missing ||
	    k->ledger.fault != JOURNAL_HOLDS)
		return;
	w->fault = JOURNAL_MISSING;
	snprintf(w->why, sizeof(w->why),
		 "the ledger does not know it: it was cut off or begun anew since");
}

static void report_ledger(struct verify *v, const struct ledger_says *k)
{
	if (k->missing)
		report_finding(v, LEDGER_NAME, JOURNAL_CUT,
			       k->missing == -ENOENT
				       ? "there are runs, but no ledger: it was removed"
				       : "not a regular file");
	else if (k->ledger.fault != JOURNAL_HOLDS)
		report(v, LEDGER_NAME, &k->ledger);
}

static int verify_run(struct verify *v, const struct statedir *s, const char *id,
		      struct ledger_says *k, struct err *err)
{
	struct journal_verdict verdict;
	struct rundir d = {.fd = -1, .watch = -1};
	size_t known;
	struct journal_reading what = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .fn = take, .ctx = v};
	AUTO_FD fd = -1;
	int r = rundir_open(s, id, false, &d, err);

	if (!r)
		r = journal_open_read(d.fd, RUNDIR_JOURNAL, &fd, err);
	if (!r)
		r = ask_ledger(s, id, k, err);
	known = k->heads.n;
	if (!r)
		r = add_given_head(v, &k->heads, err);
	what.heads = k->heads.v;
	what.n_heads = k->heads.n;
	v->id = id;
	if (!r)
		r = journal_read(fd, &what, &verdict, err);
	if (!r) {
		k->heads.n = known;
		sealed_check(&v->sealed, &d, &verdict);
		check_known(k, &verdict);
		report(v, id, &verdict);
	}
	sealed_clear(&v->sealed);
	rundir_close(&d);
	return r;
}

/* The same, whatever is found: what is wrong with one run hides no other. */
static int verify_any_run(struct verify *v, const struct statedir *s, const char *id, bool alone,
			  struct err *err)
{
	struct ledger_says k = {0};
	struct err why = {0};
	int r = verify_run(v, s, id, &k, &why);

	if (is_finding(r)) {
		report_finding(v, id, JOURNAL_MISSING, why.text);
	} else if (r == -ENOMEM) {
		free(k.heads.v);
		return err_nomem(err);
	} else if (r < 0) {
		v->trouble = true;
		cmd_trouble(&why);
	}
	if (alone && !r)
		report_ledger(v, &k);
	free(k.heads.v);
	return 0;
}

static int verify_file(struct verify *v, int dirfd, const char *name, const char *schema,
		       struct err *err)
{
	struct ledger_heads heads = {0};
	struct journal_verdict verdict;
	AUTO_FD fd = -1;
	int r = journal_open_read(dirfd, name, &fd, err);

	if (!r)
		r = add_given_head(v, &heads, err);
	if (!r) {
		struct journal_reading what = {.name = name,
					       .schema = schema,
					       .fn = take,
					       .ctx = v,
					       .heads = heads.v,
					       .n_heads = heads.n};

		r = journal_read(fd, &what, &verdict, err);
	}
	if (!r)
		report(v, name, &verdict);
	free(heads.v);
	return r;
}

/* Runs that the ledger saw opened and not pruned, and that are not there. */
struct missing {
	struct verify *v;
	const struct rundir_list *there;
	struct rundir_list gone;
};

static bool listed(const struct rundir_list *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], id) == 0)
			return true;
	return false;
}

static int take_ledger(void *ctx, const json_t *event, struct err *err)
{
	struct missing *m = ctx;
	const char *run = NULL, *name = NULL;

	json_get_str(event, "run", &run, NULL);
	json_get_str(event, "event", &name, NULL);
	if (!run || !name || listed(m->there, run))
		return 0;
	if (strcmp(name, "run_opened") == 0 && !listed(&m->gone, run)) {
		char *copy = strdup(run);

		if (!copy || !VEC_PUSH(&m->gone, copy)) {
			free(copy);
			return err_nomem(err);
		}
	}
	for (size_t i = 0; strcmp(name, "run_pruned") == 0 && i < m->gone.n; i++)
		if (strcmp(m->gone.v[i], run) == 0) {
			free(m->gone.v[i]);
			m->gone.v[i] = m->gone.v[--m->gone.n];
		}
	return 0;
}

static int verify_ledger(struct verify *v, const struct statedir *s, const struct rundir_list *ids,
			 struct err *err)
{
	struct missing m = {.v = v, .there = ids};
	struct journal_reading what = {
		.name = LEDGER_NAME, .schema = LEDGER_SCHEMA, .fn = take_ledger, .ctx = &m};
	struct journal_verdict verdict;
	AUTO_FD fd = -1;
	int r = journal_open_read(statedir_fd(s), LEDGER_NAME, &fd, err);

	if (is_finding(r)) {
		struct ledger_says none = {.missing = r};

		err_clear(err);
		if (ids->n || r != -ENOENT)
			report_ledger(v, &none);
		return 0;
	}
	if (!r)
		r = journal_read(fd, &what, &verdict, err);
	if (!r)
		report(v, LEDGER_NAME, &verdict);
	for (size_t i = 0; !r && i < m.gone.n; i++) {
		report_finding(v, m.gone.v[i], JOURNAL_MISSING,
			       "the ledger knows it, and its directory is gone");
	}
	rundir_list_clear(&m.gone);
	return r;
}

static int verify_all(struct verify *v, const struct statedir *s, struct err *err)
{
	struct rundir_list ids;
	int r = rundir_list(s, &ids, err);

	for (size_t i = 0; !r && i < ids.n; i++)
		r = verify_any_run(v, s, ids.v[i], false, err);
	if (!r)
		r = verify_ledger(v, s, &ids, err);
	rundir_list_clear(&ids);
	return r;
}

/* By its name, as stray gives them. */
static const char *schema_of(const char *path)
{
	size_t n = strlen(path), len = sizeof(LEDGER_NAME) - 1;
	bool ledger = n >= len && strcmp(path + n - len, LEDGER_NAME) == 0;

	return ledger ? LEDGER_SCHEMA : JOURNAL_SCHEMA;
}

static int verify(struct verify *v, const char *what, struct err *err)
{
	struct statedir *s = NULL;
	struct err why = {0};
	char id[RUN_ID_MAX + 1];
	int r;

	if (what && strchr(what, '/'))
		return verify_file(v, AT_FDCWD, what, schema_of(what), err);
	if (!what && v->head)
		return err_set(err, EINVAL, "--head is of one journal: name it");
	r = recorded_state_dir(v->common.state_dir, STATEDIR_READ, &s, &why);
	if (what && (r || rundir_find(s, cmd_run_name(what), id, NULL) == -ENOENT) &&
	    access(what, F_OK) == 0) {
		statedir_close(s);
		return verify_file(v, AT_FDCWD, what, schema_of(what), err);
	}
	if (r == -ENOENT && what)
		return recorded_none(what, err);
	if (r)
		return err_set(err, why.code, "%s", why.text);
	if (what)
		r = rundir_find(s, cmd_run_name(what), id, err);
	if (!r)
		r = what ? verify_any_run(v, s, id, true, err) : verify_all(v, s, err);
	statedir_close(s);
	return r;
}

static int verify_json(struct verify *v, const char *what, struct err *err)
{
	int r;

	v->j = jw_open(stdout, false);
	if (!v->j)
		return err_nomem(err);
	jw_object(v->j, NULL);
	jw_str(v->j, "schema", "stray.verify/1");
	jw_array(v->j, "journals");
	r = verify(v, what, err);
	if (r < 0) {
		jw_discard(v->j);
		return r;
	}
	jw_array_end(v->j);
	jw_object_end(v->j);
	r = jw_close(v->j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct verify v = {0};
	struct err err = {0};
	const char *what;
	int rest, r;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &v.common, set_option, &v, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("verify: one run or file at most: see stray verify --help");
	what = argc > rest ? argv[rest] : NULL;
	cmd_line_init(&v.common, &v.line);
	r = v.common.json ? verify_json(&v, what, &err) : verify(&v, what, &err);
	if (cmd_line_finish(&v.line, r ? NULL : &err) < 0 && !r)
		r = -ENOMEM;
	if (r < 0)
		return cmd_trouble(&err);
	if (v.broken)
		return STATUS_DIFFERS;
	return v.trouble ? STATUS_TROUBLE : STATUS_OK;
}

const struct cmd cmd_verify = {
	.name = "verify",
	.args = "[RUN|FILE]",
	.summary = "check the hash chain of a journal, or of all, offline",
	.example = "stray verify run-7f3c0a12",
	.options = options,
	.run = run,
};
