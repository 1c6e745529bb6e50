#include "tui/runlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/browse.h"
#include "tui/line.h"
#include "tui/runwords.h"

static void add_command(const struct run_record *r, struct line *l)
{
	for (size_t at = 0; at < r->args.len;) {
		size_t len = strnlen(r->args.data + at, r->args.len - at);
		struct bytes arg = {r->args.data + at, len};

		line_add(l, "%s", at ? " " : "");
		line_bytes(l, &arg, sizeof(((struct runlist_item *)0)->command));
		at += len + 1;
	}
	if (!l->len)
		line_text(l, r->target, sizeof(((struct runlist_item *)0)->command));
}

static void take_one(struct runlist_item *to, const struct runs_item *item)
{
	const struct story *s = &item->recorded.story;
	struct line l;

	memcpy(to->id, item->id, sizeof(to->id));
	to->readable = !item->err.code || item->err.code == EBADMSG;
	to->watched = item->watched;
	to->others = item->others;
	to->bytes = item->bytes;
	text_safe(to->why, sizeof(to->why), item->err.text, strlen(item->err.text), false);
	if (!to->readable)
		return;
	to->state = item->state;
	to->here = item->here;
	to->alive = item->alive;
	to->noted_ns = s->record.host.wall_ns;
	to->began_ns = run_record_began(&s->record);
	to->deadline_ns = s->record.deadline_wall_ns;
	to->over_ns = s->over_wall_ns;
	to->left = item->state == RUN_ACTIVE ? 0 : story_alive(s);
	line_start(&l, false);
	add_command(&s->record, &l);
	text_safe(to->command, sizeof(to->command), l.text, l.len, false);
}

static int newest_first(const void *a, const void *b)
{
	const struct runlist_item *x = a, *y = b;

	return x->noted_ns != y->noted_ns
		       ? (x->noted_ns < y->noted_ns) - (x->noted_ns > y->noted_ns)
		       : strcmp(x->id, y->id);
}

int runlist_take(struct runlist *l, const struct runs *runs, const struct runlist *kept)
{
	const struct runs_item *eyes = runs_needing_eyes(runs);

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < runs->n; i++) {
		struct runlist_item item = {0};

		take_one(&item, &runs->v[i]);
		if (!VEC_PUSH(l, item))
			return -ENOMEM;
	}
	for (size_t i = 0; i < kept->n; i++)
		if (!VEC_PUSH(l, kept->v[i]))
			return -ENOMEM;
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), newest_first);
	if (eyes)
		memcpy(l->eyes, eyes->id, sizeof(l->eyes));
	return 0;
}

int runlist_copy(struct runlist *to, const struct runlist *from)
{
	memset(to, 0, sizeof(*to));
	for (size_t i = 0; i < from->n; i++)
		if (!VEC_PUSH(to, from->v[i])) {
			runlist_free(to);
			return -ENOMEM;
		}
	return 0;
}

void runlist_free(struct runlist *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

const struct runlist_item *runlist_find(const struct runlist *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].id, id) == 0)
			return &l->v[i];
	return NULL;
}

bool runlist_match(const struct runlist_item *item, const struct query *q)
{
	return browse_text(q, item->id) || browse_text(q, runwords_state(item->state)) ||
	       browse_text(q, item->command) || browse_text(q, item->why);
}
