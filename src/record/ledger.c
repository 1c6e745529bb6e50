#include "record/ledger.h"

#include "base/file.h"
#include "base/vec.h"
#include "record/journal.h"

#include <errno.h>
#include <string.h>

/* The first stray here makes it; of two at once one finds it made. */
static int open_or_create(const struct statedir *s, struct journal **out, struct err *err)
{
	int r = journal_open(statedir_fd(s), LEDGER_NAME, LEDGER_SCHEMA, out, NULL);

	if (r == -ENOENT) {
		r = journal_create(statedir_fd(s), LEDGER_NAME, LEDGER_SCHEMA, out, NULL);
		if (!r)
			file_sync(statedir_fd(s)); /* where that fails its lines meet the same */
	}
	if (r < 0)
		r = journal_open(statedir_fd(s), LEDGER_NAME, LEDGER_SCHEMA, out, err);
	return r;
}

int ledger_note(const struct statedir *s, const char *run, const char *event, uint64_t seq,
		const char *head, enum run_state state, bool sync, struct err *err)
{
	struct journal *j;
	struct jw *w;
	int r = open_or_create(s, &j, err);

	if (r < 0)
		return r;
	journal_patience(j, LEDGER_PATIENCE_NS);
	w = journal_begin(j, run, event, KNOWN_SEEN);
	if (w) {
		jw_uint(w, "head_seq", seq);
		jw_str(w, "head", head);
		jw_str(w, "state", run_state_name(state));
	}
	r = journal_commit(j, sync, err);
	journal_close(j);
	return r;
}

struct search {
	const char *run;
	bool pruned; /* it was, and nothing was told of it since */
	struct ledger_heads *out;
};

static int take(void *ctx, const json_t *event, struct err *err)
{
	struct search *s = ctx;
	struct journal_head h = {.from = "the ledger"};
	const char *run = NULL, *head = NULL, *name = NULL;
	int r = json_get_str(event, "run", &run, err);

	if (!r)
		r = json_get_str(event, "event", &name, err);
	if (!r)
		r = json_get_str(event, "head", &head, err);
	if (!r)
		r = json_get_uint(event, "head_seq", &h.seq, NULL, err);
	if (r || !run || !head || strlen(head) != CHAIN_HEX - 1 || strcmp(run, s->run) != 0)
		return r;
	/* the id of one that was removed may come again, and then means another */
	if (s->pruned && name && strcmp(name, "run_opened") == 0)
		s->out->n = 0;
	s->pruned = name && strcmp(name, "run_pruned") == 0;
	memcpy(h.hash, head, CHAIN_HEX);
	return VEC_PUSH(s->out, h) ? 0 : err_nomem(err);
}

int ledger_heads(const struct statedir *s, const char *run, struct ledger_heads *out,
		 struct journal_verdict *verdict, struct err *err)
{
	struct search search = {.run = run, .out = out};
	struct journal_reading reading = {
		.name = LEDGER_NAME, .schema = LEDGER_SCHEMA, .fn = take, .ctx = &search};
	AUTO_FD fd = -1;
	int r = journal_open_read(statedir_fd(s), LEDGER_NAME, &fd, err);

	*out = (struct ledger_heads){0};
	if (!r)
		r = journal_read(fd, &reading, verdict, err);
	if (r < 0) {
		free(out->v);
		*out = (struct ledger_heads){0};
	}
	return r;
}
