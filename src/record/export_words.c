#include "record/export_parts.h"

#include "record/markdown.h"
#include "record/phrase.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SHORT_MAX 300 /* bytes of a command line in the timeline */

void words_text(struct words *w, const char *text, size_t max)
{
	if (!text)
		fputs("not known", w->out);
	else if (!w->error)
		w->error = markdown_text(w->out, text, strlen(text), max);
}

static void number(struct words *w, const json_t *event, const char *key)
{
	if (json_is_integer(json_object_get(event, key)))
		fprintf(w->out, "%" PRIu64, event_uint(event, key));
	else
		fputs("not known", w->out);
}

void words_identity(struct words *w, const json_t *process)
{
	if (json_is_integer(json_object_get(process, "pid")))
		fprintf(w->out, "%" PRIu64 "@%" PRIu64, event_uint(process, "pid"),
			event_uint(process, "start_ticks"));
	else
		fputs("not known", w->out);
}

static void identity(struct words *w, const json_t *event, const char *key)
{
	words_identity(w, json_object_get(event, key));
}

void words_list(struct words *w, const json_t *texts)
{
	const json_t *v;
	size_t i;

	json_array_foreach(texts, i, v)
	{
		if (i)
			fputs(", ", w->out);
		words_text(w, json_string_value(v), SHORT_MAX);
	}
}

/* The arguments joined by blanks. */
static char *joined(const json_t *args)
{
	const json_t *v;
	size_t i, size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	json_array_foreach(args, i, v)
	{
		if (i)
			fputc(' ', out);
		if (json_is_string(v))
			fputs(json_string_value(v), out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void words_command(struct words *w, const json_t *event, size_t max)
{
	const json_t *args = json_object_get(event, "args");
	const char *comm = event_str(event, "comm");
	char *text;

	if (json_array_size(args)) {
		text = joined(args);
		if (text)
			words_text(w, text, max);
		else
			w->error = -ENOMEM;
		free(text);
	} else if (comm) {
		fputs("\\[", w->out);
		words_text(w, comm, max);
		fputs("\\]", w->out);
	} else {
		fputs("command not known", w->out);
	}
}

static void when(struct words *w, const json_t *event, const char *key)
{
	phrase_time(w->out, event_time(event, key));
}

static void text(struct words *w, const json_t *event, const char *key)
{
	words_text(w, event_str(event, key), SHORT_MAX);
}

static void put(struct words *w, const char *literal)
{
	fputs(literal, w->out);
}

void words_outlived(struct words *w, const json_t *event)
{
	const char *why = event_str(event, "why"), *signal = event_str(event, "signal");

	words_text(w, signal ? signal : "a signal", SHORT_MAX);
	put(w, ": ");
	words_text(w, why ? phrase_why_alive(why) : "why is not known", SHORT_MAX);
}

static void say_opened(struct words *w, const json_t *e)
{
	put(w, "run recorded, ");
	text(w, e, "how");
	put(w, " by ");
	words_operator(w, e);
}

static void say_adopted(struct words *w, const json_t *e)
{
	put(w, "adopted: ");
	text(w, e, "target");
	put(w, " with ");
	number(w, e, "members");
	put(w, " members, by ");
	words_operator(w, e);
	if (event_time(e, "started_at")) {
		put(w, "; started ");
		when(w, e, "started_at");
	}
	if (event_time(e, "expired_at")) {
		put(w, "; expired ");
		when(w, e, "expired_at");
	}
}

/* What a process was when it was met. */
static void facts(struct words *w, const json_t *e)
{
	put(w, ": ");
	words_command(w, e, SHORT_MAX);
	put(w, "; parent ");
	number(w, e, "ppid");
	put(w, ", group ");
	number(w, e, "pgid");
	put(w, ", session ");
	number(w, e, "sid");
	if (json_array_size(json_object_get(e, "evidence"))) {
		put(w, "; member by ");
		words_list(w, json_object_get(e, "evidence"));
	}
}

static void say_started(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " found");
	facts(w, e);
}

static void say_forked(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " forked ");
	identity(w, e, "child");
	facts(w, e);
}

static void say_execed(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " executed ");
	text(w, e, "exe");
	put(w, ": ");
	words_command(w, e, SHORT_MAX);
}

