#include "record/export_parts.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

int export_gap(struct export *x, const char *kind, uint64_t from_ns, uint64_t to_ns,
	       const char *fmt, ...)
{
	struct export_gap g = {.kind = kind, .from_ns = from_ns, .to_ns = to_ns};
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&g.text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	for (size_t i = 0; !from_ns && !to_ns && i < x->gaps.n; i++)
		if (strcmp(x->gaps.v[i].text, g.text) == 0) {
			free(g.text); /* each watching has the same to say of its sources */
			return 0;
		}
	if (!VEC_PUSH(&x->gaps, g)) {
		free(g.text);
		return -ENOMEM;
	}
	return 0;
}

static bool has_events(const json_t *sources)
{
	const json_t *v;
	size_t i;

	json_array_foreach(sources, i,
			   v) if (json_is_string(v) &&
				  (strcmp(json_string_value(v), "netlink") == 0 ||
				   strcmp(json_string_value(v), "bpf") == 0)) return true;
	return false;
}

/* What two of them could not read alike is told once. */
static int tell_unread(struct export *x, const char *who, const char *what, long long n)
{
	char text[120], *both;

	snprintf(text, sizeof(text), "%.40s of %lld processes of the host could not be read", what,
		 n);
	for (size_t i = 0; i < x->gaps.n; i++) {
		struct export_gap *g = &x->gaps.v[i];
		const char *at = strcmp(g->kind, "unreadable") == 0 ? strstr(g->text, ": ") : NULL;

		if (!at || strcmp(at + 2, text) != 0)
			continue;
		if (memmem(g->text, (size_t)(at - g->text), who, strlen(who)))
			return 0;
		if (asprintf(&both, "%s and %s", who, g->text) < 0)
			return -ENOMEM;
		free(g->text);
		g->text = both;
		return 0;
	}
	return export_gap(x, "unreadable", 0, 0, "%s: %s", who, text);
}

static int tell_unreadable(struct export *x, const json_t *unreadable, const char *who)
{
	const char *key;
	json_t *v;
	int r = 0;

	json_object_foreach((json_t *)unreadable, key, v)
	{
		if (!r && json_is_integer(v) && json_integer_value(v) > 0)
			r = tell_unread(x, who, key, (long long)json_integer_value(v));
	}
	return r;
}

int export_coverage(struct export *x, const json_t *coverage, const char *who)
{
	uint64_t skipped = event_uint(coverage, "skipped");
	bool hidepid = false;
	int r = 0;

	if (!json_is_object(coverage))
		return export_gap(x, "coverage", 0, 0, "%s: what it could not see was not recorded",
				  who);
	json_get_bool(coverage, "hidepid", &hidepid, NULL, NULL);
	if (!has_events(json_object_get(coverage, "sources")))
		r = export_gap(x, "sources", 0, 0,
			       "%s: no source of events, so what lived only between two looks was "
			       "not seen",
			       who);
	if (!r && hidepid)
		r = export_gap(x, "hidepid", 0, 0, "%s: /proc hid other users' processes (hidepid)",
			       who);
	if (!r && skipped)
		r = export_gap(x, "skipped", 0, 0,
			       "%s: %" PRIu64 " readings that hung were given up", who, skipped);
	return r ? r : tell_unreadable(x, json_object_get(coverage, "unreadable"), who);
}

static int settle_record(struct export *x)
{
	const json_t *coverage = json_object_get(x->record, "coverage");
	const char *cannot = event_str(json_object_get(x->record, "containment"), "cannot_hold");
	uint64_t first = event_time(coverage, "first_scan_at");
	char when[CLOCK_RFC3339_MAX];
	int r;

	if (!x->record)
		return export_gap(x, "record", 0, 0,
				  "what the run was: its record cannot be read (%s)",
				  x->record_why);
	if (!first)
		first = event_time(x->record, "recorded_at");
	clock_rfc3339(first, when);
	r = export_gap(x, "before", 0, first,
		       "what ended before %s, when stray looked first: nothing was recorded then",
		       when);
	if (!r && cannot)
		r = export_gap(x, "containment", 0, 0, "%s%.300s",
			       x->story.record.launched ? "what got out of what held it: " : "",
			       cannot);
	return r ? r : export_coverage(x, coverage, "the first look");
}

