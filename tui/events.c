#include "tui/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/vec.h"
#include "tui/browse.h"
#include "tui/line.h"

#define SECONDS_A_DAY 86400

void events_free(struct events *e)
{
	free(e->v);
	memset(e, 0, sizeof(*e));
}

/* --- members of an event --------------------------------------------------- */

static const char *str(const json_t *e, const char *key)
{
	const json_t *v = json_object_get(e, key);

	return json_is_string(v) ? json_string_value(v) : NULL;
}

static bool number(const json_t *e, const char *key, int64_t *out)
{
	bool known = false;

	return json_get_int(e, key, INT64_MIN, INT64_MAX, out, &known, NULL) == 0 && known;
}

static struct identity identity(const json_t *o)
{
	struct identity id = {0};
	int64_t pid = 0;

	if (number(o, "pid", &pid) && pid > 0 && pid <= INT32_MAX &&
	    json_get_uint(o, "start_ticks", &id.start, NULL, NULL) == 0)
		id.pid = (pid_t)pid;
	return id;
}

static void add_str(struct line *l, const json_t *e, const char *key, const char *before)
{
	const char *s = str(e, key);

	if (!s)
		return;
	line_add(l, "%s", before);
	line_text(l, s, EVENTS_WORDS);
}

static void add_number(struct line *l, const json_t *e, const char *key, const char *before)
{
	int64_t n;

	if (number(e, key, &n))
		line_add(l, "%s%" PRId64, before, n);
}

/* The command line, else the name. */
static void add_command(struct line *l, const json_t *e)
{
	const json_t *args = json_object_get(e, "args"), *v;
	size_t i, n = json_array_size(args);

	if (!n) {
		add_str(l, e, "comm", "");
		return;
	}
	json_array_foreach(args, i, v)
	{
		line_add(l, "%s", i ? " " : "");
		line_text(l, json_is_string(v) ? json_string_value(v) : "?", EVENTS_WORDS);
	}
}

static size_t count(const json_t *e, const char *key)
{
	return json_array_size(json_object_get(e, key));
}

/* --- in words -------------------------------------------------------------- */

static void say_came(struct line *l, const json_t *e)
{
	struct identity child = identity(json_object_get(e, "child"));

	if (child.pid)
		line_add(l, "made %d: ", child.pid);
	add_command(l, e);
	if (!child.pid)
		add_number(l, e, "ppid", ", parent ");
}

static void say_exit(struct line *l, const json_t *e)
{
	add_str(l, e, "signal", "of ");
	add_number(l, e, "status", "status ");
	if (!l->len)
		line_add(l, "how is not known");
}

static void say_move(struct line *l, const json_t *e)
{
	struct identity from = identity(json_object_get(e, "from"));
	struct identity to = identity(json_object_get(e, "to"));

	line_add(l, "from ");
	if (from.pid)
		line_add(l, "%d", from.pid);
	add_number(l, e, "from", "");
	add_str(l, e, "from", "");
	line_add(l, " to ");
	if (to.pid)
		line_add(l, "%d", to.pid);
	add_number(l, e, "to", "");
	add_str(l, e, "to", "");
}

static void say_signal(struct line *l, const json_t *e)
{
	add_str(l, e, "signal", "");
	add_str(l, e, "unit", " to ");
	add_number(l, e, "number", " ");
	line_add(l, ": %zu", count(e, "to"));
	if (count(e, "not_aimed"))
		line_add(l, ", %zu not aimed at", count(e, "not_aimed"));
}

static void say_sent(struct line *l, const json_t *e)
{
	const json_t *v, *to = json_object_get(e, "to");
	size_t i;

	add_str(l, e, "signal", "");
	json_array_foreach(to, i, v)
	{
		line_add(l, i ? ", " : ": ");
		add_number(l, v, "pid", "");
		add_str(l, v, "result", " ");
		add_str(l, v, "errno", " ");
	}
}

static void say_opened(struct line *l, const json_t *e)
{
	add_str(l, e, "how", "");
	add_number(l, json_object_get(e, "operator"), "uid", " by uid ");
}

static void say_adopted(struct line *l, const json_t *e)
{
	add_str(l, e, "target", "");
	add_number(l, e, "members", ", members: ");
	add_str(l, e, "expired_at", ", expired at ");
}

static void say_watch(struct line *l, const json_t *e)
{
	struct identity who = identity(json_object_get(e, "watcher"));

	if (who.pid)
		line_add(l, "by %d", who.pid);
	add_str(l, e, "reason", ": ");
	add_str(l, e, "last_event_at", ", last event at ");
}

static void say_closed(struct line *l, const json_t *e)
{
	add_str(l, e, "state", "");
	add_number(l, e, "alive", ", alive: ");
}

