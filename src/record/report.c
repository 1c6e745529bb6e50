#include "record/report.h"

#include "base/clock.h"
#include "record/markdown.h"
#include "record/phrase.h"
#include "record/report_process.h"

#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define VALUE_MAX 500 /* bytes of a value that changed; whole in diff.json */

static size_t count(const struct report *r, enum report_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_items; i++)
		n += r->items[i].result == result;
	return n;
}

static void write_outcome(FILE *out, const struct report *r)
{
	size_t aimed = r->intent->n_aimed;

	fprintf(out, "**%zu of %zu gone", count(r, REPORT_GONE), aimed);
	if (count(r, REPORT_FROZEN))
		fprintf(out, ", %zu frozen", count(r, REPORT_FROZEN));
	if (count(r, REPORT_THAWED))
		fprintf(out, ", %zu thawed", count(r, REPORT_THAWED));
	fprintf(out, ", %zu alive, %zu appeared since, %zu not aimed at.**\n",
		count(r, REPORT_ALIVE), count(r, REPORT_APPEARED), count(r, REPORT_NOT_AIMED));
	if (!r->after)
		fputs("\nThere was no look afterwards: what became of them is not known.\n", out);
}

static int write_operator(FILE *out, const struct operator* o)
{
	int r;

	fputs("- Operator: ", out);
	r = phrase_operator(out, o);
	fputs("\n", out);
	return r;
}

static void write_plan(FILE *out, const struct intent *i)
{
	fputs("- Planned: ", out);
	if (i->freeze_first)
		fputs("stop all of it, then ", out);
	for (size_t k = 0; k < i->n_signals; k++) {
		if (k) {
			fputs(", after ", out);
			phrase_seconds(out, i->grace_ns);
			fputs(" ", out);
		}
		phrase_signal(out, i->signals[k]);
	}
	fprintf(out, "%s to %zu\n", i->n_signals ? "" : i->kind, i->n_aimed);
}

static int write_host(FILE *out, const struct host *h)
{
	int r = phrase_item(out, "Host", h->hostname);

	if (!r)
		r = phrase_item(out, "Kernel", h->kernel);
	if (!r)
		r = phrase_item(out, "Boot", h->boot_id);
	if (h->pid_ns)
		fprintf(out, "- PID namespace: %" PRIu64 "%s\n", h->pid_ns,
			h->pid_ns_initial ? ", the initial one" : "");
	return r;
}

static int write_head(FILE *out, const struct report *r)
{
	const struct intent *i = r->intent;
	int ret;

	fputs("# ", out);
	ret = phrase_text(out, i->title);
	fputs("\n\n", out);
	write_outcome(out, r);
	fputs("\n", out);
	if (!ret)
		ret = phrase_item(out, "NOT RECORDED", r->missing);
	if (!ret)
		ret = phrase_item(out, "Target as it was named", i->target);
	write_plan(out, i);
	fputs("- Decided: ", out);
	phrase_time(out, i->wall_ns);
	fputs("\n- Looked at last: ", out);
	phrase_time(out, r->ended_wall_ns);
	fputs("\n", out);
	if (!ret)
		ret = write_operator(out, &i->operator);
	if (!ret)
		ret = write_host(out, &r->before->host);
	fprintf(out,
		"- Written by: stray %s\n\n"
		"A process is written PID@START, its start in clock ticks (%ld a second) since "
		"boot: a PID alone may name another later.\n",
		PACKAGE_VERSION, r->before->host.ticks_per_second);
	return ret;
}

static int write_signals(FILE *out, const struct report *r)
{
	int ret = 0;

	fputs("\n## Signals\n\n", out);
	if (!r->n_signals)
		fputs("None was sent.\n", out);
	for (size_t i = 0; i < r->n_signals && !ret; i++) {
		const struct report_signal *s = &r->signals[i];

		fputs("- ", out);
		phrase_time(out, s->wall_ns);
		fputs(" ", out);
		phrase_signal(out, s->signal);
		fputs(" to ", out);
		ret = phrase_text(out, s->to);
		if (s->error)
			fprintf(out, ": failed, %s\n", strerror(s->error));
		else
			fprintf(out, ": sent to %zu\n", s->reached);
	}
	fputs("\nA signal that was sent and a death that was seen are two things: "
	      "a death after a signal is not thereby of that signal.\n",
	      out);
	return ret;
}

static int write_section(FILE *out, const struct report *r, const char *title,
			 const enum report_result *results, size_t n_results, const char *none)
{
	size_t written = 0;
	int ret = 0;

	fprintf(out, "\n## %s\n\n", title);
	for (size_t k = 0; k < n_results; k++)
		for (size_t i = 0; i < r->n_items && !ret; i++) {
			if (r->items[i].result != results[k])
				continue;
			ret = report_process(out, r, &r->items[i]);
			written++;
		}
	if (!written)
		fprintf(out, "%s\n", none);
	return ret;
}

static int write_processes(FILE *out, const struct report *r)
{
	static const enum report_result aimed[] = {REPORT_ALIVE, REPORT_FROZEN, REPORT_THAWED,
						   REPORT_GONE};
	static const enum report_result spared[] = {REPORT_NOT_AIMED};
	static const enum report_result appeared[] = {REPORT_APPEARED};
	int ret = write_section(out, r, "Aimed at", aimed, 4, "None.");

	if (!ret)
		ret = write_section(out, r, "Not aimed at", spared, 1,
				    "No other member was known.");
	if (!ret)
		ret = write_section(out, r, "Appeared since", appeared, 1, "None was seen.");
	return ret;
}

