#include "record/journal_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct jw *journal_event_begin(struct journal_event *e, const char *name, enum known known)
{
	*e = (struct journal_event){.name = name};
	e->stream = open_memstream(&e->text, &e->len);
	e->body = e->stream ? jw_open(e->stream, false) : NULL;
	if (!e->body)
		return NULL;
	jw_object(e->body, NULL);
	jw_str(e->body, "known", known_name(known));
	return e->body;
}

int journal_event_end(struct journal_event *e, struct err *err)
{
	int r;

	if (!e->body)
		return err_nomem(err);
	jw_object_end(e->body);
	r = jw_close(e->body);
	e->body = NULL;
	if (fclose(e->stream) != 0 && !r)
		r = -errno;
	e->stream = NULL;
	return r < 0 ? err_errno(err, -r, "event %s", e->name) : 0;
}

void journal_event_clear(struct journal_event *e)
{
	jw_discard(e->body);
	if (e->stream)
		fclose(e->stream);
	free(e->text);
	memset(e, 0, sizeof(*e));
}
