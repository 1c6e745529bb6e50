#include "record/sealed.h"

#include "record/digest.h"

#include <inttypes.h>
#include <string.h>

static const char *text(const json_t *event, const char *key)
{
	const char *s = NULL;

	json_get_str(event, key, &s, NULL);
	return s ? s : "";
}

/* Its name in the directory of the run; NULL: it is elsewhere, or none of ours. */
static const char *own_name(const char *id, const char *path)
{
	size_t len = strlen(id);
	const char *name;

	if (strncmp(path, "runs/", 5) != 0 || strncmp(path + 5, id, len) != 0 ||
	    path[5 + len] != '/')
		return NULL;
	name = path + 6 + len;
	return rundir_is_snapshot(name) ? name : NULL;
}

int sealed_event(struct sealed *s, const char *id, const json_t *event, struct err *err)
{
	struct sealed_file f = {0};
	const char *what = text(event, "event"), *name = NULL, *sha256 = "";

	if (strcmp(what, "run_opened") == 0) {
		name = RUNDIR_RECORD;
		sha256 = text(event, "record_sha256");
	} else if (strcmp(what, "snapshot") == 0) {
		name = own_name(id, text(event, "file"));
		sha256 = text(event, "sha256");
	}
	if (!name || strlen(sha256) != CHAIN_HEX - 1)
		return 0;
	snprintf(f.file.name, sizeof(f.file.name), "%s", name);
	memcpy(f.file.sha256, sha256, CHAIN_HEX);
	json_get_uint(event, "seq", &f.seq, NULL, NULL);
	return VEC_PUSH(&s->files, f) ? 0 : err_nomem(err);
}

void sealed_check(const struct sealed *s, const struct rundir *d, struct journal_verdict *v)
{
	char actual[DIGEST_HEX];

	for (size_t i = 0; i < s->files.n && v->fault == JOURNAL_HOLDS; i++) {
		const struct sealed_file *f = &s->files.v[i];
		struct err why = {0};

		if (digest_file(d->fd, f->file.name, actual, NULL, &why) == 0 &&
		    strcmp(actual, f->file.sha256) == 0)
			continue;
		v->fault = JOURNAL_CHANGED;
		v->line = 0;
		snprintf(v->why, sizeof(v->why),
			 "%s is not what event %" PRIu64 " says it was%s%.80s", f->file.name,
			 f->seq, why.code ? ": " : "", why.text);
	}
}

void sealed_clear(struct sealed *s)
{
	free(s->files.v);
	*s = (struct sealed){0};
}
