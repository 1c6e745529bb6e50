#include "model/run.h"

#include "model/asked.h"
#include "model/pipes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum weight weight;
} evidence[EVIDENCE_COUNT] = {
	{"cgroup", WEIGHT_CERTAIN}, {"fork", WEIGHT_CERTAIN},    {"parent", WEIGHT_CERTAIN},
	{"group", WEIGHT_CERTAIN},  {"session", WEIGHT_CERTAIN}, {"adopted", WEIGHT_CERTAIN},
	{"mark", WEIGHT_LIKELY},    {"pipe", WEIGHT_LIKELY},     {"window", WEIGHT_POSSIBLE},
	{"peer", WEIGHT_POSSIBLE},  {"chosen", WEIGHT_CERTAIN},  {"audit", WEIGHT_CERTAIN},
};

const char *evidence_name(unsigned bit)
{
	return evidence[__builtin_ctz(bit)].name;
}

enum weight evidence_weight(unsigned bits)
{
	enum weight w = WEIGHT_NONE;

	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		if ((bits & 1u << i) && evidence[i].weight > w)
			w = evidence[i].weight;
	return w;
}

void run_clear(struct run *run)
{
	selector_free(&run->chosen);
	bytes_free(&run->cgroup);
	bytes_free(&run->cwd);
	free(run->kept.v);
	free(run->never.v);
	memset(run, 0, sizeof(*run));
}

static int copy_selector(struct selector *to, const struct selector *from)
{
	*to = *from;
	to->name = from->name ? strdup(from->name) : NULL;
	to->value = from->value ? strdup(from->value) : NULL;
	return (from->name && !to->name) || (from->value && !to->value) ? -ENOMEM : 0;
}

/* n elements at v anew; *ok false when out of memory. */
static void *copy_array(const void *v, size_t n, size_t size, bool *ok)
{
	void *copy;

	if (!n)
		return NULL;
	copy = malloc(n * size);
	if (copy)
		memcpy(copy, v, n * size);
	else
		*ok = false;
	return copy;
}

bool run_copy(struct run *to, const struct run *from)
{
	bool ok = true;

	*to = *from;
	to->chosen = (struct selector){0}; /* from's own, until it is copied */
	to->cgroup = to->cwd = (struct bytes){0};
	to->kept.v = copy_array(from->kept.v, from->kept.n, sizeof(*from->kept.v), &ok);
	to->never.v = copy_array(from->never.v, from->never.n, sizeof(*from->never.v), &ok);
	to->kept.cap = to->kept.n = ok ? from->kept.n : 0;
	to->never.cap = to->never.n = ok ? from->never.n : 0;
	if (ok && copy_selector(&to->chosen, &from->chosen) == 0 &&
	    (!from->cgroup.data || bytes_set(&to->cgroup, from->cgroup.data, from->cgroup.len)) &&
	    (!from->cwd.data || bytes_set(&to->cwd, from->cwd.data, from->cwd.len)))
		return true;
	run_clear(to);
	return false;
}

/* The oldest living process that the target names: what the others are measured by. */
static const struct process *oldest(const struct selector *target, const struct table *t)
{
	const struct process *best = NULL;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (process_is_dead(p) || process_is_kthread(p) || !selector_matches(target, p))
			continue;
		if (!best || p->id.start < best->id.start)
			best = p;
	}
	return best;
}

