#include "engine/chronicle.h"

#include "base/file.h"
#include "record/digest.h"
#include "record/journal_read.h"
#include "tests/unit/parsed.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000ull

/* A host of one session: a shell, 4102, and its child, 4131; looked at once a second. */
struct world {
	void **state;
	struct tracker k;
	struct run run;
	struct recorded recorded;
	struct chronicle *c;
	unsigned looks;
	uint64_t seen; /* events read so far */
	char names[512];
};

/* The two, as fork left them. */
static struct table *host(const struct world *w)
{
	struct table *t = tables_new();
	struct process *p;

	t->host.wall_ns += w->looks * SECOND;
	t->host.boot_ns += w->looks * SECOND;
	p = tables_add(t, 1, 5, 0);
	p->owner = 0;
	tables_add(t, 4102, 8000000, 1);
	p = tables_add(t, 4131, 8000100, 4102);
	p->pgid = p->sid = 4102;
	return t;
}

static void look(struct world *w, struct table *t)
{
	struct err err = {0};

	w->looks++;
	assert_int_equal(tracker_fold(&w->k, t, &err), 0);
	if (w->c)
		assert_int_equal(chronicle_fold(w->c, &w->k, &err), 0);
}

static struct world *begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct adoption how = {.state_dir = scratch_path(state, "state"), .id = "r"};
	struct selector target = {.kind = SELECT_SESSION, .number = 4102};
	struct err err = {0};

	assert_non_null(w);
	w->state = state;
	tracker_init(&w->k);
	look(w, host(w));
	assert_int_equal(run_choose(&w->run, &target, w->k.now, &err), 0);
	assert_int_equal(tracker_set_run(&w->k, &w->run, &err), 0);
	assert_int_equal(recorded_adopt(&how, &w->k, &w->recorded, &err), 0);
	assert_int_equal(tracker_set_run(&w->k, &w->recorded.run, &err), 0);
	return w;
}

static struct world *watching(void **state)
{
	struct world *w = begin(state);
	struct err err = {0};

	assert_int_equal(chronicle_open(&w->recorded, &w->k, 1000, &w->c, &err), 0);
	return w;
}

static void end(struct world *w)
{
	chronicle_close(w->c, "asked");
	recorded_close(&w->recorded);
	tracker_free(&w->k);
	run_clear(&w->run);
	free(w);
}

static int take_name(void *ctx, const json_t *e, struct err *err)
{
	struct world *w = ctx;
	const json_t *closed = json_object_get(e, "state");
	size_t n = strlen(w->names);
	uint64_t seq = 0;

	assert_int_equal(json_get_uint(e, "seq", &seq, NULL, err), 0);
	if (seq <= w->seen)
		return 0;
	w->seen = seq;
	snprintf(w->names + n, sizeof(w->names) - n, "%s%s%s%s", n ? " " : "",
		 json_string_value(json_object_get(e, "event")), closed ? ":" : "",
		 closed ? json_string_value(closed) : "");
	return 0;
}

/* The events since the last call, by name; an anchor depends on the host it is run on. */
static const char *events(struct world *w)
{
	struct journal_reading what = {
		.name = "journal", .schema = JOURNAL_SCHEMA, .fn = take_name, .ctx = w};
	struct journal_verdict v;
	struct err err = {0};
	AUTO_FD fd = -1;
	char *anchored;

	w->names[0] = '\0';
	assert_int_equal(journal_open_read(w->recorded.dir.fd, RUNDIR_JOURNAL, &fd, &err), 0);
	assert_int_equal(journal_read(fd, &what, &v, &err), 0);
	assert_int_equal(v.fault, JOURNAL_HOLDS);
	while ((anchored = strstr(w->names, " anchored")))
		memmove(anchored, anchored + 9, strlen(anchored + 9) + 1);
	return w->names;
}

