#include "record/export_parts.h"

#include "record/markdown.h"
#include "record/phrase.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define KEY_SIZE 40   /* of a member's name, with its NUL */
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

static void processes(struct words *w, const json_t *e, const char *key)
{
	const json_t *list = json_object_get(e, key), *v;
	size_t i;

	if (!json_array_size(list))
		put(w, "none");
	json_array_foreach(list, i, v)
	{
		const char *detail = event_str(v, "result") ? "result" : "why";

		put(w, i ? ", " : "");
		words_identity(w, v);
		if (!event_str(v, detail))
			continue;
		put(w, " ");
		text(w, v, detail);
		if (event_str(v, "errno")) {
			put(w, " (");
			text(w, v, "errno");
			put(w, ")");
		}
	}
}

static void seconds(struct words *w, const json_t *e, const char *key)
{
	int64_t ns = 0;

	json_get_int(e, key, INT64_MIN, INT64_MAX, &ns, NULL, NULL);
	fprintf(w->out, "%+.3f s", (double)ns / 1e9);
}

static void connections(struct words *w, const json_t *e, const char *key)
{
	const json_t *list = json_object_get(e, key), *c;
	size_t i;

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
}

/* --- sentences --- */

static void long_text(struct words *w, const json_t *e, const char *key)
{
	words_text(w, event_str(e, key), EXPORT_TEXT_MAX);
}

static void list(struct words *w, const json_t *e, const char *key)
{
	words_list(w, json_object_get(e, key));
}

static void whole(struct words *w, const json_t *e, const char *key)
{
	if (strcmp(key, "operator") == 0)
		words_operator(w, e);
	else if (strcmp(key, "command") == 0)
		words_command(w, e, SHORT_MAX);
	else if (strcmp(key, "outlived") == 0)
		words_outlived(w, e);
	else if (strcmp(key, "cause") == 0)
		words_cause(w, e);
	else
		facts(w, e);
}

/* How a member is said, by the letter before its name. */
static const struct kind {
	char letter;
	void (*say)(struct words *, const json_t *, const char *);
} kinds[] = {
	{'@', identity},    {'#', number},    {'~', when}, {'=', text},
	{'"', long_text},   {'*', processes}, {',', list}, {'+', seconds},
	{'/', connections}, {'!', whole}, /* of the event, not of a member */
};

static bool is_there(const json_t *e, const char *key)
{
	const json_t *v = json_object_get(e, key);

	return v && !json_is_null(v);
}

/* The name in "{@process}" or "{=action|(not named)}". */
static void key_of(const char *member, char key[static KEY_SIZE])
{
	snprintf(key, KEY_SIZE, "%.*s", (int)strcspn(member + 2, "|}"), member + 2);
}

/* The member as its letter says it, or what is to be said without it; returns what follows. */
static const char *say_member(struct words *w, const json_t *e, const char *at)
{
	size_t len = strcspn(at, "}"), alt = strcspn(at, "|");
	char key[KEY_SIZE];

	key_of(at, key);
	if (alt < len && !is_there(e, key))
		fwrite(at + alt + 1, 1, len - alt - 1, w->out);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].letter == at[1] && (alt >= len || is_there(e, key)))
			kinds[i].say(w, e, key);
	return at + len + 1;
}

/* What is said only with the first member in it (a number that is 0 is none): where that begins,
 * or what follows. */
static const char *enter(const json_t *e, const char *at)
{
	const json_t *v;
	char key[KEY_SIZE];

	key_of(at + strcspn(at, "{"), key);
	v = json_object_get(e, key);
	if (is_there(e, key) && !(json_is_integer(v) && !json_integer_value(v)))
		return at + 1;
	return at + strcspn(at, "]") + 1;
}

static void say(struct words *w, const json_t *e, const char *at)
{
	while (*at) {
		size_t plain = strcspn(at, "{[]");

		fwrite(at, 1, plain, w->out);
		at += plain;
		if (*at == '{')
			at = say_member(w, e, at);
		else if (*at == '[')
			at = enter(e, at);
		else if (*at)
			at++;
	}
}

/*
 * What is said of an event.  {@process} a member, its letter from `kinds`; behind | what is said
 * without it; [...] only where the first member in it is there.  Of several for one event the
 * first says it of which the member `with` is there.
 */