/* The end of the journal is no end of what it tells of. */
static int settle_watch(struct export *x)
{
	bool watched_now = rundir_is_watched(&x->dir) == 1;
	uint64_t since = x->watched ? x->last_wall_ns : x->unwatched_ns;
	char when[CLOCK_RFC3339_MAX];

	clock_rfc3339(since, when);
	if (!x->ever_watched && x->opened)
		return export_gap(
			x, "unwatched", since, 0,
			"nobody ever watched this run: of the time after %s only what acts "
			"and looks recorded is known, and silence is not absence",
			when);
	if (watched_now && x->watched)
		return export_gap(x, "unwatched", 0, 0,
				  "a stray was watching while this was written: the record ends at "
				  "event %" PRIu64 " and the run goes on",
				  x->story.verdict.seq);
	if (x->watched)
		return export_gap(x, "unwatched", since, 0,
				  "the stray that watched ended without a word some time after %s, "
				  "and nobody has watched since: silence is not absence",
				  when);
	return export_gap(x, "unwatched", since, 0,
			  "nobody has watched since %s: silence is not absence", when);
}

static int settle_journal(struct export *x)
{
	const struct journal_verdict *v = &x->story.verdict;
	int r = 0;

	if (v->fault != JOURNAL_HOLDS)
		r = export_gap(x, "fault", x->last_wall_ns, 0,
			       "what the journal held behind event %" PRIu64
			       ": it does not hold, %s",
			       v->seq, v->why);
	if (!r && v->torn_bytes)
		r = export_gap(x, "torn_tail", x->last_wall_ns, 0,
			       "the last writer died while it wrote: %" PRIu64
			       " bytes at the end tell nothing",
			       v->torn_bytes);
	if (!r && x->unread)
		r = export_gap(x, "unread", 0, 0,
			       "%" PRIu64 " events have members that this stray cannot read; they "
			       "are in the timeline",
			       x->unread);
	return r;
}

/* What holds of every record. */
static int settle_always(struct export *x)
{
	int r = export_gap(x, "environment", 0, 0,
			   "the environment of a process as it was at exec: a name that is absent "
			   "proves nothing");

	if (!r)
		r = export_gap(x, "connections", 0, 0,
			       "connections between two looks, and what was sent over any of them");
	if (!r)
		r = export_gap(x, "masked", 0, 0,
			       "secrets in command lines that have no known form: those that have "
			       "one are ***");
	return r;
}

int export_settle(struct export *x, struct err *err)
{
	int r;

	for (size_t i = 0; i < x->members.n; i++) {
		struct export_member *m = &x->members.v[i];

		/* what was found gone at the end may have gone at any time before */
		m->outlived = x->over_seq && (!m->exited_seq || m->exited_seq > x->over_seq);
	}
	x->record_sealed = event_str(x->opened, "record_sha256");
	r = settle_journal(x);
	if (!r)
		r = settle_watch(x);
	if (!r)
		r = settle_record(x);
	if (!r)
		r = settle_always(x);
	return r < 0 ? err_nomem(err) : 0;
}

bool export_is_leftover(const struct export *x, size_t member)
{
	const struct export_member *m = &x->members.v[member];

	return m->outlived || m->survivals.n || m->leftover;
}

char *export_commands(const struct export *x)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "stray verify --state-dir=. --head=%s %s\n", x->story.verdict.head, x->dir.id);
	fprintf(out, "sh verify.sh runs/%s/" RUNDIR_JOURNAL "\n", x->dir.id);
	if (x->record_sealed && strlen(x->record_sealed) == CHAIN_HEX - 1 &&
	    strspn(x->record_sealed, "0123456789abcdef") == CHAIN_HEX - 1)
		fprintf(out, "echo '%s  runs/%s/" RUNDIR_RECORD "' | sha256sum -c\n",
			x->record_sealed, x->dir.id);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