static void set_reference(struct run *run, const struct selector *target, const struct table *t,
			  const struct process *first)
{
	const struct process *leader;

	run->root = first->id;
	run->pgid = first->pgid;
	run->sid = first->sid;
	switch (target->kind) {
	case SELECT_PID:
		run->owns_pgid = first->pgid == first->id.pid;
		run->owns_sid = first->sid == first->id.pid;
		snprintf(run->id, sizeof(run->id), "process %d", first->id.pid);
		break;
	case SELECT_GROUP:
		run->owns_pgid = true;
		leader = table_pid(t, first->pgid);
		if (leader && leader->pgid != first->pgid)
			leader = NULL; /* it left the group, which keeps its number */
		run->root = leader ? leader->id : (struct identity){0};
		snprintf(run->id, sizeof(run->id), "group %d", first->pgid);
		break;
	case SELECT_SESSION:
		run->owns_sid = true;
		leader = table_pid(t, first->sid);
		run->root = leader ? leader->id : (struct identity){0};
		run->pgid = first->sid;
		snprintf(run->id, sizeof(run->id), "session %d", first->sid);
		break;
	default:
		selector_text(target, run->id, sizeof(run->id));
		break;
	}
}

/* A group or session was led by its root: without one that has ended, nobody saw when. */
static void note_leader_gone(struct run *run, const struct selector *target, const struct table *t)
{
	const struct process *root = table_find(t, run->root);
	bool led = target->kind == SELECT_GROUP || target->kind == SELECT_SESSION;

	if (!led || !table_shows_all(t) || (root && !process_is_dead(root)))
		return;
	run->over_ticks = host_now_ticks(&t->host);
	run->over_before = true;
}

void run_note_end(struct run *run, const struct table *t)
{
	const struct process *root = table_find(t, run->root);

	if (identity_known(run->root) && !run->over_ticks && (!root || process_is_dead(root)))
		run->over_ticks = host_now_ticks(&t->host);
}

static struct identity holder(const struct table *t, pid_t number)
{
	const struct process *p = table_pid(t, number);

	return p ? p->id : (struct identity){0};
}

int run_choose(struct run *run, const struct selector *target, const struct table *t,
	       struct err *err)
{
	const struct process *first = oldest(target, t);
	const struct detail *d = first ? first->detail : NULL;
	char text[128];

	memset(run, 0, sizeof(*run));
	if (!first) {
		selector_text(target, text, sizeof(text));
		return err_set(err, ESRCH, "%s: nothing alive matches", text);
	}
	if (copy_selector(&run->chosen, target) < 0)
		goto nomem;
	set_reference(run, target, t, first);
	note_leader_gone(run, target, t);
	run->pgid_holder = holder(t, run->pgid);
	run->sid_holder = holder(t, run->sid);
	run->uid = d ? d->uid : (uid_t)-1;
	run->since_ticks = first->id.start;
	if (d && d->cwd.data && !bytes_set(&run->cwd, d->cwd.data, d->cwd.len))
		goto nomem;
	if (target->kind == SELECT_CGROUP &&
	    !bytes_set(&run->cgroup, target->name, strlen(target->name)))
		goto nomem;
	return 0;
nomem:
	run_clear(run);
	return err_nomem(err);
}

bool run_is_own(const struct table *t, const struct process *p)
{
	const struct process *q = table_find(t, t->host.self);

	for (size_t steps = 0; q && steps < t->procs.n; steps++) {
		if (q == p)
			return true;
		q = table_pid(t, q->ppid);
	}
	return false;
}

bool *run_own(const struct table *t)
{
	bool *own = calloc(t->procs.n + 1, sizeof(*own));
	const struct process *q = table_find(t, t->host.self);

	while (own && q && !own[q - t->procs.v]) {
		own[q - t->procs.v] = true;
		q = table_pid(t, q->ppid);
	}
	return own;
}

static int kept_order(const void *a, const void *b)
{
	return identity_order(&((const struct run_kept *)a)->id, &((const struct run_kept *)b)->id);
}

void run_keep_sort(struct run *run)
{
	if (run->kept.n)
		qsort(run->kept.v, run->kept.n, sizeof(*run->kept.v), kept_order);
}

/* The evidence that the run's journal has of p. */
static unsigned kept_evidence(const struct run *run, const struct process *p)
{
	const struct run_kept key = {.id = p->id}, *k = NULL;

	if (run->kept.n)
		k = bsearch(&key, run->kept.v, run->kept.n, sizeof(key), kept_order);
	return k ? k->evidence : 0;
}

