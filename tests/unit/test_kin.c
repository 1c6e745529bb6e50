#include "model/kin.h"
#include "model/process.h"

#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL
#define T0 (1000 * MS) /* when the root was made: tick 100 */
#define REAPER 50
#define ROOT 100

static struct kin *kin_of_run(void)
{
	struct kin *k = kin_new(&(struct kin_options){.root = {ROOT, 100},
						      .pgid = ROOT,
						      .sid = ROOT,
						      .owns_pgid = true,
						      .owns_sid = true,
						      .reaper = {REAPER, 90}});

	assert_non_null(k);
	return k;
}

/*
 * A story: words, each at the next 10 ms.
 *
 *	f100:101     100 forks 101        x101=9   exit, status 9 as of wait(2)
 *	e101         exec                 s101     setsid
 *	t101=0       its main thread ends, another lives
 *	h101=0       another thread of it ends, the last
 *	l3           three events are lost
 *	n101         never a member
 *	{ 101:1:101:100/2 }  a scan of all: pid:ppid:pgid:sid/tick of start after T0's
 *	[ ... ]      readings of some
 */
static uint64_t started[1000]; /* tick, by PID */

static void fold_event(struct kin *k, const char *word, uint64_t at)
{
	struct event e = {.boot_ns = at};
	int a = 0, b = 0;

	sscanf(word + 1, "%d%*1[:=]%d", &a, &b);
	e.pid = a;
	e.status = b;
	switch (*word) {
	case 'f':
		e.kind = EVENT_FORK;
		e.child = b;
		e.child_start = started[b] = at / (10 * MS);
		e.start_read = true;
		e.status = 0;
		break;
	case 'e':
		e.kind = EVENT_EXEC;
		break;
	case 's':
		e.kind = EVENT_SID;
		break;
	case 'x':
		e.kind = EVENT_EXIT;
		break;
	case 't':
		e.kind = EVENT_EXIT;
		e.alive_start = started[a];
		break;
	case 'h':
		e.kind = EVENT_THREAD;
		break;
	case 'l':
		e.kind = EVENT_LOST;
		e.lost = (uint64_t)a;
		break;
	case 'n':
		assert_int_equal(kin_never(k, a, NULL), 0);
		return;
	default:
		fail_msg("no word: %s", word);
	}
	if (kin_wants(k, &e))
		assert_int_equal(kin_event(k, &e, NULL), 0);
}

static struct kin_reading reading(const char *word)
{
	int pid = 0, ppid = 0, pgid = 0, sid = 0, tick = -1;

	sscanf(word, "%d:%d:%d:%d/%d", &pid, &ppid, &pgid, &sid, &tick);
	return (struct kin_reading){
		.id = {pid, tick < 0 ? started[pid] : 100 + (uint64_t)tick},
		.ppid = ppid,
		.pgid = pgid,
		.sid = sid,
		.dead = strchr(word, 'Z') != NULL,
		.evidence = strchr(word, 'A') ? EVIDENCE_ADOPTED : 0,
	};
}

static void tell(struct kin *k, const char *story)
{
	char *copy = strdup(story), *save = NULL;
	struct kin_reading v[32];
	size_t n = 0;
	uint64_t at = T0;
	bool scan = false;

	memset(started, 0, sizeof(started));
	started[ROOT] = 100;
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (*w == '{' || *w == '[') {
			at += 10 * MS;
			scan = true;
			n = 0;
		} else if (*w == '}' || *w == ']') {
			assert_int_equal(kin_scan(k, v, n, *w == '}', at, NULL), 0);
			scan = false;
		} else if (scan) {
			v[n++] = reading(w);
		} else {
			at += 10 * MS;
			fold_event(k, w, at);
		}
	}
	free(copy);
}

