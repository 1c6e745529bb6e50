#include "model/process.h"

#include <stddef.h>

/* All texts of a detail. */
static const size_t texts[] = {
	offsetof(struct detail, comm),     offsetof(struct detail, cmdline),
	offsetof(struct detail, cgroup),   offsetof(struct detail, exe),
	offsetof(struct detail, cwd),      offsetof(struct detail, user),
	offsetof(struct detail, wchan),    offsetof(struct detail, stdio[0]),
	offsetof(struct detail, stdio[1]), offsetof(struct detail, stdio[2]),
};
#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static struct bytes *text(struct detail *d, size_t i)
{
	return (struct bytes *)((char *)d + texts[i]);
}

struct detail *detail_new(void)
{
	struct detail *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->refs = 1;
	d->uid = d->euid = (uid_t)-1;
	d->tracer = -1;
	d->audit_session = d->login_uid = -2;
	return d;
}

struct detail *detail_ref(struct detail *d)
{
	if (d)
		d->refs++;
	return d;
}

static void free_parts(struct detail *d)
{
	for (size_t i = 0; i < N_TEXTS; i++)
		bytes_free(text(d, i));
	for (size_t i = 0; i < d->n_marks; i++) {
		free(d->marks[i].name);
		free(d->marks[i].value);
	}
	free(d->marks);
	for (size_t i = 0; i < d->n_secret_names; i++)
		free(d->secret_names[i]);
	free(d->secret_names);
}

void detail_unref(struct detail *d)
{
	if (!d || --d->refs)
		return;
	if (!d->packed)
		free_parts(d);
	free(d);
}

static size_t packed_size(struct detail *d)
{
	size_t size = sizeof(*d) + d->n_marks * sizeof(*d->marks) +
		      d->n_secret_names * sizeof(*d->secret_names);

	for (size_t i = 0; i < N_TEXTS; i++)
		size += text(d, i)->data ? text(d, i)->len + 1 : 0;
	for (size_t i = 0; i < d->n_marks; i++)
		size += strlen(d->marks[i].name) + strlen(d->marks[i].value) + 2;
	for (size_t i = 0; i < d->n_secret_names; i++)
		size += strlen(d->secret_names[i]) + 1;
	return size;
}

/* Copies to *at, which moves on; where the copy is. */
static void *pack(char **at, const void *from, size_t size)
{
	char *to = *at;

	if (size)
		memcpy(to, from, size);
	*at += size;
	return to;
}

struct detail *detail_pack(struct detail *d)
{
	char *block = malloc(packed_size(d)), *at = block;
	struct detail *to;

	if (!block)
		return d;
	to = pack(&at, d, sizeof(*d));
	/* what holds pointers comes first: texts are not aligned */
	to->marks = pack(&at, d->marks, d->n_marks * sizeof(*d->marks));
	to->secret_names = pack(&at, d->secret_names, d->n_secret_names * sizeof(*d->secret_names));
	for (size_t i = 0; i < N_TEXTS; i++)
		if (text(d, i)->data)
			text(to, i)->data = pack(&at, text(d, i)->data, text(d, i)->len + 1);
	for (size_t i = 0; i < d->n_marks; i++) {
		to->marks[i].name = pack(&at, d->marks[i].name, strlen(d->marks[i].name) + 1);
		to->marks[i].value = pack(&at, d->marks[i].value, strlen(d->marks[i].value) + 1);
	}
	for (size_t i = 0; i < d->n_secret_names; i++)
		to->secret_names[i] = pack(&at, d->secret_names[i], strlen(d->secret_names[i]) + 1);
	to->packed = true;
	free_parts(d);
	free(d);
	return to;
}

bool detail_knows(const struct detail *d, unsigned bit)
{
	return d && (d->have & bit) && !d->unread[__builtin_ctz(bit)];
}