static void say_exited(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	if (event_str(e, "signal")) {
		put(w, " ended by signal ");
		text(w, e, "signal");
	} else if (json_is_integer(json_object_get(e, "status"))) {
		put(w, " ended with status ");
		number(w, e, "status");
	} else {
		put(w, " ended, how is not known");
	}
}

static void say_setsid(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " left session ");
	number(w, e, "from");
	put(w, " for ");
	number(w, e, "to");
	put(w, " (setsid)");
}

static void say_setpgid(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " left group ");
	number(w, e, "from");
	put(w, " for ");
	number(w, e, "to");
	put(w, " (setpgid)");
}

static void say_reparented(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " has another parent: was ");
	identity(w, e, "from");
	put(w, ", is ");
	identity(w, e, "to");
}

static void say_left_cgroup(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " left cgroup ");
	text(w, e, "from");
	put(w, " for ");
	text(w, e, "to");
}

static void say_leftover(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " is left (");
	words_list(w, json_object_get(e, "classes"));
	put(w, ")");
	facts(w, e);
}

static void say_deadline(struct words *w, const json_t *e)
{
	put(w, "the deadline passed: ");
	when(w, e, "deadline_at");
}

static void say_end(struct words *w, const json_t *e)
{
	put(w, "the end was asked for by ");
	words_operator(w, e);
}

static void processes(struct words *w, const json_t *list, const char *detail, const char *more)
{
	const json_t *v;
	size_t i;

	if (!json_array_size(list))
		put(w, "none");
	json_array_foreach(list, i, v)
	{
		put(w, i ? ", " : "");
		words_identity(w, v);
		if (!event_str(v, detail))
			continue;
		put(w, " ");
		text(w, v, detail);
		if (event_str(v, more)) {
			put(w, " (");
			text(w, v, more);
			put(w, ")");
		}
	}
}

static void say_intent(struct words *w, const json_t *e)
{
	text(w, e, "signal");
	put(w, " intended by ");
	words_operator(w, e);
	put(w, "; unit ");
	text(w, e, "unit");
	if (event_uint(e, "number")) {
		put(w, " ");
		number(w, e, "number");
	}
	put(w, "; to ");
	processes(w, json_object_get(e, "to"), "why", "errno");
	put(w, "; not aimed at: ");
	processes(w, json_object_get(e, "not_aimed"), "why", "errno");
}

static void say_sent(struct words *w, const json_t *e)
{
	text(w, e, "signal");
	put(w, ": ");
	processes(w, json_object_get(e, "to"), "result", "errno");
}

static void say_frozen(struct words *w, const json_t *e)
{
	put(w, event_is(e, "frozen") ? "frozen: " : "thawed: ");
	processes(w, json_object_get(e, "to"), "result", "errno");
}

static void say_survivor(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " SURVIVED ");
	words_outlived(w, e);
}

static void say_kept(struct words *w, const json_t *e)
{
	identity(w, e, "process");
	put(w, " kept by the rule ");
	text(w, e, "rule");
}

static void say_snapshot(struct words *w, const json_t *e)
{
	text(w, e, "what");
	put(w, " written: ");
	text(w, e, "file");
}

static void say_note(struct words *w, const json_t *e)
{
	put(w, "note by ");
	words_operator(w, e);
	if (json_is_object(json_object_get(e, "process"))) {
		put(w, " on ");
		identity(w, e, "process");
	}
	put(w, ": ");
	words_text(w, event_str(e, "text"), EXPORT_TEXT_MAX);
}

static void say_action(struct words *w, const json_t *e)
{
	put(w, event_is(e, "action_accepted") ? "action accepted: " : "action REFUSED: ");
	words_text(w, event_str(e, "action") ? event_str(e, "action") : "(not named)", SHORT_MAX);
	put(w, ", the run being ");
	text(w, e, "state");
	put(w, "; asked by ");
	words_operator(w, e);
}

static void say_watch(struct words *w, const json_t *e)
{
	identity(w, e, "watcher");
	if (event_is(e, "watch_started"))
		put(w, " began to watch");
	else if (event_is(e, "runner_lost"))
		put(w, " that watched was found dead");
	else
		put(w, " stopped watching: ");
	if (event_is(e, "watch_stopped"))
		text(w, e, "reason");
}