/* "101<100 detached" and so on, in order of coming. */
static void members_text(const struct kin *k, char out[static 1000])
{
	size_t n;
	const struct kin_member *v = kin_members(k, &n);
	char *at = out;

	*at = '\0';
	for (size_t i = 0; i < n; i++) {
		if (v[i].id.pid == ROOT && v[i].alive)
			continue;
		at += sprintf(at, "%s%d<%d", at == out ? "" : " ", v[i].id.pid, v[i].forker.pid);
		at += sprintf(at, "%s%s%s%s", v[i].alive ? "" : "-dead", v[i].detached ? "-S" : "",
			      v[i].regrouped ? "-G" : "", v[i].reparented ? "-R" : "");
	}
}

static void changes_text(const struct kin *k, char out[static 2000])
{
	static const char kinds[] = {
		[KIN_FORKED] = 'f', [KIN_EXECED] = 'e',  [KIN_EXITED] = 'x',
		[KIN_SETSID] = 's', [KIN_SETPGID] = 'g', [KIN_REPARENTED] = 'r'};
	size_t n;
	const struct kin_change *c = kin_changes(k, &n);
	char *at = out;

	*at = '\0';
	for (size_t i = 0; i < n; i++) {
		at += sprintf(at, "%s%c%d", at == out ? "" : " ", kinds[c[i].kind], c[i].id.pid);
		if (c[i].kind == KIN_FORKED)
			at += sprintf(at, "<%d", c[i].forker.pid);
		if (c[i].kind >= KIN_SETSID)
			at += sprintf(at, ":%d>%d", c[i].from, c[i].to);
		if (c[i].kind == KIN_EXITED && c[i].status_known)
			at += sprintf(at, "=%d", c[i].status);
		if (c[i].known != KNOWN_SEEN)
			at += sprintf(at, "%s", c[i].known == KNOWN_SCANNED ? "~" : "?");
	}
}

