#include "model/selector.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int number(const char *text, int64_t max, int64_t *out)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || *end || v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

/* "4131" or "4131@881234", as identities are written. */
static int parse_pid(const char *text, struct selector *out)
{
	const char *at = strchr(text, '@');
	char head[24];
	int64_t start = 0;

	if (!at)
		return number(text, INT_MAX, &out->number);
	if ((size_t)(at - text) >= sizeof(head) || number(at + 1, INT64_MAX, &start) < 0)
		return -EINVAL;
	memcpy(head, text, (size_t)(at - text));
	head[at - text] = '\0';
	out->start = (uint64_t)start;
	return number(head, INT_MAX, &out->number);
}

static int parse_env(const char *text, struct selector *out)
{
	const char *eq = strchr(text, '=');
	size_t len = eq ? (size_t)(eq - text) : strlen(text);

	if (!len)
		return -EINVAL;
	out->name = strndup(text, len);
	out->value = eq ? strdup(eq + 1) : NULL;
	return !out->name || (eq && !out->value) ? -ENOMEM : 0;
}

static int parse_name(const char *text, struct selector *out)
{
	if (!*text)
		return -EINVAL;
	out->name = strdup(text);
	return out->name ? 0 : -ENOMEM;
}

#define ID_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define ID_DIGITS "0123456789"

/* A run's id or the beginning of one.  It names a directory: no slash, no dot in front. */
static int parse_run(const char *text, struct selector *out)
{
	size_t len = strspn(text, ID_LETTERS ID_DIGITS "._-");

	if (!strspn(text, ID_LETTERS ID_DIGITS) || text[len] || len > RUN_ID_MAX)
		return -EINVAL;
	return parse_name(text, out);
}

/* A bare word that is no number is a run id, also one that begins with digits. */
static bool is_pid(const char *text)
{
	return strchr(text, '@') || !text[strspn(text, ID_DIGITS)];
}

int selector_parse(const char *text, struct selector *out, struct err *err)
{
	static const struct {
		const char *prefix;
		enum selector_kind kind;
	} kinds[] = {
		{"pgid:", SELECT_GROUP},  {"sid:", SELECT_SESSION}, {"run:", SELECT_RUN},
		{"audit:", SELECT_AUDIT}, {"env:", SELECT_ENV},     {"cgroup:", SELECT_CGROUP},
	};
	const char *rest = text;
	int r;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
			out->kind = kinds[i].kind;
			rest = text + strlen(kinds[i].prefix);
		}
	switch (out->kind) {
	case SELECT_GROUP:
	case SELECT_SESSION:
		r = number(rest, INT_MAX, &out->number);
		break;
	case SELECT_AUDIT:
		r = number(rest, UINT_MAX - 1u, &out->number);
		break;
	case SELECT_ENV:
		r = parse_env(rest, out);
		break;
	case SELECT_CGROUP:
		r = parse_name(rest, out);
		break;
	case SELECT_RUN:
		r = parse_run(rest, out);
		break;
	default:
		out->kind = is_pid(text) ? SELECT_PID : SELECT_RUN;
		r = out->kind == SELECT_PID ? parse_pid(text, out) : parse_run(text, out);
		break;
	}
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return err_set(err, EINVAL,
			       "no such kind of target: try PID, pgid:N, sid:N, run:ID, audit:N, "
			       "env:NAME[=VALUE] or cgroup:PATH");
	return 0;
}

void selector_free(struct selector *t)
{
	free(t->name);
	free(t->value);
	memset(t, 0, sizeof(*t));
}

bool selector_in_cgroup(const struct process *p, const char *path)
{
	const struct bytes *cg = p->detail ? &p->detail->cgroup : NULL;
	size_t n = strlen(path);

	if (!cg || !cg->data)
		return false;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (cg->len < n || memcmp(cg->data, path, n) != 0)
		return false;
	return cg->len == n || cg->data[n] == '/' || path[n - 1] == '/';
}

bool selector_matches(const struct selector *t, const struct process *p)
{
	const char *v;

	switch (t->kind) {
	case SELECT_PID:
		return p->id.pid == t->number && (!t->start || p->id.start == t->start);
	case SELECT_GROUP:
		return p->pgid == t->number;
	case SELECT_SESSION:
		return p->sid == t->number;
	case SELECT_AUDIT:
		return p->detail && p->detail->audit_session == t->number;
	case SELECT_ENV:
		v = process_mark(p, t->name);
		return v && (!t->value || strcmp(v, t->value) == 0);
	case SELECT_CGROUP:
		return selector_in_cgroup(p, t->name);
	case SELECT_NONE:
	case SELECT_RUN:
		break;
	}
	return false;
}

void selector_text(const struct selector *t, char *out, size_t size)
{
	static const char *const prefix[] = {
		"", "", "pgid:", "sid:", "run:", "audit:", "env:", "cgroup:"};

	switch (t->kind) {
	case SELECT_PID:
		if (t->start) {
			snprintf(out, size, "%" PRId64 "@%" PRIu64, t->number, t->start);
			break;
		}
		/* fallthrough */
	case SELECT_GROUP:
	case SELECT_SESSION:
	case SELECT_AUDIT:
		snprintf(out, size, "%s%" PRId64, prefix[t->kind], t->number);
		break;
	case SELECT_ENV:
	case SELECT_CGROUP:
	case SELECT_RUN:
		/* a value is a secret for all we know: its presence is told, not the value */
		snprintf(out, size, "%s%s%s", prefix[t->kind], t->name, t->value ? "=..." : "");
		break;
	case SELECT_NONE:
		snprintf(out, size, "everything");
		break;
	}
}
