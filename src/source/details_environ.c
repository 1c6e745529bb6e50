#include "source/details_parts.h"

#include "base/mask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRON_MAX (8u << 20) /* as the arguments': execve(2) */

const char *const source_known_marks[] = {
	"STRAY_RUN_ID",
	"STRAY_RUN_MARK",
	"AGENT",
	"AI_AGENT",
	"CLAUDECODE",
	"CODEX_THREAD_ID",
	"CODEX_SANDBOX",
	"GEMINI_CLI",
	"CURSOR_AGENT",
	"GOOSE_TERMINAL",
	"CRUSH",
	"COPILOT_AGENT",
	"RUNNER_TRACKING_ID",
	"JENKINS_NODE_COOKIE",
	NULL,
};

static bool is_mark(const struct details_reader *r, const char *name, size_t len)
{
	for (size_t i = 0; source_known_marks[i]; i++)
		if (strlen(source_known_marks[i]) == len &&
		    memcmp(source_known_marks[i], name, len) == 0)
			return true;
	for (size_t i = 0; i < r->options->n_marks; i++)
		if (strlen(r->options->marks[i]) == len &&
		    memcmp(r->options->marks[i], name, len) == 0)
			return true;
	return false;
}

static int add_mark(struct detail *d, const char *name, size_t len, const char *value)
{
	struct mark *grown = realloc(d->marks, (d->n_marks + 1) * sizeof(*grown));
	struct mark m;

	if (!grown)
		return -ENOMEM;
	d->marks = grown;
	m.name = strndup(name, len);
	m.value = strdup(value);
	if (!m.name || !m.value) {
		free(m.name);
		free(m.value);
		return -ENOMEM;
	}
	d->marks[d->n_marks++] = m;
	return 0;
}

static int add_secret_name(struct detail *d, const char *name, size_t len)
{
	char **grown = realloc(d->secret_names, (d->n_secret_names + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	d->secret_names = grown;
	d->secret_names[d->n_secret_names] = strndup(name, len);
	if (!d->secret_names[d->n_secret_names])
		return -ENOMEM;
	d->n_secret_names++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int details_read_environ(struct details_reader *r, int dir, struct detail *d)
{
	ssize_t n = details_read_whole(r, dir, "environ", ENVIRON_MAX);
	int rc = 0;

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n && !rc;) {
		const char *entry = r->buf + i;
		size_t len = strnlen(entry, (size_t)(n - i));
		const char *eq = memchr(entry, '=', len);

		i += (ssize_t)len + 1;
		if (!eq || eq == entry)
			continue;
		if (is_mark(r, entry, (size_t)(eq - entry)))
			rc = add_mark(d, entry, (size_t)(eq - entry), eq + 1);
		else if (mask_name_is_secret(entry, (size_t)(eq - entry)) ||
			 strncmp(entry, "SSH_AUTH_SOCK=", 14) == 0)
			rc = add_secret_name(d, entry, (size_t)(eq - entry));
	}
	explicit_bzero(r->buf, (size_t)n);
	if (d->n_secret_names)
		qsort(d->secret_names, d->n_secret_names, sizeof(char *), by_name);
	return rc;
}
