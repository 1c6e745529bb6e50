#include "record/report_process.h"

#include "base/clock.h"
#include "model/origin.h"
#include "model/suspect.h"
#include "record/markdown.h"
#include "record/phrase.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define COMMAND_MAX 2000 /* bytes; whole in before.json */
#define PATH_SHOWN_MAX 1000

static void write_gone(FILE *out, const struct report_item *item)
{
	fputs("gone: ", out);
	if (item->died_of) {
		fputs("died of ", out);
		phrase_signal(out, item->died_of);
	} else {
		fputs("what ended it is not known", out);
	}
	if (!item->last_signal)
		return;
	fputs(", ", out);
	phrase_seconds(out, item->after_ns);
	fputs(" after the first signal to it", out);
	if (!item->outlived)
		return;
	fputs("; it had lived through ", out);
	phrase_signal(out, item->outlived);
	if (item->outlived_why)
		fprintf(out, ": %s", phrase_why_alive(item->outlived_why));
}

static int write_why(FILE *out, const struct report_item *item)
{
	const char *words;

	if (!item->why)
		return 0;
	words = item->result == REPORT_NOT_AIMED ? item->why : phrase_why_alive(item->why);
	fputs(": ", out);
	return markdown_text(out, words, strlen(words), 0);
}

static int write_result(FILE *out, const struct report_item *item)
{
	static const char *const words[REPORT_RESULTS] = {
		[REPORT_ALIVE] = "ALIVE",
		[REPORT_FROZEN] = "frozen",
		[REPORT_THAWED] = "thawed",
		[REPORT_NOT_AIMED] = "not aimed at, alive",
		[REPORT_APPEARED] = "appeared since, alive",
	};
	int r = 0;

	if (item->result == REPORT_GONE) {
		write_gone(out, item);
	} else {
		fputs(words[item->result], out);
		r = write_why(out, item);
	}
	if (item->error)
		fprintf(out, " (the signal failed: %s)", strerror(item->error));
	fputs("\n", out);
	return r;
}

static int write_command(FILE *out, const struct process *p)
{
	struct bytes command = {0};
	int r = process_command(p, &command);

	if (!r) {
		fputs("  - command: ", out);
		r = markdown_bytes(out, &command, COMMAND_MAX);
		fputs("\n", out);
	}
	bytes_free(&command);
	return r;
}

static void write_start(FILE *out, const struct process *p, const struct host *h)
{
	char text[CLOCK_RFC3339_MAX];
	uint64_t wall_ns;

	if (!host_started_wall_ns(h, p->id.start, &wall_ns))
		return;
	clock_rfc3339(wall_ns, text);
	fprintf(out, ", started %s", text);
}

static int write_place(FILE *out, const struct process *p, const struct host *h)
{
	static const struct bytes unknown;
	const struct detail *d = p->detail;
	char tty[32];
	int r;

	fputs("  - user ", out);
	r = markdown_bytes(out, d ? &d->user : &unknown, PATH_SHOWN_MAX);
	if (d && d->uid != (uid_t)-1)
		fprintf(out, " (uid %" PRIu32 ")", (uint32_t)d->uid);
	fprintf(out, ", state %c, parent %d, group %d, session %d, terminal %s", p->state,
		(int)p->ppid, (int)p->pgid, (int)p->sid, tty_name(p->tty_nr, tty) ? tty : "none");
	write_start(out, p, h);
	fputs("\n  - executable ", out);
	if (!r)
		r = markdown_bytes(out, d ? &d->exe : &unknown, PATH_SHOWN_MAX);
	fputs(d && d->exe_deleted ? " (deleted), working directory " : ", working directory ", out);
	if (!r)
		r = markdown_bytes(out, d ? &d->cwd : &unknown, PATH_SHOWN_MAX);
	fputs(d && d->cwd_deleted ? " (deleted)\n" : "\n", out);
	return r;
}

/* "label: a, b"; nothing where no bit is set. */
static void write_bits(FILE *out, const char *label, unsigned bits, const char *(*name)(unsigned))
{
	if (!bits)
		return;
	fprintf(out, "  - %s: ", label);
	for (; bits; bits &= bits - 1)
		fprintf(out, "%s%s", name(bits & -bits), bits & (bits - 1) ? ", " : "\n");
}

static int write_origin(FILE *out, const struct process *p)
{
	int r = 0;

	if (p->origin == ORIGIN_UNKNOWN)
		return 0;
	fprintf(out, "  - origin: %s ", origin_kind_name((enum origin_kind)p->origin));
	if (p->origin_name.data)
		r = markdown_bytes(out, &p->origin_name, PATH_SHOWN_MAX);
	fputs("\n", out);
	return r;
}

/* What it could act with. */
static int write_reach(FILE *out, const struct process *p)
{
	const struct detail *d = p->detail;
	int r = 0;

	if (p->remote.data) {
		fputs("  - connected to ", out);
		r = markdown_bytes(out, &p->remote, PATH_SHOWN_MAX);
		if (p->connections > 1)
			fprintf(out, " and %u more", p->connections - 1u);
		fputs("\n", out);
	}
	if (!d || !d->n_secret_names)
		return r;
	fputs("  - names of credentials in its environment at exec:", out);
	for (size_t i = 0; i < d->n_secret_names && !r; i++) {
		fputs(" ", out);
		r = markdown_text(out, d->secret_names[i], strlen(d->secret_names[i]), 0);
	}
	fputs("\n", out);
	return r;
}

static int write_reasons(FILE *out, const struct process *p, const struct run *run)
{
	char flags[7];
	int r = write_origin(out, p);

	if (run) {
		run_flags(run, p, flags);
		fprintf(out, "  - flags: %s\n", flags);
		write_bits(out, "member by", p->evidence, evidence_name);
		write_bits(out, "got away as", run_classes(run, p), class_name);
	}
	write_bits(out, "suspect", p->suspect, suspect_reason);
	write_bits(out, "explained by its origin", p->explained, suspect_reason);
	return r ? r : write_reach(out, p);
}

int report_process(FILE *out, const struct report *r, const struct report_item *item)
{
	const struct process *p = item->process;
	const struct table *t = item->result == REPORT_APPEARED && r->after ? r->after : r->before;
	int ret;

	fprintf(out, "- %d@%" PRIu64 " ", (int)p->id.pid, p->id.start);
	ret = write_result(out, item);
	if (!ret)
		ret = write_command(out, p);
	if (!ret)
		ret = write_place(out, p, &t->host);
	return ret ? ret : write_reasons(out, p, r->run);
}