static void adoption_tells_of_each_member(void **state)
{
	struct world *w = begin(state);

	assert_string_equal(events(w), "run_opened adopted started started snapshot");
	assert_int_equal(w->recorded.story.state, RUN_ACTIVE);
	assert_int_equal(story_alive(&w->recorded.story), 2);
	end(w);
}

/* The last file that the journal names, and what it holds: who of the two, by state. */
struct named {
	char what[16], file[64], sha256[CHAIN_HEX];
};

static int take_named(void *ctx, const json_t *e, struct err *err)
{
	struct named *n = ctx;

	if (strcmp(json_string_value(json_object_get(e, "event")), "snapshot") != 0)
		return 0;
	assert_int_equal(json_get_text(e, "what", n->what, sizeof(n->what), err), 0);
	assert_int_equal(json_get_text(e, "file", n->file, sizeof(n->file), err), 0);
	assert_int_equal(json_get_text(e, "sha256", n->sha256, sizeof(n->sha256), err), 0);
	return 0;
}

static void assert_named(const struct world *w, const char *what, const char *name,
			 const char *members)
{
	struct named n = {0};
	struct journal_reading reading = {
		.name = "journal", .schema = JOURNAL_SCHEMA, .fn = take_named, .ctx = &n};
	struct journal_verdict v;
	struct err err = {0};
	char sha256[DIGEST_HEX], path[64], text[128] = "";
	AUTO_FD fd = -1;
	const json_t *p;
	json_t *file;
	size_t i;

	assert_int_equal(journal_open_read(w->recorded.dir.fd, RUNDIR_JOURNAL, &fd, &err), 0);
	assert_int_equal(journal_read(fd, &reading, &v, &err), 0);
	assert_string_equal(n.what, what);
	snprintf(path, sizeof(path), "runs/r/%s", name);
	assert_string_equal(n.file, path);
	assert_int_equal(digest_file(w->recorded.dir.fd, name, sha256, NULL, &err), 0);
	assert_string_equal(n.sha256, sha256);
	snprintf(path, sizeof(path), "state/runs/r/%s", name);
	file = parsed_file(scratch_path(w->state, path));
	assert_string_equal(json_string_value(member(file, "schema")), SNAPSHOT_SCHEMA);
	assert_true(json_is_true(member(member(file, "coverage"), "partial")));
	json_array_foreach(member(file, "processes"), i, p)
	{
		size_t len = strlen(text);

		assert_string_equal(json_string_value(member(p, "run_id")), "r");
		snprintf(text + len, sizeof(text) - len, "%s%lld %s", i ? ", " : "",
			 (long long)json_integer_value(member(p, "pid")),
			 json_string_value(member(p, "state")));
	}
	assert_string_equal(text, members);
	json_decref(file);
}

static void who_was_a_member_when_it_was_adopted_and_closed_is_kept(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);

	assert_named(w, "before", "before.json", "4102 S, 4131 S");
	table_pid(t, 4131)->ppid = 1;
	table_pid(t, 4102)->state = 'Z';
	look(w, t);
	assert_named(w, "after", "after.json", "4102 Z, 4131 S");

	t = host(w);
	while (t->procs.n > 1)
		process_clear(&t->procs.v[--t->procs.n]);
	look(w, t);
	assert_named(w, "after", "after-2.json", "");
	end(w);
}

static void a_look_that_cannot_be_written_keeps_no_run_open(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);
	struct err err = {0};
	char name[32];

	events(w);
	for (int i = 1; i <= 1000; i++) {
		snprintf(name, sizeof(name), i > 1 ? "after-%d.json" : "after.json", i);
		assert_int_equal(symlinkat("nowhere", w->recorded.dir.fd, name), 0);
	}
	table_pid(t, 4102)->state = table_pid(t, 4131)->state = 'Z';
	w->looks++;
	assert_int_equal(tracker_fold(&w->k, t, &err), 0);
	assert_int_equal(chronicle_fold(w->c, &w->k, &err), -EMFILE);
	assert_string_equal(events(w), "exited exited run_closed:finished");
	look(w, host(w));
	assert_int_equal(w->recorded.story.state, RUN_FINISHED);
	end(w);
}

