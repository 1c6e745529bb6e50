#include "model/pipes.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>

/*
 * PIDs are given in ascending order and come round (pid_max is 32768 at least,
 * by default): of two of one clock tick the higher is the younger, unless it is
 * so much higher that the other was given after a round.
 */
#define PIDS_OF_ONE_TICK 16384

static bool started_after(struct identity p, struct identity root)
{
	if (p.start != root.start)
		return p.start > root.start;
	return p.pid > root.pid && p.pid - root.pid < PIDS_OF_ONE_TICK;
}

static bool has_facts(const struct run *run, const struct table *t)
{
	return run->ends_asked && !run->ends_error && identity_known(run->root) &&
	       identity_same(t->ends_of, run->root);
}

static bool is_asked(const struct process *p)
{
	return !process_is_kthread(p) && !process_is_dead(p);
}

static unsigned wanted(const struct run *run)
{
	unsigned bits = 0;

	for (int i = 0; i < RUN_ENDS; i++)
		bits |= run->ends[i].inode ? 1u << i : 0;
	return bits;
}

/*
 * The bits that the root's parent speaks for: what the root holds came to it
 * through its parent, so if that lives, can be read and does not hold an end, it
 * made the pipe for the root, whatever the unreadable hold.
 */
static unsigned vouched(const struct run *run, const struct table *t)
{
	const struct process *root = table_find(t, run->root);
	const struct process *parent = root ? table_pid(t, root->ppid) : NULL;

	if (!parent || root->reparented != KNOWN_NOT || root->reparent_possible ||
	    !parent->ends_known || parent->ends_error)
		return 0;
	return ~(unsigned)parent->ends;
}

/* Decided once: an older holder that exits later has still shared the end with others. */
static void judge_ends(struct run *run, const struct table *t)
{
	unsigned own = wanted(run), unsure;

	run->ends_unread_old = 0;
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (!is_asked(p) || identity_same(p->id, run->root) ||
		    started_after(p->id, run->root))
			continue;
		if (p->ends_known && !p->ends_error)
			own &= ~(unsigned)p->ends;
		else
			run->ends_unread_old++;
	}
	unsure = run->ends_unread_old || !table_shows_all(t) ? own & ~vouched(run, t) : 0;
	run->ends_own = (uint8_t)(own & ~unsure);
	run->ends_unsure = (uint8_t)unsure;
	run->ends_judged = true;
}

void pipes_judge(struct run *run, const struct table *t)
{
	if (!has_facts(run, t))
		return;
	if (!run->ends_judged)
		judge_ends(run, t);
	run->ends_unread_new = 0;
	for (size_t i = 0; i < t->procs.n && run->ends_own; i++) {
		const struct process *p = &t->procs.v[i];

		if (is_asked(p) && started_after(p->id, run->root))
			run->ends_unread_new += !p->ends_known || p->ends_error;
	}
}

bool pipes_evidence(const struct run *run, const struct table *t, const struct process *p)
{
	return has_facts(run, t) && (p->ends & run->ends_own) && is_asked(p) &&
	       started_after(p->id, run->root);
}

unsigned pipes_peer(const struct run *run, const struct table *t, const struct process *p)
{
	return has_facts(run, t) ? p->ends >> RUN_ENDS & wanted(run) : 0;
}

const char *pipes_name(int descriptor)
{
	static const char *const names[RUN_ENDS] = {"stdin", "stdout", "stderr"};

	return names[descriptor];
}

void pipes_words(unsigned bits, char out[static PIPES_WORDS_MAX])
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < RUN_ENDS; i++)
		if (bits & 1u << i)
			used += (size_t)snprintf(out + used, PIPES_WORDS_MAX - used, "%s%s",
						 used ? ", " : "", pipes_name(i));
}

bool pipes_unknown(const struct run *run, char *out, size_t size)
{
	if (!run->ends_asked)
		return false;
	if (!identity_known(run->root))
		snprintf(out, size, "who else holds the run's pipes: its root is gone");
	else if (run->ends_error == ESRCH)
		snprintf(out, size, "who else holds the run's pipes: its root %d has ended",
			 run->root.pid);
	else if (run->ends_error)
		snprintf(out, size, "the run's pipes: descriptors of %d not readable (%s)",
			 run->root.pid, err_name(run->ends_error));
	else if (run->ends_unsure)
		snprintf(out, size,
			 "whether the run's pipes are its own: descriptors of %u older processes "
			 "not readable",
			 run->ends_unread_old);
	else if (run->ends_unread_new)
		snprintf(out, size,
			 "who else holds the run's pipes: descriptors of %u %s not readable",
			 run->ends_unread_new, run->ends_unread_new == 1 ? "process" : "processes");
	else
		return false;
	return true;
}