static void say_text(struct line *l, const json_t *e)
{
	static const char *const keys[] = {"text", "why",    "what",  "act",
					   "file", "action", "state", "deadline_at"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		add_str(l, e, keys[i], l->len ? " " : "");
	add_number(l, e, "grace_ns", l->len ? ", grace ns " : "grace ns ");
}

static void say_anchored(struct line *l, const json_t *e)
{
	add_str(l, e, "to", "to ");
	add_number(l, e, "anchored_seq", ", up to seq ");
}

static void say_lost(struct line *l, const json_t *e)
{
	add_number(l, e, "count", "");
	add_number(l, e, "bytes", "bytes ");
	add_number(l, e, "by_ns", "by ns ");
	add_str(l, e, "source", " of ");
	add_str(l, e, "error", ": ");
}

static const struct {
	const char *name;
	void (*say)(struct line *l, const json_t *e);
	enum style style;
} kinds[] = {
	{"run_opened", say_opened, STYLE_HEADER},   {"adopted", say_adopted, STYLE_HEADER},
	{"started", say_came, STYLE_NORMAL},        {"forked", say_came, STYLE_NORMAL},
	{"execed", say_came, STYLE_NORMAL},         {"exited", say_exit, STYLE_ENDED},
	{"setsid", say_move, STYLE_DETACHED},       {"setpgid", say_move, STYLE_DETACHED},
	{"reparented", say_move, STYLE_SUSPECT},    {"left_cgroup", say_move, STYLE_DETACHED},
	{"leftover", say_came, STYLE_SURVIVOR},     {"deadline_expired", say_text, STYLE_WARNING},
	{"end_requested", say_text, STYLE_WARNING}, {"signal_intent", say_signal, STYLE_WARNING},
	{"signal_sent", say_sent, STYLE_WARNING},   {"survivor", say_text, STYLE_SURVIVOR},
	{"snapshot", say_text, STYLE_DIM},          {"watch_started", say_watch, STYLE_DIM},
	{"watch_stopped", say_watch, STYLE_DIM},    {"run_closed", say_closed, STYLE_HEADER},
	{"anchored", say_anchored, STYLE_DIM},      {"events_lost", say_lost, STYLE_WARNING},
	{"torn_tail", say_lost, STYLE_WARNING},     {"clock_stepped", say_lost, STYLE_WARNING},
	{"runner_lost", say_watch, STYLE_WARNING},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t kind_of(const char *name)
{
	size_t i = 0;

	while (i < N_KINDS && strcmp(kinds[i].name, name) != 0)
		i++;
	return i;
}

static void safe(char *out, size_t size, const char *s)
{
	text_safe(out, size, s ? s : "?", s ? strlen(s) : 1, false);
}

void events_read(const json_t *event, struct event_line *out)
{
	const char *at = str(event, "at"), *name = str(event, "event");
	struct line l;
	size_t kind = kind_of(name ? name : "");

	memset(out, 0, sizeof(*out));
	json_get_uint(event, "seq", &out->seq, NULL, NULL);
	if (at)
		clock_parse_rfc3339(at, &out->wall_ns);
	safe(out->name, sizeof(out->name), name);
	safe(out->known, sizeof(out->known), str(event, "known"));
	out->process = identity(json_object_get(event, "process"));
	out->other = identity(json_object_get(event, "child"));
	line_start(&l, false);
	if (kind < N_KINDS)
		kinds[kind].say(&l, event);
	else
		say_text(&l, event);
	text_cut(l.text, sizeof(l.text), EVENTS_WORDS / 4 * 3, false);
	text_safe(out->words, sizeof(out->words), l.text, strlen(l.text), false);
}

int events_take(struct events *e, const json_t *event)
{
	struct event_line one;

	events_read(event, &one);
	if (e->n == EVENTS_MAX) { /* a half at a time, so that it is seldom */
		memmove(e->v, e->v + EVENTS_MAX / 2, EVENTS_MAX / 2 * sizeof(*e->v));
		e->n -= EVENTS_MAX / 2;
		e->left_off += EVENTS_MAX / 2;
	}
	return VEC_PUSH(e, one) ? 0 : -ENOMEM;
}

enum style events_style(const struct event_line *e)
{
	size_t kind = kind_of(e->name);

	return kind < N_KINDS ? kinds[kind].style : STYLE_NORMAL;
}

bool events_match(const struct event_line *e, const struct query *q)
{
	uint32_t second = (uint32_t)(e->wall_ns / CLOCK_NS_PER_S % SECONDS_A_DAY);

	switch (q->kind) {
	case QUERY_NUMBER:
		return e->process.pid == q->number || e->other.pid == q->number;
	case QUERY_TIME:
		return q->from <= q->to ? second >= q->from && second < q->to
					: second >= q->from || second < q->to;
	default:
		return browse_text(q, e->name) || browse_text(q, e->words) ||
		       browse_text(q, e->known);
	}
}