static void one_file_is_written_however_often_it_is_tried_to_close(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);
	struct err err = {0};
	int lock = openat(w->recorded.dir.fd, RUNDIR_JOURNAL, O_RDONLY | O_CLOEXEC);

	events(w);
	journal_patience(w->recorded.dir.journal, 1);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	w->looks++;
	table_pid(t, 4102)->state = table_pid(t, 4131)->state = 'Z';
	assert_int_equal(tracker_fold(&w->k, t, &err), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(recorded_over(&w->recorded, &w->k, RUN_ENDED, NULL, &err),
				 -ETIMEDOUT);
	assert_int_equal(scratch_count(scratch_path(state, "state/runs/r")), 4); /* no after.json */
	close(lock);
	end(w);
}

static void a_quiet_run_writes_nothing(void **state)
{
	struct world *w = watching(state);

	events(w);
	for (int i = 0; i < 5; i++)
		look(w, host(w));
	assert_string_equal(events(w), "");
	end(w);
}

static void what_changes_between_two_looks_is_told(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);
	struct process *p;

	events(w);
	tables_add(t, 4140, 8000200, 4131)->sid = 4102;
	look(w, t);
	assert_string_equal(events(w), "forked");

	t = host(w);
	p = tables_add(t, 4140, 8000200, 4131);
	p->sid = 4102;
	p = table_pid(t, 4131);
	p->pgid = 4131;
	look(w, t);
	assert_string_equal(events(w), "setpgid");

	t = host(w);
	p = tables_add(t, 4140, 8000200, 1);
	p = table_pid(t, 4131);
	p->pgid = 4131;
	tables_set(&p->detail->comm, "sleep");
	tables_set(&p->detail->exe, "/usr/bin/sleep");
	look(w, t);
	assert_string_equal(events(w), "execed setsid reparented");

	t = host(w);
	tables_add(t, 4140, 8000200, 1);
	t->procs.v[2].state = 'Z'; /* 4131 */
	look(w, t);
	assert_string_equal(events(w), "exited");
	end(w);
}

static void a_command_that_ends_leaves_or_finishes(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);

	events(w);
	table_pid(t, 4131)->ppid = 1;
	table_pid(t, 4102)->state = 'Z';
	look(w, t);
	assert_string_equal(events(w), "reparented exited leftover snapshot run_closed:leftover");

	t = host(w);
	table_pid(t, 4102)->state = table_pid(t, 4131)->state = 'Z';
	look(w, t);
	assert_string_equal(events(w), "exited snapshot run_closed:ended");
	end(w);
}

static void a_command_that_ends_with_all_its_own_has_finished(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);

	events(w);
	table_pid(t, 4102)->state = table_pid(t, 4131)->state = 'Z';
	look(w, t);
	assert_string_equal(events(w), "exited exited snapshot run_closed:finished");
	end(w);
}

static void a_clock_that_jumps_is_told_once_and_one_that_slews_is_not(void **state)
{
	static const int64_t by[] = {3600, -7200};
	struct world *w = watching(state);
	struct table *t = host(w);

	events(w);
	t->host.wall_ns += SECOND / 2;
	look(w, t);
	assert_string_equal(events(w), "");
	for (int i = 0; i < 2; i++) {
		t = host(w);
		t->host.wall_ns += (uint64_t)(by[i] * (int64_t)SECOND);
		look(w, t);
		assert_string_equal(events(w), "clock_stepped");
		t = host(w);
		t->host.wall_ns += (uint64_t)(by[i] * (int64_t)SECOND);
		look(w, t);
		assert_string_equal(events(w), "");
	}
	end(w);
}

