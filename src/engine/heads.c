#include "engine/heads.h"

#include "base/clock.h"
#include "base/vec.h"
#include "engine/worker.h"
#include "model/selector.h"
#include "record/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
	const char *event; /* a literal */
	uint64_t seq;
	char hash[CHAIN_HEX];
	enum run_state state;
};

/* What all notes are made with: the worker's. */
struct book {
	struct statedir *state;
	char run[RUN_ID_MAX + 1];
};

struct heads {
	struct worker *worker;
	VEC(struct head *) kept; /* without a thread: until it is closed */
};

static void free_book(void *own)
{
	struct book *b = own;

	statedir_close(b->state);
	free(b);
}

static void note(void *own, void *ctx)
{
	const struct book *b = own;
	const struct head *h = ctx;

	ledger_note(b->state, b->run, h->event, h->seq, h->hash, h->state, true, NULL);
}

int heads_open(const struct statedir *s, const char *run, struct heads **out, struct err *err)
{
	struct heads *h = calloc(1, sizeof(*h));
	struct book *b = calloc(1, sizeof(*b));
	int r = h && b ? statedir_copy(s, &b->state, err) : err_nomem(err);

	if (r < 0) {
		free(b);
	} else {
		snprintf(b->run, sizeof(b->run), "%s", run);
		r = worker_open(b, free_book, &h->worker, err);
	}
	if (r < 0) {
		free(h);
		return r;
	}
	*out = h;
	return 0;
}

static void begin(struct heads *h, struct head *head)
{
	const struct worker_job job = {.run = note, .drop = free, .ctx = head};

	worker_add(h->worker, &job, clock_boot_ns(), NULL);
}

void heads_note(struct heads *h, const char *event, uint64_t seq, const char *hash,
		enum run_state state)
{
	struct head *head = malloc(sizeof(*head));

	if (!head)
		return; /* the next one is of all before it, too */
	*head = (struct head){.event = event, .seq = seq, .state = state};
	memcpy(head->hash, hash, sizeof(head->hash));
	if (!worker_alone(h->worker)->code)
		begin(h, head);
	else if (!VEC_PUSH(&h->kept, head))
		free(head);
}

void heads_close(struct heads *h, uint64_t until_ns)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->kept.n; i++)
		begin(h, h->kept.v[i]);
	free(h->kept.v);
	worker_wait(h->worker, until_ns);
	worker_close(h->worker);
	free(h);
}