static const struct sentence {
	const char *event, *with, *words;
} sentences[] = {
	{"run_opened", NULL, "run recorded, {=how} by {!operator}"},
	{"adopted", NULL,
	 "adopted: {=target} with {#members} members, by {!operator}[; started {~started_at}]"
	 "[; expired {~expired_at}]"},
	{"started", NULL, "{@process} found{!facts}"},
	{"forked", NULL, "{@process} forked {@child}{!facts}"},
	{"execed", NULL, "{@process} executed {=exe}: {!command}"},
	{"exited", "signal", "{@process} ended by signal {=signal}"},
	{"exited", "status", "{@process} ended with status {#status}"},
	{"exited", NULL, "{@process} ended, how is not known"},
	{"setsid", NULL, "{@process} left session {#from} for {#to} (setsid)"},
	{"setpgid", NULL, "{@process} left group {#from} for {#to} (setpgid)"},
	{"reparented", NULL, "{@process} has another parent: was {@from}, is {@to}"},
	{"left_cgroup", NULL, "{@process} left cgroup {=from} for {=to}"},
	{"leftover", NULL, "{@process} is left ({,classes}){!facts}"},
	{"deadline_expired", NULL, "the deadline passed: {~deadline_at}"},
	{"end_requested", "cause", "the end was asked for: {!cause}; by {!operator}"},
	{"end_requested", NULL, "the end was asked for by {!operator}"},
	{"signal_intent", NULL,
	 "{=signal} intended by {!operator}; unit {=unit}[ {#number}]; to {*to}; not aimed at: "
	 "{*not_aimed}"},
	{"signal_sent", NULL, "{=signal}: {*to}"},
	{"frozen", NULL, "frozen: {*to}"},
	{"thawed", NULL, "thawed: {*to}"},
	{"survivor", NULL, "{@process} SURVIVED {!outlived}"},
	{"kept", NULL, "{@process} kept by the rule {=rule}"},
	{"snapshot", NULL, "{=what} written: {=file}"},
	{"note", NULL, "note by {!operator}[ on {@process}]: {\"text}"},
	{"action_accepted", NULL,
	 "action accepted: {=action|(not named)}, the run being {=state}; asked by {!operator}"},
	{"action_refused", NULL,
	 "action REFUSED: {=action|(not named)}, the run being {=state}; asked by {!operator}"},
	{"watch_started", NULL, "{@watcher} began to watch"},
	{"watch_stopped", NULL, "{@watcher} stopped watching: {=reason}"},
	{"runner_lost", "role", "the {=role} of the run, {@process}, was killed"},
	{"runner_lost", NULL, "{@watcher} that watched was found dead"},
	{"clock_stepped", NULL, "the wall clock was stepped by {+by_ns}"},
	{"events_lost", "error", "{#count} events could not be written: {\"error}"},
	{"events_lost", NULL, "{#count} events of {=source} were lost"},
	{"anchored", NULL, "head of event {#anchored_seq} sent to {=to}"},
	{"torn_tail", NULL, "the writer before had died while it wrote: {#bytes} bytes"},
	{"handed_off", NULL, "{@process} handed work off: {!command}"},
	{"detach_denied", "pgid",
	 "{@process} was refused to detach: setpgid of {#pid|itself} to {#pgid}"},
	{"detach_denied", NULL, "{@process} was refused to detach: {=call}"},
	{"hashed", NULL,
	 "SHA-256 of stray: {=stray_sha256|not read}; of who started it: "
	 "{=requester_sha256|not read}"},
	{"run_closed", "error", "run closed: {=state}, it never ran: {\"error}"},
	{"run_closed", "forked",
	 "run closed: {=state}, alive {#alive}; in all {#forked} forked, {#execed} executed, "
	 "{#exited} ended; {#events_lost} events lost, {#events_counted} counted only"
	 "[, {#events_unwritten} not written]"
	 "[; who else was alive could not be read: {\"unread}]"},
	{"run_closed", NULL, "run closed: {=state}, alive {#alive}[, over since {~over_at}]"},
	{"reach", NULL,
	 "connections: {/connections}[; not known of {#processes_not_asked} processes]"},
};

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
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		const struct sentence *s = &sentences[i];

		if (!event_is(event, s->event) || (s->with && !is_there(event, s->with)))
			continue;
		say(w, event, s->words);
		return;
	}
	say_other(w, event);
}