static void members_follow_from_what_is_told(void **state)
{
	static const struct {
		const char *about, *story, *members, *changes;
	} cases[] = {
		{"a child, and its child", "f100:101 f101:102", "101<100 102<101",
		 "f101<100 f102<101"},
		{"what strangers do is nothing", "f7:8 e8 s8 x8=0", "", ""},
		{"a short life is told and dropped", "f100:101 e101 x101=256", "",
		 "f101<100 e101 x101=256"},
		{"setsid", "f100:101 s101", "101<100-S", "f101<100 s101:100>101"},
		{"a session is inherited", "f100:101 s101 f101:102", "101<100-S 102<101-S",
		 "f101<100 s101:100>101 f102<101"},
		{"who left the session is kept dead", "f100:101 s101 x101=0", "101<100-dead-S",
		 "f101<100 s101:100>101 x101=0"},
		{"orphans are the reaper's", "f100:101 f101:102 x101=0", "102<101-R",
		 "f101<100 f102<101 x101=0 r102:101>50?"},
		{"a reading confirms that quietly", "f100:101 f101:102 x101=0 [ 102:50:100:100 ]",
		 "102<101-R", "f101<100 f102<101 x101=0 r102:101>50?"},
		{"or corrects it", "f100:101 f101:102 x101=0 [ 102:1:100:100 ]", "102<101-R",
		 "f101<100 f102<101 x101=0 r102:101>50? r102:101>1~"},
		{"a group is read", "f100:101 [ 101:100:101:100 ]", "101<100-G",
		 "f101<100 g101:100>101~"},
		{"setsid is no second change of group", "f100:101 [ 101:100:101:101 ]", "101<100-S",
		 "f101<100 s101:100>101~"},
		{"CLONE_PARENT of the root", "f50:101", "101<0", "f101<0"},
		{"who is none may make members", "n7 f7:101 f100:102", "102<100", "f102<100"},
		{"the reaper's helpers are none", "n101 f50:101 f101:102 e101 [ 102:50:9:9A ]", "",
		 ""},
		{"nor is their number kept for ever", "n101 f50:101 x101=0 f100:101", "101<100",
		 "f101<100"},
		{"a member's fork shows a helper to be gone", "n101 f50:101 f100:101", "101<100",
		 "f101<100"},
		{"found in the session", "{ 100:50:100:100 101:1:101:100/5 }", "101<0-G-R",
		 "f101<0~ g101:100>101~"},
		{"found by its parent, out of order",
		 "{ 102:101:102:102/9 101:100:100:100/5 100:50:100:100 }", "101<100 102<101-S",
		 "f101<100~ f102<101~ s102:100>102~"},
		{"found as adopted", "{ 100:50:100:100 101:50:9:9A/5 }", "101<0-S-R", "f101<0~"},
		{"a zombie is not found", "{ 100:50:100:100 101:100:100:100Z/5 }", "", ""},
		{"a parent that is younger is none",
		 "f100:101 { 100:50:100:100 101:100:100:100 "
		 "102:101:102:102/0 }",
		 "101<100", "f101<100"},
		{"who is missed has ended", "f100:101 { 100:50:100:100 }", "", "f101<100 x101~"},
		{"who is not among some has not", "f100:101 [ 100:50:100:100 ]", "101<100",
		 "f101<100"},
		{"found dead", "f100:101 [ 101:100:100:100Z ]", "", "f101<100 x101~"},
		{"a PID that comes again is another", "f100:101 s101 f100:101",
		 "101<100-dead-S 101<100", "f101<100 s101:100>101 x101? f101<100"},
		{"also a stranger", "f100:101 f7:101 e101 f101:102", "", "f101<100 x101?"},
		{"also where a scan shows it", "f100:101 { 100:50:100:100 101:7:7:7/50 }", "",
		 "f101<100 x101~"},
		{"a dead main thread ends nothing", "f100:101 t101=0 f101:102", "101<100 102<101",
		 "f101<100 f102<101"},
		{"the last thread does", "f100:101 t101=7 h101=7", "", "f101<100 x101=7"},
		{"its status may not be the process's", "f100:101 t101=0 h101=7", "",
		 "f101<100 x101"},
		{"a thread that calls execve is the main one", "f100:101 t101=0 e101 h101=0",
		 "101<100", "f101<100 e101"},
		{"the number of an empty group is given up", "f7:100 { 8:7:100:100/9 }", "",
		 "x100?"},
		{"what was found is not told again",
		 "{ 100:50:100:100 101:50:101:101A/5 } [ 101:50:101:101 ]", "101<0-S-R",
		 "f101<0~ s101:100>101~"},
	};
	char got[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kin *k = kin_of_run();

		print_message("# %s\n", cases[i].about);
		tell(k, cases[i].story);
		members_text(k, got);
		assert_string_equal(got, cases[i].members);
		changes_text(k, got);
		assert_string_equal(got, cases[i].changes);
		kin_free(k);
	}
}

static void loss_calls_for_a_scan_that_begins_after_it(void **state)
{
	struct kin *k = kin_of_run();
	struct kin_reading root = {.id = {ROOT, 100}, .ppid = REAPER, .pgid = ROOT, .sid = ROOT};

	(void)state;
	assert_false(kin_unsure(k));
	kin_event(k, &(struct event){.kind = EVENT_LOST, .boot_ns = T0 + 50 * MS, .lost = 3}, NULL);
	assert_true(kin_unsure(k));
	assert_int_equal(kin_counts(k).lost, 3);
	kin_scan(k, &root, 1, true, T0 + 49 * MS, NULL);
	assert_true(kin_unsure(k));
	kin_scan(k, &root, 1, false, T0 + 60 * MS, NULL);
	assert_true(kin_unsure(k));
	kin_scan(k, &root, 1, true, T0 + 60 * MS, NULL);
	assert_false(kin_unsure(k));
	kin_free(k);
}

