#include "engine/strangers.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdlib.h>

static bool is_set(const uint8_t *bits, size_t i)
{
	return bits[i >> 3] & 1u << (i & 7);
}

static void set(uint8_t *bits, size_t i)
{
	bits[i >> 3] |= (uint8_t)(1u << (i & 7));
}

static void unset(uint8_t *bits, size_t i)
{
	bits[i >> 3] &= (uint8_t) ~(1u << (i & 7));
}

void strangers_open(struct strangers *s)
{
	char text[32];
	long max = file_read_at(AT_FDCWD, "/proc/sys/kernel/pid_max", text, sizeof(text)) > 0
			   ? strtol(text, NULL, 10)
			   : 0;

	*s = (struct strangers){.n = max > 0 ? (size_t)max + 1 : 0};
	if (!s->n)
		return;
	s->came = calloc(s->n / 8 + 1, 1);
	s->went = calloc(s->n / 8 + 1, 1);
	if (!s->came || !s->went)
		strangers_close(s);
}

void strangers_close(struct strangers *s)
{
	free(s->came);
	free(s->went);
	*s = (struct strangers){0};
}

void strangers_note(struct strangers *s, const struct event *e)
{
	size_t pid = (size_t)(e->kind == EVENT_FORK ? e->child : e->pid);

	if (pid >= s->n)
		return;
	if (e->kind == EVENT_FORK)
		set(s->came, pid);
	else if (e->kind == EVENT_EXIT && is_set(s->came, pid))
		unset(s->came, pid);
	else if (e->kind == EVENT_EXIT)
		set(s->went, pid);
}

/* The first i >= from that is in either, or n. */
static size_t find(const struct strangers *s, const uint8_t *also, size_t from)
{
	for (size_t i = from; i < s->n; i++) {
		if (!(i & 7) && !s->came[i >> 3] && !(also && also[i >> 3]))
			i += 7;
		else if (is_set(s->came, i) || (also && is_set(also, i)))
			return i;
	}
	return s->n;
}

pid_t strangers_next(const struct strangers *s, pid_t pid)
{
	size_t i = find(s, NULL, (size_t)pid + 1);

	return i < s->n ? (pid_t)i : 0;
}

size_t strangers_list(const struct strangers *s, pid_t *out, size_t max)
{
	size_t n = 0;

	if (!strangers_followed(s))
		return SIZE_MAX;
	for (size_t i = find(s, s->went, 1); i < s->n; i = find(s, s->went, i + 1)) {
		if (n == max)
			return SIZE_MAX;
		out[n++] = (pid_t)i;
	}
	return n;
}
