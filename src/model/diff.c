#include "model/diff.h"

#include "base/clock.h"

#include <errno.h>

#define USER_HZ 100 /* of every architecture but alpha: include/asm-generic/param.h */

/* What one comparison needs besides its result. */
struct work {
	struct diff *out;
	struct identity *members; /* owned, sorted; NULL: all */
	size_t n_members;
	struct diff_list else_added; /* not members: restarts of members are looked for in it */
};

const char *diff_field_name(int field)
{
	static const char *const names[DIFF_FIELDS] = {"ppid", "pgid", "sid", "tty",    "exe",
						       "args", "cwd",  "uid", "cgroup", "state"};

	return field >= 0 && field < DIFF_FIELDS ? names[field] : "?";
}

char diff_state(char state)
{
	return state && strchr("SRDI", state) ? 'S' : state;
}

static size_t args_len(const struct bytes *args)
{
	return args->len && !args->data[args->len - 1] ? args->len - 1 : args->len;
}

bool diff_same_args(const struct bytes *a, const struct bytes *b)
{
	size_t len = args_len(a);

	/* no argument at all, and one empty argument */
	if (!a->len != !b->len)
		return false;
	return len == args_len(b) && memcmp(a->data, b->data, len) == 0;
}

static bool bytes_differ(const struct bytes *a, const struct bytes *b)
{
	return a->data && b->data && !bytes_same(a, b);
}

static bool pid_differs(pid_t a, pid_t b)
{
	return a >= 0 && b >= 0 && a != b;
}

static unsigned diff_details(const struct detail *a, const struct detail *b)
{
	unsigned fields = 0;

	if (a == b || !a || !b)
		return 0;
	if (bytes_differ(&a->exe, &b->exe))
		fields |= 1u << DIFF_EXE;
	if (a->cmdline.data && b->cmdline.data && !diff_same_args(&a->cmdline, &b->cmdline))
		fields |= 1u << DIFF_ARGS;
	if (bytes_differ(&a->cwd, &b->cwd))
		fields |= 1u << DIFF_CWD;
	if (a->uid != (uid_t)-1 && b->uid != (uid_t)-1 && a->uid != b->uid)
		fields |= 1u << DIFF_UID;
	if (bytes_differ(&a->cgroup, &b->cgroup))
		fields |= 1u << DIFF_CGROUP;
	return fields;
}

unsigned diff_process(const struct process *before, const struct process *after)
{
	unsigned fields = diff_details(before->detail, after->detail);

	if (pid_differs(before->ppid, after->ppid))
		fields |= 1u << DIFF_PPID;
	if (pid_differs(before->pgid, after->pgid))
		fields |= 1u << DIFF_PGID;
	if (pid_differs(before->sid, after->sid))
		fields |= 1u << DIFF_SID;
	if (before->tty_nr != after->tty_nr)
		fields |= 1u << DIFF_TTY;
	if (before->state && after->state && diff_state(before->state) != diff_state(after->state))
		fields |= 1u << DIFF_STATE;
	return fields;
}

static bool is_member(const struct work *w, const struct process *p)
{
	return !w->members ||
	       bsearch(&p->id, w->members, w->n_members, sizeof(*w->members), identity_order);
}

static bool is_taker(const struct diff *d, const struct process *p)
{
	return identity_same(p->id, d->before->host.self) ||
	       identity_same(p->id, d->after->host.self);
}

/* Whether p started in or after the tick in which BEFORE was taken.  A table of
 * the whole host needs no such question: what is not in it was not there. */
static bool is_news(const struct diff *d, const struct process *p)
{
	const struct host *h = &d->before->host;
	uint64_t ticks = h->ticks_per_second > 0 ? (uint64_t)h->ticks_per_second : USER_HZ;

	return !d->before->coverage.partial || p->id.start >= h->boot_ns / (CLOCK_NS_PER_S / ticks);
}

static bool went(struct work *w, const struct process *p)
{
	struct diff *d = w->out;

	if (process_is_kthread(p)) {
		d->kthreads_before++;
		return true;
	}
	if (is_taker(d, p))
		return true;
	if (is_member(w, p))
		return VEC_PUSH(&d->removed, p);
	d->elsewhere_removed++;
	return true;
}