static void what_wait_tells_ends_a_member_once(void **state)
{
	struct kin *k = kin_of_run();
	char got[2000];

	(void)state;
	tell(k, "f100:101 f101:102");
	kin_reaped(k, (struct identity){101, 99}, 5, T0 + 40 * MS); /* another of that PID */
	kin_reaped(k, (struct identity){101, started[101]}, 256, T0 + 40 * MS);
	kin_reaped(k, (struct identity){101, started[101]}, 256, T0 + 40 * MS);
	kin_event(k, &(struct event){.kind = EVENT_EXIT, .boot_ns = T0 + 40 * MS, .pid = 101},
		  NULL);
	changes_text(k, got);
	assert_string_equal(got, "f101<100 f102<101 x101=256 r102:101>50?");
	kin_free(k);
}

static void a_status_learned_late_is_kept_with_the_dead(void **state)
{
	struct kin *k = kin_of_run();
	struct identity id;
	const struct kin_member *m;

	(void)state;
	tell(k, "f100:101 s101 { 100:50:100:100 }");
	id = (struct identity){101, started[101]};
	m = kin_member(k, id);
	assert_non_null(m);
	assert_false(m->alive);
	assert_false(m->status_known);
	kin_reaped(k, id, 9, T0);
	assert_true(kin_member(k, id)->status_known);
	assert_int_equal(kin_member(k, id)->status, 9);
	kin_free(k);
}

/* The n-th of very many children of the root: each comes, perhaps leaves, and ends. */
static void one_more(struct kin *k, int n, bool leaves)
{
	uint64_t at = T0 + (uint64_t)n * MS;
	struct event e = {.kind = EVENT_FORK,
			  .boot_ns = at,
			  .pid = ROOT,
			  .child = 1000 + n % 30000,
			  .child_start = at / (10 * MS),
			  .start_read = true};

	assert_int_equal(kin_event(k, &e, NULL), 0);
	e = (struct event){.boot_ns = at + 1, .pid = e.child};
	e.kind = EVENT_SID;
	if (leaves)
		assert_int_equal(kin_event(k, &e, NULL), 0);
	e.kind = EVENT_EXIT;
	assert_int_equal(kin_event(k, &e, NULL), 0);
	kin_taken(k);
}

static void the_dead_do_not_pile_up(void **state)
{
	struct kin *k = kin_of_run();
	size_t before, n;

	(void)state;
	for (int i = 0; i < 40000; i++)
		one_more(k, i, false);
	before = mallinfo2().uordblks;
	for (int i = 40000; i < 140000; i++)
		one_more(k, i, false);
	assert_true(mallinfo2().uordblks <= before);
	kin_members(k, &n);
	assert_int_equal(n, 1);
	for (int i = 140000; i < 145000; i++)
		one_more(k, i, true);
	kin_members(k, &n);
	assert_int_equal(n, 1 + KIN_DEAD_MAX);
	assert_int_equal(kin_counts(k).exited, 145000);
	assert_int_equal(kin_counts(k).alive, 1);
	kin_free(k);
}

static void who_left_the_cgroup_is_kept_dead(void **state)
{
	struct kin *k = kin_of_run();
	char got[2000];

	(void)state;
	tell(k, "f100:101");
	kin_left_cgroup(k, (struct identity){101, started[101]});
	kin_event(k, &(struct event){.kind = EVENT_EXIT, .boot_ns = T0 + 40 * MS, .pid = 101},
		  NULL);
	members_text(k, got);
	assert_string_equal(got, "101<100-dead");
	kin_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_follow_from_what_is_told),
		cmocka_unit_test(loss_calls_for_a_scan_that_begins_after_it),
		cmocka_unit_test(what_wait_tells_ends_a_member_once),
		cmocka_unit_test(a_status_learned_late_is_kept_with_the_dead),
		cmocka_unit_test(who_left_the_cgroup_is_kept_dead),
		cmocka_unit_test(the_dead_do_not_pile_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
