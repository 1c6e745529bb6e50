#include "contain/target.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS_SPARED 64         /* descriptors a set leaves to all else */
#define RELOOK_NS 20000000ULL /* how often those without a pidfd are looked at */

const char *target_result_name(enum target_result r)
{
	static const char *const names[] = {
		[TARGET_UNTRIED] = "untried",
		[TARGET_SENT] = "sent",
		[TARGET_GONE] = "gone",
		[TARGET_REUSED] = "reused",
		[TARGET_DENIED] = "not_permitted",
		[TARGET_MOVED] = "moved",
		[TARGET_FAILED] = "failed",
	};

	return names[r];
}

/* Descriptors are not all spent on one set: of few it takes less than half. */
static bool fd_is_spare(struct target_set *set, int fd)
{
	rlim_t max = set->fd_end ? 0 : file_raise_limit();

	if (max)
		set->fd_end = max > 2 * FDS_SPARED ? max - FDS_SPARED : (max + 1) / 2;
	return !set->fd_end || (rlim_t)fd < set->fd_end;
}

/* Where id stands among the slots, or the empty one where it would. */
static uint32_t *slot_of(const struct target_set *set, struct identity id)
{
	size_t i = identity_tag(id) & (set->slots - 1);

	while (set->slot[i] && !identity_same(set->v[set->slot[i] - 1].id, id))
		i = (i + 1) & (set->slots - 1);
	return &set->slot[i];
}

/* Keeps the slots at most half full once one more is in. */
static bool make_slots(struct target_set *set)
{
	size_t want = set->slots ? set->slots : 16;
	uint32_t *fresh;

	while (want < 2 * (set->n + 1))
		want *= 2;
	if (want == set->slots)
		return true;
	fresh = calloc(want, sizeof(*fresh));
	if (!fresh)
		return false;
	free(set->slot);
	set->slot = fresh;
	set->slots = want;
	for (size_t i = 0; i < set->n; i++)
		*slot_of(set, set->v[i].id) = (uint32_t)i + 1;
	return true;
}

/* t is not in it; its pidfd is the set's from here on. */
static int put_in(struct target_set *set, struct target t, struct err *err)
{
	assert(set->v || (!set->n && !set->cap));
	t.guard = set->guard;
	if (t.pidfd >= 0 && !fd_is_spare(set, t.pidfd))
		file_close_fd(&t.pidfd);
	if (!make_slots(set) || !VEC_PUSH(set, t)) {
		file_close_fd(&t.pidfd);
		return err_nomem(err);
	}
	*slot_of(set, t.id) = (uint32_t)set->n;
	return 0;
}

int target_add(struct target_set *set, struct identity id, size_t *added, struct err *err)
{
	struct target t = {.id = id, .pidfd = -1}, *old = target_find(set, id);
	bool reused;
	int r;

	if (added)
		*added = old ? (size_t)(old - set->v) : set->n;
	if (old)
		return 0;
	if (id.pid == getpid())
		return err_set(err, EINVAL, "process %d is this one", id.pid);
	r = pidfd_open_identity(id, &t.pidfd, &reused, NULL);
	if (r == -ESRCH) {
		t.gone = true;
		t.result = reused ? TARGET_REUSED : TARGET_GONE;
	} else if (r < 0 && r != -EMFILE && r != -ENFILE && r != -ENOSYS) {
		return err_errno(err, -r, "process %d", id.pid);
	}
	return put_in(set, t, err);
}

int target_take(struct target_set *set, struct identity id, int pidfd, struct err *err)
{
	if (!target_find(set, id))
		return put_in(set, (struct target){.id = id, .pidfd = pidfd}, err);
	file_close_fd(&pidfd);
	return 0;
}

int target_handle_of(pid_t pid)
{
	return pid > 1 && pid != getpid() ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

void target_set_clear(struct target_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].pidfd >= 0)
			close(set->v[i].pidfd);
	free(set->v);
	free(set->slot);
	*set = (struct target_set){0};
}

void target_set_guard(struct target_set *set, struct guard *g)
{
	set->guard = g;
	for (size_t i = 0; i < set->n; i++)
		set->v[i].guard = g;
}

struct target *target_find(const struct target_set *set, struct identity id)
{
	uint32_t at = set->slots ? *slot_of(set, id) : 0;

	return at ? &set->v[at - 1] : NULL;
}

int target_handle(struct target *t, int *opened)
{
	int r;

	*opened = -1;
	if (t->pidfd >= 0)
		return t->pidfd;
	r = t->gone ? -ESRCH : pidfd_open_identity(t->id, opened, NULL, NULL);
	return r < 0 ? r : *opened;
}

bool target_alive(struct target *t)
{
	int opened, fd;

	if (t->gone)
		return false;
	fd = target_handle(t, &opened);
	if (fd == -ESRCH || (fd >= 0 && pidfd_gone(fd)) ||
	    (fd == -ENOSYS && proc_has_ended(t->id.pid, t->id.start)))
		t->gone = true;
	if (opened >= 0)
		close(opened);
	return !t->gone;
}

size_t target_set_alive(struct target_set *set)
{
	size_t alive = 0;

	for (size_t i = 0; i < set->n; i++)
		alive += target_alive(&set->v[i]);
	return alive;
}

static void sleep_until(uint64_t boot_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(boot_ns / CLOCK_NS_PER_S),
			      .tv_nsec = (long)(boot_ns % CLOCK_NS_PER_S)};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
}

int target_set_wait(struct target_set *set, uint64_t deadline_ns, struct err *err)
{
	AUTO_FREE int *fds = calloc(set->n ? set->n : 1, sizeof(*fds));
	size_t alive;

	if (!fds)
		return err_nomem(err);
	for (;;) {
		uint64_t until = deadline_ns, now = clock_boot_ns();
		bool blind = false; /* one is alive that has no pidfd */
		int r;

		alive = target_set_alive(set);
		if (!alive || now >= deadline_ns)
			return (int)alive;
		for (size_t i = 0; i < set->n; i++) {
			fds[i] = set->v[i].gone ? -1 : set->v[i].pidfd;
			blind |= !set->v[i].gone && set->v[i].pidfd < 0;
		}
		if (blind && until > now + RELOOK_NS)
			until = now + RELOOK_NS;
		r = pidfd_wait(fds, set->n, PIDFD_WAIT_ALL, until, err);
		if (r < 0)
			return r;
		if (r == 0 && blind)
			sleep_until(until);
	}
}