static void say_clock(struct words *w, const json_t *e)
{
	int64_t by_ns = 0;

	json_get_int(e, "by_ns", INT64_MIN, INT64_MAX, &by_ns, NULL, NULL);
	fprintf(w->out, "the wall clock was stepped by %+.3f s", (double)by_ns / 1e9);
}

static void say_lost(struct words *w, const json_t *e)
{
	number(w, e, "count");
	put(w, " events of ");
	text(w, e, "source");
	put(w, " were lost");
}

static void say_anchored(struct words *w, const json_t *e)
{
	put(w, "head of event ");
	number(w, e, "anchored_seq");
	put(w, " sent to ");
	text(w, e, "to");
}

static void say_torn(struct words *w, const json_t *e)
{
	put(w, "the writer before had died while it wrote: ");
	number(w, e, "bytes");
	put(w, " bytes");
}

static void say_closed(struct words *w, const json_t *e)
{
	put(w, "run closed: ");
	text(w, e, "state");
	put(w, ", alive ");
	number(w, e, "alive");
	if (event_time(e, "over_at")) {
		put(w, ", over since ");
		when(w, e, "over_at");
	}
}

static void say_reach(struct words *w, const json_t *e)
{
	const json_t *list = json_object_get(e, "connections"), *c;
	int64_t unasked = 0;
	size_t i;

	put(w, "connections: ");
	if (!json_array_size(list))
		put(w, "none was seen");
	json_array_foreach(list, i, c)
	{
		bool before = json_is_true(json_object_get(c, "before"));
		bool after = json_is_true(json_object_get(c, "after"));

		put(w, i ? "; " : "");
		identity(w, c, "process");
		put(w, " to ");
		text(w, c, "remote");
		put(w, before && after ? ", before and after"
		       : before        ? ", gone after"
				       : ", new after");
	}
	if (json_get_int(e, "processes_not_asked", 0, INT64_MAX, &unasked, NULL, NULL) == 0 &&
	    unasked) {
		put(w, "; not known of ");
		number(w, e, "processes_not_asked");
		put(w, " processes");
	}
}

/* An event that this stray has no words for, as it is. */
static void say_other(struct words *w, const json_t *e)
{
	static const char *const heads[] = {"schema", "seq",   "at",   "mono_ns", "run",
					    "event",  "known", "prev", "hash"};
	json_t *rest = json_copy((json_t *)e);
	char *dump;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		json_object_del(rest, heads[i]);
	dump = json_dumps(rest, JSON_COMPACT | JSON_ENCODE_ANY);
	text(w, e, "event");
	put(w, " ");
	words_text(w, dump, SHORT_MAX);
	free(dump);
	json_decref(rest);
}

void words_event(struct words *w, const json_t *event)
{
	static const struct {
		const char *event;
		void (*say)(struct words *, const json_t *);
	} table[] = {
		{"run_opened", say_opened},
		{"adopted", say_adopted},
		{"started", say_started},
		{"forked", say_forked},
		{"execed", say_execed},
		{"exited", say_exited},
		{"setsid", say_setsid},
		{"setpgid", say_setpgid},
		{"reparented", say_reparented},
		{"left_cgroup", say_left_cgroup},
		{"leftover", say_leftover},
		{"deadline_expired", say_deadline},
		{"end_requested", say_end},
		{"signal_intent", say_intent},
		{"signal_sent", say_sent},
		{"frozen", say_frozen},
		{"thawed", say_frozen},
		{"survivor", say_survivor},
		{"kept", say_kept},
		{"snapshot", say_snapshot},
		{"note", say_note},
		{"action_accepted", say_action},
		{"action_refused", say_action},
		{"watch_started", say_watch},
		{"watch_stopped", say_watch},
		{"runner_lost", say_watch},
		{"clock_stepped", say_clock},
		{"events_lost", say_lost},
		{"anchored", say_anchored},
		{"torn_tail", say_torn},
		{"run_closed", say_closed},
		{"reach", say_reach},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (event_is(event, table[i].event)) {
			table[i].say(w, event);
			return;
		}
	say_other(w, event);
}