static bool asked_for_it(const struct run *run, const struct process *p)
{
	for (size_t i = 0; i < run->never.n; i++)
		if (identity_same(run->never.v[i], p->id))
			return true;
	return false;
}

static unsigned direct_evidence(const struct run *run, const struct table *t,
				const struct process *p)
{
	unsigned bits = kept_evidence(run, p);

	if (identity_known(run->root) && identity_same(run->root, p->id))
		bits |= EVIDENCE_ROOT;
	if (run->owns_pgid && p->pgid == run->pgid)
		bits |= EVIDENCE_GROUP;
	if (run->owns_sid && p->sid == run->sid)
		bits |= EVIDENCE_SESSION;
	if (pipes_evidence(run, t, p))
		bits |= EVIDENCE_PIPE;
	if (run->cgroup.data && selector_in_cgroup(p, run->cgroup.data))
		bits |= EVIDENCE_CGROUP;
	switch (run->chosen.kind) {
	case SELECT_AUDIT:
		bits |= selector_matches(&run->chosen, p) ? EVIDENCE_AUDIT : 0;
		break;
	case SELECT_ENV:
		bits |= selector_matches(&run->chosen, p) ? EVIDENCE_MARK : 0;
		break;
	default:
		break;
	}
	return bits;
}

static bool cwd_below(const struct run *run, const struct process *p)
{
	const struct bytes *cwd = p->detail ? &p->detail->cwd : NULL;
	size_t n = run->cwd.len;

	if (!run->cwd.data || n < 2 || !cwd || !cwd->data || cwd->len < n) /* "/" tells nothing */
		return false;
	return memcmp(cwd->data, run->cwd.data, n) == 0 && (cwd->len == n || cwd->data[n] == '/');
}

/* Started while the run was there, same user, below its directory, and no one's child now. */
static bool in_window(const struct run *run, const struct process *p)
{
	return p->id.start >= run->since_ticks &&
	       (!run->over_ticks || p->id.start <= run->over_ticks) && p->detail &&
	       run->uid != (uid_t)-1 && p->detail->uid == run->uid && cwd_below(run, p) &&
	       (p->reparented != KNOWN_NOT || p->reparent_possible);
}

/* A member's children are members, from the top down. */
static void judge_children(struct table *t, const struct family *f, const bool *own)
{
	for (size_t k = 0; k < f->n; k++) {
		uint32_t i = f->order[k], parent = f->parent[i];
		struct process *p = &t->procs.v[i];

		if (parent != FAMILY_NONE && !own[i] && !process_is_kthread(p) &&
		    run_is_member(&t->procs.v[parent]))
			p->evidence |= EVIDENCE_PARENT;
	}
}

/*
 * PIDs come round in less than a minute on a busy host (pid_max 32768), so a
 * number none of whose known owners is left after this long may be another's.
 */
#define NUMBER_REUSE_NS 10000000000ull

/*
 * Whether a PGID or SID is the run's still.  The kernel gives no PID that is the
 * number of a living group or session: where one with that PID came, or where
 * nobody was seen in it, the run's group is gone and the number is free for
 * others.  A chain of forks may have replaced all members since the last look.
 */
static bool keeps_number(const struct run *run, const struct table *t, pid_t number,
			 struct identity holder, bool session)
{
	const struct process *p = table_pid(t, number);
	bool anyone = false, member = false;

	if (p && !identity_same(p->id, holder))
		return false;
	for (size_t i = 0; i < t->procs.n && !member; i++) {
		p = &t->procs.v[i];
		if ((session ? p->sid : p->pgid) != number)
			continue;
		anyone = true;
		member = run_is_member(p);
	}
	return member ||
	       (anyone && (!run->judged_ns || t->host.boot_ns - run->judged_ns < NUMBER_REUSE_NS));
}