static int write_value(FILE *out, const struct process *p, int field)
{
	const struct detail *d = p->detail;
	struct bytes command = {0};
	char tty[32];
	int r = 0;

	switch (field) {
	case DIFF_PPID:
		fprintf(out, "%d", (int)p->ppid);
		break;
	case DIFF_PGID:
		fprintf(out, "%d", (int)p->pgid);
		break;
	case DIFF_SID:
		fprintf(out, "%d", (int)p->sid);
		break;
	case DIFF_TTY:
		fputs(tty_name(p->tty_nr, tty) ? tty : "none", out);
		break;
	case DIFF_EXE:
		return markdown_bytes(out, &d->exe, VALUE_MAX);
	case DIFF_ARGS:
		r = process_command(p, &command);
		if (!r)
			r = markdown_bytes(out, &command, VALUE_MAX);
		bytes_free(&command);
		break;
	case DIFF_CWD:
		return markdown_bytes(out, &d->cwd, VALUE_MAX);
	case DIFF_UID:
		fprintf(out, "%" PRIu32, (uint32_t)d->uid);
		break;
	case DIFF_CGROUP:
		return markdown_bytes(out, &d->cgroup, VALUE_MAX);
	case DIFF_STATE:
		fputc(p->state, out);
		break;
	}
	return r;
}

static int write_change(FILE *out, const struct diff_pair *change)
{
	int r = 0;

	for (int field = 0; field < DIFF_FIELDS && !r; field++) {
		if (!(change->fields & 1u << field))
			continue;
		fprintf(out, "- %d@%" PRIu64 " %s: ", (int)change->before->id.pid,
			change->before->id.start, diff_field_name(field));
		r = write_value(out, change->before, field);
		fputs(" → ", out);
		if (!r)
			r = write_value(out, change->after, field);
		fputs("\n", out);
	}
	return r;
}

static int write_diff(FILE *out, const struct diff *d)
{
	int r = 0;

	if (!d)
		return 0;
	fprintf(out,
		"\n## Before and after\n\n"
		"- %zu went, %zu came, %zu changed, %zu went and came back, %zu stayed the same\n",
		d->removed.n, d->added.n, d->changed.n, d->restarted.n, d->same);
	for (size_t i = 0; i < d->changed.n && !r; i++)
		r = write_change(out, &d->changed.v[i]);
	for (size_t i = 0; i < d->restarted.n; i++)
		fprintf(out, "- %d@%" PRIu64 " came back as %d@%" PRIu64 "\n",
			(int)d->restarted.v[i].before->id.pid, d->restarted.v[i].before->id.start,
			(int)d->restarted.v[i].after->id.pid, d->restarted.v[i].after->id.start);
	if (d->restricted)
		fprintf(out, "- elsewhere on the host: +%zu -%zu\n", d->elsewhere_added,
			d->elsewhere_removed);
	return r;
}

static void write_sources(FILE *out, const struct coverage *c)
{
	bool events = c->sources & (1u << SOURCE_NETLINK | 1u << SOURCE_BPF);

	fputs("- Sources:", out);
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (c->sources & 1u << i)
			fprintf(out, " %s", source_kind_name(i));
	if (events)
		fprintf(out, "; events lost: %" PRIu64 "\n", c->events_lost);
	else
		fputs("; no events: what lived only between two looks was not seen\n", out);
	fputs("- What ended before ", out);
	phrase_time(out, c->first_scan_wall_ns);
	fputs(" is not known\n", out);
}

static void write_unreadable(FILE *out, const struct coverage *c)
{
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (c->unreadable[i])
			fprintf(out, "- %s: not readable for %u of all processes\n",
				detail_name(1u << i), c->unreadable[i]);
	if (c->hidepid)
		fputs("- /proc hides other users' processes from this user (hidepid)\n", out);
	if (c->skipped)
		fprintf(out, "- %u reads were given up because they hung\n", c->skipped);
	if (c->vanished)
		fprintf(out, "- %u processes ended while they were read\n", c->vanished);
}

static void write_coverage(FILE *out, const struct table *t)
{
	fputs("\n## Not known\n\n", out);
	write_sources(out, &t->coverage);
	write_unreadable(out, &t->coverage);
	if (!t->host.pid_ns_initial)
		fputs("- Seen from within a PID namespace: what is outside it is not visible\n",
		      out);
	fputs("- The environment is as it was at exec: a name that is absent proves nothing\n"
	      "- What is known to carry a secret by its form is replaced by \\*\\*\\* in command "
	      "lines; values of the environment are never written. That is a courtesy, no proof "
	      "that nothing secret is in here\n",
	      out);
}

static void write_files(FILE *out, const struct report_file *files, size_t n)
{
	fputs("\n## Files\n\nSHA-256 of the files in this directory:\n\n", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "    %s  %s\n", files[i].sha256, files[i].name);
	fputs("\nTo check them, in this directory:\n\n"
	      "    sed -n 's/^    //p' record.md | grep -E '^[0-9a-f]{64}  ' | sha256sum -c\n\n"
	      "That shows a file that was changed after this one was written. Whoever can write "
	      "here can change both: keep this page's own SHA-256 elsewhere.\n",
	      out);
}

int report_write(FILE *out, const struct report *r, const struct report_file *files, size_t n_files,
		 struct err *err)
{
	int ret = write_head(out, r);

	if (!ret)
		ret = write_signals(out, r);
	if (!ret)
		ret = write_processes(out, r);
	if (!ret)
		ret = write_diff(out, r->diff);
	if (ret < 0)
		return err_nomem(err);
	write_coverage(out, r->after ? r->after : r->before);
	write_files(out, files, n_files);
	return 0;
}