static void one_stray_watches_at_a_time(void **state)
{
	struct world *w = watching(state);
	struct recorded other;
	struct chronicle *c = NULL;
	struct err err = {0};

	assert_int_equal(recorded_open(scratch_path(state, "state"), "r", true, &other, &err), 0);
	assert_int_equal(rundir_is_watched(&other.dir), 1);
	assert_int_equal(chronicle_open(&other, &w->k, 1000, &c, &err), -EBUSY);
	chronicle_close(w->c, "asked");
	w->c = NULL;
	assert_int_equal(rundir_is_watched(&other.dir), 0);
	recorded_close(&other);
	end(w);
}

static void a_watcher_that_died_leaves_a_gap_that_is_named(void **state)
{
	struct world *w = watching(state);
	struct err err = {0};

	events(w);
	rundir_unwatch(&w->recorded.dir); /* as the kernel does for who was killed */
	free(w->c);
	w->c = NULL;
	recorded_close(&w->recorded);
	assert_int_equal(recorded_open(scratch_path(state, "state"), "r", true, &w->recorded, &err),
			 0);
	assert_int_equal(tracker_set_run(&w->k, &w->recorded.run, &err), 0);
	assert_int_equal(chronicle_open(&w->recorded, &w->k, 1000, &w->c, &err), 0);
	assert_string_equal(events(w), "watch_stopped watch_started");
	end(w);
}

static void members_are_found_again_by_what_the_journal_knows(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);
	struct err err = {0};
	struct process *p;

	p = table_pid(t, 4131); /* left its session, and its parent is gone */
	p->pgid = p->sid = 4131;
	p->ppid = 1;
	table_pid(t, 4102)->state = 'Z';
	look(w, t);
	chronicle_close(w->c, "asked");
	w->c = NULL;
	recorded_close(&w->recorded);
	tracker_free(&w->k);
	tracker_init(&w->k);
	t = host(w);
	p = table_pid(t, 4131);
	p->pgid = p->sid = 4131;
	p->ppid = 1;
	table_pid(t, 4102)->state = 'Z';
	look(w, t);
	assert_int_equal(recorded_open(scratch_path(state, "state"), "r", true, &w->recorded, &err),
			 0);
	assert_int_equal(tracker_set_run(&w->k, &w->recorded.run, &err), 0);
	assert_true(run_is_member(table_pid(w->k.now, 4131)));
	assert_int_equal(recorded_state(&w->recorded, w->k.now), RUN_LEFTOVER);
	end(w);
}

static void what_another_stray_wrote_is_taken_in(void **state)
{
	struct world *w = watching(state);
	struct recorded other;
	struct err err = {0};
	struct table *t = host(w);

	assert_int_equal(recorded_open(scratch_path(state, "state"), "r", true, &other, &err), 0);
	jw_str(recorded_begin(&other, "run_closed", KNOWN_SCANNED), "state", "ended");
	assert_int_equal(recorded_change(&other, "run_closed", RUN_ENDED, &err), 0);
	recorded_close(&other);
	events(w);
	table_pid(t, 4102)->state = table_pid(t, 4131)->state = 'Z';
	look(w, t);
	assert_string_equal(events(w), "exited exited"); /* and is not closed again */
	assert_int_equal(w->recorded.story.state, RUN_ENDED);
	end(w);
}

/* That the kernel reported it half a second after the last look, at the n-th ms. */
static void hear(struct world *w, enum kin_change_kind kind, pid_t pid, unsigned ms)
{
	struct kin_change c = {
		.kind = kind,
		.known = KNOWN_SEEN,
		.boot_ns = w->k.now->host.boot_ns + SECOND / 2 + ms * 1000000ull,
		.id = {pid, 9000000},
		.forker = {4102, 8000000},
		.from = 4102,
		.to = pid,
		.status_known = true,
		.status = 9,
	};

	chronicle_hear(w->c, &c, NULL);
}