static bool came(struct work *w, const struct process *p)
{
	struct diff *d = w->out;

	if (process_is_kthread(p)) {
		d->kthreads_after++;
		return true;
	}
	if (is_taker(d, p) || !is_news(d, p))
		return true;
	if (is_member(w, p))
		return VEC_PUSH(&d->added, p);
	d->elsewhere_added++;
	return VEC_PUSH(&w->else_added, p);
}

static bool stayed(struct work *w, const struct process *a, const struct process *b)
{
	struct diff *d = w->out;
	struct diff_pair pair = {a, b, 0};

	if (process_is_kthread(a) || process_is_kthread(b)) {
		d->kthreads_before++;
		d->kthreads_after++;
		return true;
	}
	if (is_taker(d, a) || !is_member(w, a))
		return true;
	pair.fields = diff_process(a, b);
	if (pair.fields)
		return VEC_PUSH(&d->changed, pair);
	d->same++;
	return true;
}

/* Both tables are sorted by pid: one walk down each. */
static bool walk(struct work *w)
{
	const struct table *before = w->out->before, *after = w->out->after;
	size_t i = 0, k = 0;

	while (i < before->procs.n || k < after->procs.n) {
		bool has_a = i < before->procs.n, has_b = k < after->procs.n, ok;
		const struct process *a = has_a ? &before->procs.v[i] : NULL;
		const struct process *b = has_b ? &after->procs.v[k] : NULL;

		if (has_a && has_b && identity_same(a->id, b->id)) {
			ok = stayed(w, a, b);
			i++, k++;
		} else if (has_a && (!has_b || a->id.pid <= b->id.pid)) {
			ok = went(w, a);
			i++;
		} else {
			ok = came(w, b);
			k++;
		}
		if (!ok)
			return false;
	}
	return true;
}

/* Whether enough is known of p to recognise it when it comes again. */
static bool is_recognisable(const struct process *p)
{
	const struct detail *d = p->detail;

	return d && d->exe.data && d->cwd.data && d->cmdline.data;
}

static int compare_bytes(const struct bytes *a, const struct bytes *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->data, b->data, a->len);
}

/* 0: the same program, in the same place, with the same arguments. */
static int compare_work(const struct process *a, const struct process *b)
{
	const struct detail *x = a->detail, *y = b->detail;
	int r = compare_bytes(&x->exe, &y->exe);

	if (!r)
		r = compare_bytes(&x->cwd, &y->cwd);
	if (!r)
		r = (x->cmdline_total > y->cmdline_total) - (x->cmdline_total < y->cmdline_total);
	return r ? r : compare_bytes(&x->cmdline, &y->cmdline);
}

/* Recognisable ones first, the same work together, oldest first. */
static int by_work(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;
	bool known_x = is_recognisable(x), known_y = is_recognisable(y);
	int r;

	if (known_x != known_y)
		return known_x ? -1 : 1;
	r = known_x ? compare_work(x, y) : 0;
	if (!r)
		r = (x->id.start > y->id.start) - (x->id.start < y->id.start);
	return r ? r : identity_order(&x->id, &y->id);
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;

	return identity_order(&x->id, &y->id);
}

static int by_before(const void *a, const void *b)
{
	const struct diff_pair *x = a, *y = b;

	return identity_order(&x->before->id, &y->before->id);
}

static void sort(struct diff_list *list, int (*order)(const void *, const void *))
{
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), order);
}

/* Moves the pairs that match out of both lists.  Leaves the lists in by_work order. */
static bool match_restarts(struct diff_list *gone, struct diff_list *fresh, struct diff_pairs *out)
{
	size_t i = 0, k = 0, kept_gone = 0, kept_fresh = 0;

	sort(gone, by_work);
	sort(fresh, by_work);
	while (i < gone->n && k < fresh->n && is_recognisable(gone->v[i]) &&
	       is_recognisable(fresh->v[k])) {
		struct diff_pair pair = {gone->v[i], fresh->v[k], 0};
		int r = compare_work(pair.before, pair.after);

		if (r < 0) {
			gone->v[kept_gone++] = gone->v[i++];
		} else if (r > 0) {
			fresh->v[kept_fresh++] = fresh->v[k++];
		} else {
			if (!VEC_PUSH(out, pair))
				return false;
			i++, k++;
		}
	}
	while (i < gone->n)
		gone->v[kept_gone++] = gone->v[i++];
	while (k < fresh->n)
		fresh->v[kept_fresh++] = fresh->v[k++];
	gone->n = kept_gone;
	fresh->n = kept_fresh;
	return true;
}

