#include "tui/query.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tui/facts.h"

#define DAY 86400u

/* "14:00" or "14:00:30" at s: its length, or 0. */
static size_t read_time(const char *s, uint32_t *out, uint32_t *unit)
{
	unsigned h, m, sec;
	int n = 0;

	if (sscanf(s, "%2u:%2u:%2u%n", &h, &m, &sec, &n) == 3)
		*unit = 1;
	else if (sscanf(s, "%2u:%2u%n", &h, &m, &n) == 2)
		*unit = 60;
	else
		return 0;
	if (*unit == 60)
		sec = 0;
	if (h > 23 || m > 59 || sec > 60)
		return 0;
	*out = h * 3600 + m * 60 + sec;
	return (size_t)n;
}

/* One time is the minute or second of that name; two are from one to the other. */
static bool parse_time(const char *text, struct query *q)
{
	uint32_t unit, until;
	size_t n;

	if (!isdigit((unsigned char)*text))
		return false;
	n = read_time(text, &q->from, &unit);
	if (!n)
		return false;
	q->to = q->from + unit;
	if (text[n] == '-') {
		size_t m = read_time(text + n + 1, &until, &unit);

		if (!m || text[n + 1 + m])
			return false;
		q->to = until + 1;
	} else if (text[n]) {
		return false;
	}
	q->kind = QUERY_TIME;
	return true;
}

static bool parse_number(const char *text, struct query *q)
{
	char *end;

	q->number = strtoll(text, &end, 10);
	if (end == text || *end || !isdigit((unsigned char)*text))
		return false;
	q->kind = QUERY_NUMBER;
	return true;
}

static bool parse_prefix(const char *text, struct query *q)
{
	static const struct {
		const char *prefix;
		enum query_kind kind;
	} prefixes[] = {{"user:", QUERY_USER}, {"cwd:", QUERY_CWD}, {":", QUERY_PORT}};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i].prefix);

		if (strncmp(text, prefixes[i].prefix, n) != 0 || !text[n])
			continue;
		q->kind = prefixes[i].kind;
		q->value = n;
		return true;
	}
	return false;
}

static bool is_address(const char *text)
{
	unsigned dots = 0, colons = 0;

	for (; *text; text++) {
		dots += *text == '.';
		colons += *text == ':';
		if (!isxdigit((unsigned char)*text) && !strchr(".:[]", *text))
			return false;
	}
	return dots >= 2 || colons >= 2;
}

static bool parse_target(const char *text, struct query *q)
{
	struct err err = {0};

	if (!strchr(text, ':') || selector_parse(text, &q->target, &err) < 0) {
		selector_free(&q->target);
		memset(&q->target, 0, sizeof(q->target));
		return false;
	}
	q->kind = QUERY_TARGET;
	return true;
}

void query_parse(const char *text, struct query *out)
{
	memset(out, 0, sizeof(*out));
	while (*text == ' ')
		text++;
	snprintf(out->text, sizeof(out->text), "%s", text);
	text = out->text;
	if (!*text || parse_number(text, out) || parse_time(text, out) || parse_prefix(text, out))
		return;
	if (is_address(text))
		out->kind = QUERY_REMOTE;
	else if (!parse_target(text, out))
		out->kind = QUERY_TEXT;
}

void query_free(struct query *q)
{
	selector_free(&q->target);
	memset(q, 0, sizeof(*q));
}

static bool in_time(const struct query *q, const struct table *t, const struct process *p)
{
	uint64_t wall_s = facts_wall_ns(&t->host, p->id.start) / CLOCK_NS_PER_S;
	uint32_t at = (uint32_t)(wall_s % DAY);

	/* that time of the last day: yesterday's 23:50 counts until today's has come */
	if (t->host.wall_ns / CLOCK_NS_PER_S > wall_s + DAY)
		return false;
	return q->from <= q->to ? at >= q->from && at < q->to : at >= q->from || at < q->to;
}

static bool has_port(const struct process *p, const char *port)
{
	size_t n = strlen(port);
	const struct bytes *r = &p->remote;

	return r->len > n && r->data[r->len - n - 1] == ':' &&
	       memcmp(r->data + r->len - n, port, n) == 0;
}

static bool contains(const struct bytes *b, const char *piece)
{
	size_t n = strlen(piece);

	for (size_t i = 0; b->data && i + n <= b->len; i++)
		if (strncasecmp(b->data + i, piece, n) == 0)
			return true;
	return false;
}

static bool has_text(const struct process *p, const char *piece)
{
	struct bytes command = {0};
	bool found;

	if (p->detail && contains(&p->detail->comm, piece))
		return true;
	if (process_command(p, &command) < 0)
		return false;
	found = contains(&command, piece);
	bytes_free(&command);
	return found;
}

static bool is_user(const struct process *p, const char *name)
{
	char number[16];

	if (p->detail && bytes_is(&p->detail->user, name))
		return true;
	snprintf(number, sizeof(number), "%u", p->owner);
	return strcmp(number, name) == 0;
}

static bool below(const struct process *p, const char *path)
{
	size_t n = strlen(path);

	return p->detail && p->detail->cwd.data && p->detail->cwd.len >= n &&
	       memcmp(p->detail->cwd.data, path, n) == 0;
}

bool query_matches(const struct query *q, const struct table *t, const struct process *p)
{
	const char *value = q->text + q->value;

	switch (q->kind) {
	case QUERY_NONE:
		return true;
	case QUERY_NUMBER:
		return p->id.pid == q->number || p->pgid == q->number || p->sid == q->number;
	case QUERY_TIME:
		return in_time(q, t, p);
	case QUERY_PORT:
		return has_port(p, value);
	case QUERY_REMOTE:
		return contains(&p->remote, value);
	case QUERY_USER:
		return is_user(p, value);
	case QUERY_CWD:
		return below(p, value);
	case QUERY_TARGET:
		return selector_matches(&q->target, p);
	case QUERY_TEXT:
		return has_text(p, value);
	}
	return false;
}

void query_words(const struct query *q, char *out, size_t size)
{
	static const struct {
		const char *before, *after;
	} words[] = {
		[QUERY_NONE] = {"", ""},
		[QUERY_NUMBER] = {"PID, PGID or SID ", ""},
		[QUERY_TIME] = {"start at ", ""},
		[QUERY_PORT] = {"connection to port ", ""},
		[QUERY_REMOTE] = {"connection to ", ""},
		[QUERY_USER] = {"process of user ", ""},
		[QUERY_CWD] = {"working directory below ", ""},
		[QUERY_TARGET] = {"", ""},
		[QUERY_TEXT] = {"command with '", "'"},
	};

	snprintf(out, size, "%s%s%s", words[q->kind].before, q->text + q->value,
		 words[q->kind].after);
}
