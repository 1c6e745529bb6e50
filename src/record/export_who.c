#include "record/export_parts.h"

#include "record/phrase.h"

#include <string.h>

/* Never asked of the host that this is read on: it has users of its own.  A member's name
 * is that of its effective uid: of one that became root it tells nothing. */
static const char *user_name(const struct export *x, int64_t uid)
{
	for (size_t i = 0; i < x->members.n; i++) {
		const json_t *const from[] = {x->members.v[i].leftover, x->members.v[i].came};

		for (size_t k = 0; k < 2; k++) {
			const char *name = event_str(from[k], "user");

			if (name && json_is_integer(json_object_get(from[k], "uid")) &&
			    (int64_t)event_uint(from[k], "uid") == uid &&
			    (uid == 0 || strcmp(name, "root") != 0))
				return name;
		}
	}
	return NULL;
}

void words_by(struct words *w, const struct operator* o)
{
	const char *name = NULL;

	if (!*o->sudo_user) /* which is told as it is */
		name = user_name(w->x, o->uid);
	if (name) {
		words_text(w, name, EXPORT_TEXT_MAX);
		fputs(" (", w->out);
	}
	if (!w->error)
		w->error = phrase_operator(w->out, o);
	fputs(name ? ")" : "", w->out);
}

void words_operator(struct words *w, const json_t *event)
{
	const json_t *o = json_object_get(event, "operator");
	struct operator op;

	if (!json_is_object(o) || operator_read(o, &op, NULL) < 0)
		fputs("somebody not known", w->out);
	else
		words_by(w, &op);
}