static void what_lived_between_two_looks_is_told_where_it_was_heard(void **state)
{
	struct world *w = watching(state);
	const struct story_member *m;

	events(w);
	hear(w, KIN_FORKED, 4150, 1);
	hear(w, KIN_EXECED, 4150, 2);
	hear(w, KIN_SETSID, 4150, 3);
	hear(w, KIN_EXITED, 4150, 4);
	assert_string_equal(events(w), ""); /* with the look, which may know more */
	look(w, host(w));
	assert_string_equal(events(w), "forked execed setsid exited");
	m = story_member(&w->recorded.story, (struct identity){4150, 9000000});
	assert_non_null(m);
	assert_true(m->gone);
	assert_int_equal(m->sid, 4150);
	assert_true(bytes_is(&m->comm, "sh")); /* its forker's */
	look(w, host(w));
	assert_string_equal(events(w), "");
	end(w);
}

/* The child at its look, in the session it made. */
static struct table *host_with_child(const struct world *w)
{
	struct table *t = host(w);
	struct process *p = tables_add(t, 4150, 9000000, 4102);

	p->pgid = p->sid = 4150;
	p->parent_was = (struct identity){4102, 8000000};
	p->parent_known = KNOWN_SEEN;
	p->evidence = EVIDENCE_FORK;
	return t;
}

static void what_was_heard_is_not_told_again_by_a_look(void **state)
{
	struct world *w = watching(state);

	events(w);
	hear(w, KIN_FORKED, 4150, 1);
	hear(w, KIN_EXECED, 4150, 2);
	hear(w, KIN_SETSID, 4150, 3);
	look(w, host_with_child(w));
	assert_string_equal(events(w), "forked execed setsid");
	look(w, host_with_child(w));
	assert_string_equal(events(w), "");
	hear(w, KIN_EXITED, 4150, 1);
	look(w, host(w));
	assert_string_equal(events(w), "exited");
	end(w);
}

static void a_look_that_is_older_than_what_was_heard_takes_nothing_back(void **state)
{
	struct world *w = watching(state);

	events(w);
	hear(w, KIN_FORKED, 4150, 1);
	look(w, host_with_child(w));
	assert_string_equal(events(w), "forked");
	hear(w, KIN_EXITED, 4150, 600); /* when the next scan had begun */
	look(w, host_with_child(w));
	assert_string_equal(events(w), "exited");
	look(w, host(w));
	assert_string_equal(events(w), "");
	end(w);
}

static void of_very_many_short_lives_the_rest_is_counted(void **state)
{
	struct world *w = watching(state);
	unsigned n = CHRONICLE_BRIEF_MAX + 5;

	events(w);
	for (unsigned i = 0; i < n; i++) {
		hear(w, KIN_FORKED, 5000 + (pid_t)i, i / 100);
		hear(w, KIN_EXITED, 5000 + (pid_t)i, i / 100);
	}
	hear(w, KIN_FORKED, 90000, 101);
	hear(w, KIN_SETSID, 90000, 102);
	hear(w, KIN_EXITED, 90000, 103);
	look(w, host(w));
	assert_non_null(story_member(&w->recorded.story, (struct identity){5000, 9000000}));
	assert_null(
		story_member(&w->recorded.story, (struct identity){5000 + (pid_t)n - 1, 9000000}));
	/* who left its session is told in any case */
	assert_non_null(story_member(&w->recorded.story, (struct identity){90000, 9000000}));
	assert_int_equal(chronicle_not_told(w->c), 2 * 5);
	end(w);
}

static void lost_events_are_told_once(void **state)
{
	struct world *w = watching(state);
	struct table *t = host(w);

	events(w);
	t->coverage.events_lost = 7;
	look(w, t);
	assert_string_equal(events(w), "events_lost");
	t = host(w);
	t->coverage.events_lost = 7;
	look(w, t);
	assert_string_equal(events(w), "");
	end(w);
}