int run_judge(struct run *run, struct table *t, const struct family *f)
{
	bool *own = run_own(t);

	if (!own)
		return -ENOMEM;
	run->owns_pgid = run->owns_pgid && keeps_number(run, t, run->pgid, run->pgid_holder, false);
	run->owns_sid = run->owns_sid && keeps_number(run, t, run->sid, run->sid_holder, true);
	run->judged_ns = t->host.boot_ns;
	pipes_judge(run, t);
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		own[i] = own[i] || p->id.pid == 1 || asked_for_it(run, p);
		if (own[i] || process_is_kthread(p))
			p->evidence = 0;
		else
			p->evidence |= (uint16_t)direct_evidence(run, t, p);
	}
	judge_children(t, f, own);
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (own[i] || process_is_kthread(p) || run_is_member(p))
			continue;
		if (in_window(run, p))
			p->evidence |= EVIDENCE_WINDOW;
		if (asked_evidence(run, t, p))
			p->evidence |= EVIDENCE_PEER;
	}
	free(own);
	return 0;
}

/* Programs that pass work on to something that is no descendant of theirs. */
bool run_hands_off(const struct process *p)
{
	static const char *const names[] = {
		"ssh",     "docker",     "podman",       "kubectl", "systemd-run",
		"at",      "batch",      "tmux: client", "tmux",    "screen",
		"nerdctl", "machinectl", "mosh-client",
	};

	for (size_t i = 0; p->detail && i < sizeof(names) / sizeof(names[0]); i++)
		if (bytes_is(&p->detail->comm, names[i]))
			return true;
	return false;
}

bool run_left_cgroup(const struct run *run, const struct process *p)
{
	return run->cgroup.data && p->detail && p->detail->cgroup.data &&
	       !selector_in_cgroup(p, run->cgroup.data);
}

static char moved_flag(const struct run *run, const struct process *p)
{
	if (run_left_cgroup(run, p))
		return 'C';
	if (run->sid && p->sid != run->sid)
		return 'S';
	if (run->pgid && p->pgid != run->pgid)
		return 'G';
	return '-';
}

void run_flags(const struct run *run, const struct process *p, char out[static 7])
{
	memcpy(out, "------", 7);
	if (p->reparented >= KNOWN_SCANNED)
		out[0] = 'R';
	else if (p->reparented == KNOWN_PRESUMED)
		out[0] = 'r';
	if (run && p->evidence)
		out[1] = moved_flag(run, p);
	if (run_hands_off(p))
		out[2] = 'H';
	if (run && p->evidence && run->over_ticks && p->id.start > run->over_ticks)
		out[3] = 'L';
	if (p->survived)
		out[4] = 'X';
	else if (p->state && strchr("ZDTt", p->state))
		out[4] = p->state;
	if (p->connections)
		out[5] = 'A';
	else if (p->detail && p->detail->n_secret_names)
		out[5] = 'a';
	if (evidence_weight(p->evidence) == WEIGHT_POSSIBLE)
		out[5] = '?';
}

const char *class_name(unsigned bit)
{
	static const char *const names[CLASS_COUNT] = {"left", "survived", "detached", "handed_off",
						       "authority"};

	return names[__builtin_ctz(bit)];
}

unsigned run_classes(const struct run *run, const struct process *p)
{
	unsigned c = 0;

	if (p->survived)
		c |= CLASS_SURVIVED;
	if (run && p->evidence && moved_flag(run, p) != '-')
		c |= CLASS_DETACHED;
	if (run_hands_off(p) || (run && p->evidence == EVIDENCE_MARK && run->recorded))
		c |= CLASS_HANDED_OFF; /* a mark, and no descendant: asked for */
	if (p->connections || (p->detail && p->detail->n_secret_names))
		c |= CLASS_AUTHORITY;
	if (!(c & (CLASS_SURVIVED | CLASS_DETACHED)))
		c |= CLASS_LEFT;
	return c;
}