/* A member that comes back need not be a member again: that is looked for last. */
static bool find_restarts(struct work *w)
{
	struct diff *d = w->out;

	if (!match_restarts(&d->removed, &d->added, &d->restarted) ||
	    !match_restarts(&d->removed, &w->else_added, &d->restarted))
		return false;
	d->elsewhere_added = w->else_added.n;
	sort(&d->removed, by_pid);
	sort(&d->added, by_pid);
	if (d->restarted.n)
		qsort(d->restarted.v, d->restarted.n, sizeof(*d->restarted.v), by_before);
	return true;
}

static bool copy_members(struct work *w, const struct diff_options *options)
{
	size_t size;

	if (!options || !options->members)
		return true;
	size = options->n_members * sizeof(*w->members);
	w->members = malloc(size ? size : 1); /* NULL would mean all */
	if (!w->members)
		return false;
	w->n_members = options->n_members;
	memcpy(w->members, options->members, size);
	qsort(w->members, w->n_members, sizeof(*w->members), identity_order);
	w->out->restricted = true;
	return true;
}

/* What both know must agree; what one alone knows is not known to agree. */
static int check_name(const char *what, const char *before, const char *after, struct err *err)
{
	if (strcmp(before, after) == 0)
		return 0;
	if (!*before || !*after)
		return err_set(err, EXDEV,
			       "%s of %s is not known: cannot tell whether it is the same", what,
			       *before ? "AFTER" : "BEFORE");
	return err_set(err, EXDEV, "two %ss cannot be compared: BEFORE is of %s, AFTER of %s", what,
		       before, after);
}

static int check_hosts(const struct table *before, const struct table *after, struct err *err)
{
	const struct host *a = &before->host, *b = &after->host;
	int r = check_name("host", a->hostname, b->hostname, err);

	if (!r)
		r = check_name("boot", a->boot_id, b->boot_id, err);
	if (r < 0)
		return r;
	if (a->pid_ns != b->pid_ns && (!a->pid_ns || !b->pid_ns))
		return err_set(err, EXDEV,
			       "PID namespace of %s is not known: "
			       "cannot tell whether it is the same",
			       a->pid_ns ? "AFTER" : "BEFORE");
	if (a->pid_ns != b->pid_ns)
		return err_set(err, EXDEV,
			       "two PID namespaces cannot be compared: BEFORE is of %llu, "
			       "AFTER of %llu",
			       (unsigned long long)a->pid_ns, (unsigned long long)b->pid_ns);
	if (a->ticks_per_second != b->ticks_per_second)
		return err_set(err, EXDEV,
			       "start times of %ld and of %ld ticks a second "
			       "cannot be compared",
			       a->ticks_per_second, b->ticks_per_second);
	if (after->coverage.partial && !before->coverage.partial)
		return err_set(err, EINVAL,
			       "AFTER holds a target's processes only: "
			       "what is not in it cannot be called gone");
	return 0;
}

int diff_tables(const struct table *before, const struct table *after,
		const struct diff_options *options, struct diff *out, struct err *err)
{
	struct work w = {.out = out};
	bool ok;
	int r;

	memset(out, 0, sizeof(*out));
	r = check_hosts(before, after, err);
	if (r < 0)
		return r;
	out->before = before;
	out->after = after;
	ok = copy_members(&w, options) && walk(&w) && find_restarts(&w);
	free(w.members);
	free(w.else_added.v);
	if (ok)
		return 0;
	diff_clear(out);
	return err_nomem(err);
}

void diff_clear(struct diff *d)
{
	free(d->removed.v);
	free(d->added.v);
	free(d->changed.v);
	free(d->restarted.v);
	memset(d, 0, sizeof(*d));
}

bool diff_is_empty(const struct diff *d)
{
	return !d->removed.n && !d->added.n && !d->changed.n && !d->restarted.n;
}