/* What stray check does: no acceptance stands behind the event that ended what it rests on. */
static void what_rests_on_a_state_is_not_written_behind_its_change(void **state)
{
	struct world *w = begin(state);
	struct recorded other;
	struct err err = {0};

	assert_int_equal(recorded_open(scratch_path(state, "state"), "r", true, &other, &err), 0);
	jw_str(recorded_begin(&other, "note", KNOWN_STATED), "text", "changes no state");
	assert_int_equal(recorded_commit(&other, false, &err), 0);
	events(w);
	recorded_begin(&w->recorded, "action_accepted", KNOWN_SEEN);
	assert_int_equal(recorded_commit_in_state(&w->recorded, true, &err), 0);
	assert_string_equal(events(w), "action_accepted");
	recorded_begin(&other, "deadline_expired", KNOWN_SEEN);
	assert_int_equal(recorded_change(&other, "deadline_expired", RUN_EXPIRED, &err), 0);
	recorded_close(&other);
	events(w);
	recorded_begin(&w->recorded, "action_accepted", KNOWN_SEEN);
	assert_int_equal(recorded_commit_in_state(&w->recorded, true, &err), -EAGAIN);
	assert_string_equal(events(w), "");
	assert_int_equal(recorded_refresh(&w->recorded, &err), 1);
	assert_int_equal(w->recorded.story.state, RUN_EXPIRED);
	recorded_begin(&w->recorded, "action_refused", KNOWN_SEEN);
	assert_int_equal(recorded_commit_in_state(&w->recorded, true, &err), 0);
	assert_string_equal(events(w), "action_refused");
	end(w);
}

/* For who shows a run while another thread goes on with it. */
static void a_copy_shows_what_was_read_and_has_no_files(void **state)
{
	struct world *w = watching(state);
	const struct identity child = {4131, 8000100};
	struct recorded copy;

	assert_int_equal(recorded_copy(&copy, &w->recorded), 0);
	look(w, host(w));
	story_gone(story_member(&w->recorded.story, child), 1);
	assert_string_equal(copy.dir.id, "r");
	assert_string_equal(copy.dir.path, w->recorded.dir.path);
	assert_null(copy.dir.journal);
	assert_string_equal(copy.run.id, "r");
	assert_true(copy.run.recorded);
	assert_int_equal(copy.story.members.n, 2);
	assert_false(story_member(&copy.story, child)->gone);
	assert_string_equal(copy.story.record.target, w->recorded.story.record.target);
	recorded_close(&copy);
	assert_int_not_equal(w->recorded.dir.fd, -1);
	end(w);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(adoption_tells_of_each_member),
		T(who_was_a_member_when_it_was_adopted_and_closed_is_kept),
		T(a_look_that_cannot_be_written_keeps_no_run_open),
		T(one_file_is_written_however_often_it_is_tried_to_close),
		T(a_quiet_run_writes_nothing),
		T(what_changes_between_two_looks_is_told),
		T(a_command_that_ends_leaves_or_finishes),
		T(a_command_that_ends_with_all_its_own_has_finished),
		T(a_clock_that_jumps_is_told_once_and_one_that_slews_is_not),
		T(one_stray_watches_at_a_time),
		T(a_watcher_that_died_leaves_a_gap_that_is_named),
		T(members_are_found_again_by_what_the_journal_knows),
		T(what_another_stray_wrote_is_taken_in),
		T(what_lived_between_two_looks_is_told_where_it_was_heard),
		T(what_was_heard_is_not_told_again_by_a_look),
		T(a_look_that_is_older_than_what_was_heard_takes_nothing_back),
		T(of_very_many_short_lives_the_rest_is_counted),
		T(lost_events_are_told_once),
		T(what_rests_on_a_state_is_not_written_behind_its_change),
		T(a_copy_shows_what_was_read_and_has_no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
