#include "record/export.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/journal.h"
#include "record/ledger.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define RUN "run-7f3c0a12"
#define DAY "2026-07-24T"
#define OPERATOR \
	"\"operator\":{\"uid\":0,\"login_uid\":1000,\"sudo_user\":\"op\",\"tty\":\"pts/2\"}"
#define P(pid, start) "{\"pid\":" #pid ",\"start_ticks\":" #start "}"
#define HOSTILE "x\\n\\n# Head\\n- item\\n<img src=x>|[a](http://b)`c`\\u001b[2J\\u202e"

/* A state directory with one run, whose journal is written line by line: with times of
 * our own, sealed as journal.c seals. */
struct made {
	void **state;
	struct statedir *s;
	int journal;
	uint64_t seq;
	char prev[CHAIN_HEX];
	char record_sha256[CHAIN_HEX];
};

static const char record[] =
	"{\"schema\":\"stray.record/1\",\"run_id\":\"" RUN "\",\"how\":\"adopted\","
	"\"target\":\"pgid:4102\",\"root\":" P(
		4102,
		879000) ",\"root_gone\":false,"
			"\"args\":[\"agent-runner\",\"--token=***\"],\"exe\":\"/usr/bin/"
			"agent-runner\","
			"\"cwd\":\"/srv/"
			"app\",\"pgid\":4102,\"sid\":4102,\"owns\":[\"pgid\",\"sid\"],"
			"\"uid\":1000,\"cgroup\":\"/user.slice/session-12.scope\","
			"\"containment\":{\"kind\":\"none\",\"path\":null,\"cannot_hold\":"
			"\"adopted: what left it "
			"earlier is not known\"},\"started_at\":\"" DAY "13:59:50.000000Z\","
			"\"started_known\":\"stated\",\"recorded_at\":\"" DAY "14:00:02.000000Z\","
			"\"boottime_ns\":90684000000000,\"deadline_at\":\"" DAY
			"14:03:00.000000Z\","
			"\"approved_by\":\"change 4711\",\"requested_by\":{\"process\":" P(
				4999,
				880100) ","
					"\"exe\":\"/usr/bin/bash\",\"exe_sha256\":null," OPERATOR
					",\"ancestors\":"
					"[{\"pid\":4990,\"start_ticks\":870000,\"comm\":\"sshd\"}]}"
					",\"parent_run\":null,"
					"\"inherited\":{\"environment_names\":[\"API_TOKEN\"]},"
					"\"host\":\"web-01\","
					"\"boot_id\":\"5c0a3c8e-14c8-4a0c-9d0e-0d9f3f6c2b11\","
					"\"kernel\":\"6.1.0-18-amd64\","
					"\"pid_namespace\":4026531836,\"ticks_per_second\":100,"
					"\"coverage\":{\"sources\":[\"proc\"],"
					"\"partial\":false,\"events_lost\":0,\"hidepid\":false,"
					"\"vanished\":0,\"skipped\":0,"
					"\"unreadable\":{\"environ\":3},\"first_scan_at\":\"" DAY
					"14:00:01.000000Z\"},"
					"\"stray\":\"0.1\",\"stray_sha256\":null}\n";

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make(struct made *m, void **state)
{
	struct err err = {0};

	*m = (struct made){.state = state, .journal = -1, .prev = CHAIN_START};
	assert_int_equal(mkdir(scratch_path(state, "runs"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(state, "acts"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(state, "runs/" RUN), 0700), 0);
	put_file(scratch_path(state, "runs/" RUN "/run.json"), record);
	assert_int_equal(chain_digest(record, strlen(record), m->record_sha256, &err), 0);
	m->journal = open(scratch_path(state, "runs/" RUN "/journal.jsonl"),
			  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	assert_true(m->journal >= 0);
	assert_int_equal(statedir_open(*state, STATEDIR_WRITE, &m->s, &err), 0);
}

static void unmake(struct made *m)
{
	file_close_fd(&m->journal);
	statedir_close(m->s);
}

/* at: "14:00:02.004"; uptime: seconds since boot less 90,684, both for 14:00:00 + x. */
static void event_up(struct made *m, const char *at, double uptime, const char *known,
		     const char *name, const char *members)
{
	AUTO_FREE char *body = NULL;
	AUTO_FREE char *line = NULL;
	struct chain_seal seal;
	struct err err = {0};
	size_t len;

	assert_true(asprintf(&body,
			     "{\"schema\":\"stray.journal/1\",\"seq\":%" PRIu64 ",\"at\":\"" DAY
			     "%s000Z\",\"mono_ns\":%.0f,\"run\":\"" RUN
			     "\",\"event\":\"%s\",\"known\":\"%s\"%s%s",
			     ++m->seq, at, uptime * 1e9, name, known, *members ? "," : "",
			     members) > 0);
	assert_int_equal(chain_seal(body, strlen(body), m->prev, &line, &len, &seal, &err), 0);
	memcpy(m->prev, seal.hash, sizeof(m->prev));
	assert_int_equal(write(m->journal, line, len), len);
}

static double uptime_of(const char *at)
{
	unsigned h, min;
	double s;

	assert_int_equal(sscanf(at, "%u:%u:%lf", &h, &min, &s), 3);
	return 90684.0 + (h - 14.0) * 3600 + min * 60.0 + s;
}

static void event(struct made *m, const char *at, const char *known, const char *name,
		  const char *members)
{
	event_up(m, at, uptime_of(at), known, name, members);
}

static void open_run(struct made *m)
{
	char members[400];

	snprintf(members, sizeof(members), "\"how\":\"adopted\",\"record_sha256\":\"%s\"," OPERATOR,
		 m->record_sha256);
	event(m, "14:00:02.000", "seen", "run_opened", members);
	event(m, "14:00:02.001", "stated", "adopted",
	      OPERATOR ",\"target\":\"pgid:4102\",\"members\":1,\"started_at\":\"" DAY
		       "13:59:50.000000Z\",\"expired_at\":null");
	event(m, "14:00:02.002", "scanned", "started",
	      "\"process\":" P(4102, 879000) ",\"ppid\":4099,\"pgid\":4102,\"sid\":4102,"
					     "\"comm\":\"agent-runner\",\"args\":[\"agent-runner\"]"
					     ",\"evidence\":[\"chosen\"]");
}

static void watch(struct made *m, const char *at)
{
	event(m, at, "seen", "watch_started",
	      "\"watcher\":" P(
		      5000,
		      880200) "," OPERATOR ",\"interval_ms\":1000,\"coverage\":"
			      "{\"sources\":[\"proc\",\"netlink\"],\"hidepid\":false,\"skipped\":0,"
			      "\"unreadable\":{}}");
}

static void unwatch(struct made *m, const char *at)
{
	event(m, at, "seen", "watch_stopped",
	      "\"watcher\":" P(5000, 880200) ",\"reason\":\"asked\"");
}

static void leave_members(struct made *m)
{
	event(m, "14:00:03.000", "seen", "forked",
	      "\"process\":" P(4102, 879000) ",\"child\":" P(
		      4131, 880300) ",\"ppid\":4102,"
				    "\"pgid\":4102,\"sid\":4102,\"started_at\":\"" DAY
				    "14:00:03.000000Z\",\"uid\":1000,"
				    "\"user\":\"op\",\"comm\":\"sh\",\"args\":[\"sh\",\"-c\",\"./"
				    "deploy.sh\"],"
				    "\"exe\":\"/usr/bin/dash\",\"cwd\":\"/srv/"
				    "app\",\"evidence\":[\"fork\",\"group\"],"
				    "\"classes\":[\"left\"],\"env_credentials\":[\"API_TOKEN\"]");
	event(m, "14:00:03.500", "seen", "forked",
	      "\"process\":" P(4102, 879000) ",\"child\":" P(4140, 880350) ",\"comm\":\"true\"");
	event(m, "14:00:03.600", "seen", "exited", "\"process\":" P(4140, 880350) ",\"status\":0");
	event(m, "14:02:40.000", "seen", "forked",
	      "\"process\":" P(4155, 896000) ",\"child\":" P(
		      4160, 896001) ",\"ppid\":4155,"
				    "\"pgid\":4102,\"sid\":4102,\"started_at\":\"" DAY
				    "14:02:40.010000Z\",\"user\":\"op\","
				    "\"uid\":1000,\"comm\":\"sh\",\"evidence\":[\"fork\"],"
				    "\"flags\":[]");
	event(m, "14:02:40.100", "seen", "setsid",
	      "\"process\":" P(4160, 896001) ",\"from\":4102,\"to\":4160");
	event(m, "14:02:40.200", "scanned", "reparented",
	      "\"process\":" P(4160, 896001) ",\"from\":" P(4155, 896000) ",\"to\":" P(1, 2));
	event(m, "14:02:40.300", "seen", "execed",
	      "\"process\":" P(4160,
			       896001) ",\"comm\":\"sh\",\"exe\":\"/usr/bin/dash\","
				       "\"args\":[\"sh\",\"upload.sh\"],\"args_from\":\"proc\"");
}

/* Ended by itself while nobody looked; found eight minutes later. */
static void come_back(struct made *m)
{
	unwatch(m, "14:03:02.000");
	watch(m, "14:11:07.000");
	event(m, "14:11:07.100", "scanned", "forked",
	      "\"process\":" P(4160, 896001) ",\"child\":" P(
		      4171, 946300) ",\"ppid\":4160,"
				    "\"pgid\":4160,\"sid\":4160,\"started_at\":\"" DAY
				    "14:11:03.000000Z\","
				    "\"comm\":\"curl\",\"args\":[\"curl\",\"" HOSTILE
				    "\"],\"evidence\":[\"parent\"],"
				    "\"remote\":\"198.51.100.9:443\",\"env_credentials\":[],"
				    "\"classes\":[\"detached\",\"authority\"],\"user\":\"" HOSTILE
				    "\"");
	event(m, "14:11:07.200", "scanned", "exited", "\"process\":" P(4102, 879000));
	event(m, "14:11:07.300", "scanned", "run_closed",
	      "\"state\":\"leftover\",\"alive\":3,\"over_at\":\"" DAY
	      "14:03:02.000000Z\",\"over_mono_ns\":90866000000000");
	event(m, "14:11:07.400", "scanned", "leftover",
	      "\"process\":" P(
		      4160,
		      896001) ",\"ppid\":1,\"pgid\":4160,\"sid\":4160,"
			      "\"comm\":\"sh\",\"classes\":[\"detached\"],\"flags\":[\"R\",\"S\","
			      "\"a\"],"
			      "\"evidence\":[\"fork\",\"mark\"],\"remote\":null,\"cwd\":\"/srv/"
			      "app\"");
	event(m, "14:11:30.000", "stated", "note",
	      OPERATOR ",\"text\":\"the deployment of change 4711\",\"process\":" P(4131, 880300));
}

/* A file that an event names; act: what that says of its act, or "". */
static void put_snapshot(struct made *m, const char *at, const char *act, const char *what,
			 const char *path, const char *text)
{
	char members[600], sha256[CHAIN_HEX];
	struct err err = {0};

	put_file(scratch_path(m->state, path), text);
	assert_int_equal(chain_digest(text, strlen(text), sha256, &err), 0);
	snprintf(members, sizeof(members), "%s\"what\":\"%s\",\"file\":\"%s\",\"sha256\":\"%s\"",
		 act, what, path, sha256);
	event(m, at, "seen", "snapshot", members);
}

static void put_own(struct made *m, const char *at, const char *what, const char *file)
{
	char path[100];

	snprintf(path, sizeof(path), "runs/" RUN "/%s", file);
	put_snapshot(m, at, "", what, path, "{\"schema\":\"stray.snapshot/1\"}\n");
}

static void put_act(struct made *m, const char *at, const char *what, const char *file,
		    const char *text)
{
	char path[100];

	snprintf(path, sizeof(path), "acts/20260724T141200Z-4102/%s", file);
	put_snapshot(m, at, "\"act\":\"20260724T141200Z-4102\",", what, path, text);
}

static void end_it(struct made *m)
{
#define ACT "\"act\":\"20260724T141200Z-4102\""
	assert_int_equal(mkdir(scratch_path(m->state, "acts/20260724T141200Z-4102"), 0700), 0);
	event(m, "14:12:00.000", "stated", "end_requested",
	      OPERATOR "," ACT ",\"grace_ns\":5000000000");
	put_act(m, "14:12:00.005", "before", "before.json", "{\"schema\":\"stray.snapshot/1\"}\n");
	event(m, "14:12:00.010", "stated", "signal_intent",
	      ACT "," OPERATOR ",\"signal\":\"TERM\",\"unit\":\"run\",\"number\":null,"
		  "\"grace_ns\":5000000000,\"to\":[" P(4131, 880300) "," P(
			  4160, 896001) "],"
					"\"not_aimed\":[{\"pid\":4171,\"start_ticks\":946300,"
					"\"why\":\"spared by name\"}]");
	event(m, "14:12:00.011", "seen", "signal_sent",
	      ACT ",\"signal\":\"TERM\",\"to\":[{\"pid\":4131,\"start_ticks\":880300,\"result\":"
		  "\"sent\","
		  "\"errno\":null},{\"pid\":4160,\"start_ticks\":896001,\"result\":\"sent\"}]");
	event(m, "14:12:00.041", "seen", "exited",
	      "\"process\":" P(4160, 896001) ",\"signal\":\"TERM\",\"after_ns\":25000000");
	event(m, "14:12:05.011", "scanned", "survivor",
	      "\"process\":" P(4131, 880300) "," ACT
					     ",\"why\":\"ignores_term\",\"signal\":\"TERM\"");
	put_act(m, "14:12:05.050", "diff", "diff.json",
		"{\"schema\":\"stray.diff/1\",\"added\":[],\"removed\":[{\"pid\":4160,"
		"\"start_ticks\":896001,\"args\":[\"sh\",\"upload.sh\"]}],\"changed\":[{\"pid\":"
		"4171,"
		"\"start_ticks\":946300,\"fields\":{\"ppid\":{\"from\":4160,\"to\":1},"
		"\"cwd\":{\"from\":\"" HOSTILE "\",\"to\":null}}},"
		"{\"pid\":4102,\"start_ticks\":879000,\"fields\":{\"state\":{\"from\":\"S\",\"to\":"
		"\"Z\"},"
		"\"args\":{\"from\":[\"x\"],\"to\":[]}}}],\"restarted\":[],\"same\":1}\n");
	event(m, "14:12:05.100", "scanned", "run_closed", "\"state\":\"survived\",\"alive\":2");
	event(m, "14:12:05.200", "seen", "anchored",
	      "\"to\":\"syslog\",\"anchored_seq\":23,\"anchored_head\":\"" CHAIN_START "\"");
	event(m, "14:12:06.000", "seen", "action_refused",
	      "\"action\":\"push to production\",\"state\":\"survived\"," OPERATOR);
}

static void odd_ends(struct made *m)
{
	event(m, "14:12:07.000", "seen", "events_lost", "\"count\":12,\"source\":\"netlink\"");
	event(m, "14:12:08.000", "seen", "ruled", "\"rule\":\"exe=" HOSTILE "\"");
	event_up(m, "14:12:39.000", uptime_of("14:12:09.000"), "seen", "clock_stepped",
		 "\"by_ns\":30000000000");
	event_up(m, "14:12:50.000", uptime_of("14:12:20.000"), "stated", "note",
		 OPERATOR ",\"text\":\"told the owner of " HOSTILE "\",\"process\":null");
}

static void incident(struct made *m, void **state)
{
	struct err err = {0};

	make(m, state);
	open_run(m);
	put_own(m, "14:00:02.004", "before", "before.json");
	watch(m, "14:00:02.500");
	leave_members(m);
	come_back(m);
	end_it(m);
	odd_ends(m);
	assert_int_equal(ledger_note(m->s, RUN, "run_closed", m->seq, m->prev, RUN_SURVIVED, &err),
			 0);
}

/* As text; the version is not what this is about. */
static char *exported(const struct made *m, bool json)
{
	uint64_t now_ns = 0;
	struct export *x = NULL;
	struct err err = {0};
	char *text = NULL, *at;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(clock_parse_rfc3339("2026-07-24T15:00:00.000000Z", &now_ns), 0);
	if (export_read(m->s, RUN, now_ns, &x, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(json ? export_json(out, x, &err) : export_markdown(out, x, &err), 0);
	export_free(x);
	assert_int_equal(fclose(out), 0);
	at = strstr(text, json ? "\"stray\": \"" : " by stray ");
	assert_non_null(at);
	at += 10;
	memmove(at + 1, at + strcspn(at, ",\""), strlen(at + strcspn(at, ",\"")) + 1);
	*at = '?';
	return text;
}

static void assert_like(const char *text, const char *file)
{
	AUTO_FREE char *path = NULL, *want = NULL;

	assert_true(asprintf(&path, "%s/tests/unit/%s", getenv("abs_top_srcdir"), file) > 0);
	if (getenv("REGEN"))
		put_file(path, text);
	assert_true(file_read_all_at(AT_FDCWD, path, 1 << 20, &want) > 0);
	assert_string_equal(text, want);
}

/* tests/unit/export.md and export.json are what an export looks like; with REGEN set they
 * are written anew, to be read before they are committed. */
static void an_incident_reads_as_the_model_does(void **state)
{
	AUTO_FREE char *text = NULL;
	struct made m;

	incident(&m, state);
	text = exported(&m, false);
	assert_like(text, "export.md");
	unmake(&m);
}

static void the_same_incident_as_json(void **state)
{
	AUTO_FREE char *text = NULL;
	json_t *o = NULL;
	struct err err = {0};
	struct made m;

	incident(&m, state);
	text = exported(&m, true);
	assert_int_equal(json_read_line(text, strlen(text), &o, &err), 0);
	json_decref(o);
	assert_like(text, "export.json");
	unmake(&m);
}

/* Each on its line, so that what is sealed can be checked in the export itself. */
static void the_timeline_of_json_holds_the_lines_as_they_were_sealed(void **state)
{
	static const char head[] = "    {\"schema\":\"stray.journal/1\"";
	AUTO_FREE char *text = NULL;
	char prev[CHAIN_HEX] = CHAIN_START;
	unsigned n = 0;
	struct made m;

	incident(&m, state);
	text = exported(&m, true);
	for (char *line = text, *next; line; line = next) {
		struct chain_seal seal;
		size_t len;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, head, sizeof(head) - 1) != 0)
			continue;
		len = strlen(line);
		assert_true(chain_check(line + 4, len - 4 - (line[len - 1] == ','), &seal));
		assert_string_equal(seal.prev, prev);
		memcpy(prev, seal.hash, sizeof(prev));
		n++;
	}
	assert_int_equal(n, m.seq);
	assert_string_equal(prev, m.prev);
	unmake(&m);
}

static void no_process_writes_a_line_or_a_heading_of_its_own(void **state)
{
	AUTO_FREE char *text = NULL;
	struct made m;

	incident(&m, state);
	text = exported(&m, false);
	assert_non_null(strstr(text, "\\\\n\\\\n# Head\\\\n- item"));
	assert_null(strstr(text, "\n# Head"));
	assert_null(strstr(text, "\n- item"));
	assert_null(strstr(text, "<img"));
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	unmake(&m);
}

/* What a journal is, and words that an export of it holds, or NULL. */
static void assert_says(const struct made *m, const char *const *words)
{
	AUTO_FREE char *text = exported(m, false);

	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("'%s' is not in:\n%s", *words, text);
}

static void change_byte(struct made *m, const char *file, off_t from_end)
{
	int fd = open(scratch_path(m->state, file), O_RDWR | O_CLOEXEC);
	off_t at = lseek(fd, -from_end, SEEK_END);
	char c;

	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

static void a_fault_is_said_first_and_what_was_before_it_is_told(void **state)
{
	static const char title[] = "# THE JOURNAL OF THIS RUN DOES NOT HOLD\n";
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *json = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	event(&m, "14:00:09.000", "stated", "note", OPERATOR ",\"text\":\"a lie\"");
	change_byte(&m, "runs/" RUN "/journal.jsonl", 200);
	text = exported(&m, false);
	assert_int_equal(strncmp(text, title, sizeof(title) - 1), 0);
	assert_non_null(strstr(text, "line 4 is not what was written"));
	assert_non_null(strstr(text, "from the 3 events before the fault"));
	assert_non_null(strstr(text, "adopted: pgid:4102"));
	assert_null(strstr(text, "a lie"));
	json = exported(&m, true);
	assert_non_null(
		strstr(json, "\"verdict\": \"changed\",\n    \"holds\": false,\n    \"line\": 4"));
	assert_null(strstr(json, "a lie"));
	unmake(&m);
}

static void a_journal_cut_short_shows_by_the_ledger(void **state)
{
	static const char *const words[] = {"# THE JOURNAL OF THIS RUN DOES NOT HOLD",
					    "its end was cut off", NULL};
	struct err err = {0};
	struct made m;
	off_t size;

	make(&m, state);
	open_run(&m);
	size = lseek(m.journal, 0, SEEK_END);
	event(&m, "14:00:09.000", "stated", "note", OPERATOR ",\"text\":\"a lie\"");
	assert_int_equal(ledger_note(m.s, RUN, "run_closed", m.seq, m.prev, RUN_ENDED, &err), 0);
	assert_int_equal(ftruncate(m.journal, size), 0);
	assert_says(&m, words);
	unmake(&m);
}

static void a_torn_tail_is_said_and_the_rest_is_told(void **state)
{
	static const char *const words[] = {"the chain holds",
					    "the last writer died while it wrote: 9 bytes",
					    "adopted: pgid:4102", NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	assert_int_equal(write(m.journal, "{\"schema\"", 9), 9);
	assert_says(&m, words);
	unmake(&m);
}

static void gaps_of_watching_are_told(void **state)
{
	static const char *const words[] = {
		"nobody watched from " DAY "14:03:02.000000Z to " DAY
		"14:11:07.000000Z: silence is not absence",
		"ended without a word some time after " DAY "14:11:07.000000Z, and nobody watched "
		"from then on to " DAY "14:20:00.000000Z",
		"ended without a word some time after " DAY
		"14:20:00.000000Z, and nobody has watched since: silence is not absence",
		NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	watch(&m, "14:00:02.100");
	unwatch(&m, "14:03:02.000");
	watch(&m, "14:11:07.000");
	watch(&m, "14:20:00.000");
	assert_says(&m, words);
	unmake(&m);
}

static void one_that_nobody_watched_says_so(void **state)
{
	static const char *const words[] = {"nobody ever watched this run", NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	assert_says(&m, words);
	unmake(&m);
}

static void another_boot_and_a_moved_clock_are_told(void **state)
{
	static const char *const words[] = {
		"the host was started anew between event 3 and 4",
		"moved by +60.000 s against the time since boot between event 4 and 5", NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	event_up(&m, "15:00:00.000", 100, "stated", "note", OPERATOR ",\"text\":\"rebooted\"");
	event_up(&m, "15:02:00.000", 160, "stated", "note", OPERATOR ",\"text\":\"later\"");
	assert_says(&m, words);
	unmake(&m);
}

static void a_record_that_was_changed_or_lost_is_told(void **state)
{
	static const char *const changed[] = {"run.json is NOT what the first event says it is",
					      "Its record cannot be read", NULL};
	static const char *const lost[] = {"Its record cannot be read", "adopted: pgid:4102",
					   "No such file", NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	change_byte(&m, "runs/" RUN "/run.json", 3);
	assert_says(&m, changed);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/run.json")), 0);
	assert_says(&m, lost);
	unmake(&m);
}

static void files_that_are_not_what_they_were_prove_nothing(void **state)
{
	static const char *const words[] = {
		"diff.json, **CHANGED since**",
		"before.json, **not there**",
		"no comparison is there that is what the journal says",
		"before.json cannot be read",
		"diff.json is not what the journal says it was: nothing is told from it",
		NULL};
	struct made m;

	incident(&m, state);
	change_byte(&m, "acts/20260724T141200Z-4102/diff.json", 5);
	assert_int_equal(remove(scratch_path(state, "acts/20260724T141200Z-4102/before.json")), 0);
	assert_says(&m, words);
	unmake(&m);
}

static void the_files_of_a_run_are_compared_like_those_of_its_acts(void **state)
{
	static const char *const as_said[] = {
		"- before: runs/" RUN "/before.json, as the journal says\n",
		"- after: runs/" RUN "/after.json, as the journal says\n",
		"Nothing: no act on this run is recorded", NULL};
	static const char *const not_so[] = {"- before: runs/" RUN
					     "/before.json, **CHANGED since**\n",
					     "- after: runs/" RUN "/after.json, **not there**\n",
					     "before.json is not what the journal says it was",
					     "after.json cannot be read", NULL};
	AUTO_FREE char *json = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	put_own(&m, "14:00:02.004", "before", "before.json");
	put_own(&m, "14:00:09.000", "after", "after.json");
	assert_says(&m, as_said);
	change_byte(&m, "runs/" RUN "/before.json", 5);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/after.json")), 0);
	assert_says(&m, not_so);
	json = exported(&m, true);
	assert_non_null(strstr(json, "\n  \"files\": [\n    {\n      \"what\": \"before\""));
	unmake(&m);
}

static void an_end_is_told_of_the_act_that_it_came_in(void **state)
{
	static const char *const words[] = {
		"lived on; ended later, in act two\n",
		"gone " DAY "14:00:09.500000Z, 0.50 s after the first signal to it", NULL};
	static const char *const acts[] = {"one", "two"};
	char members[300];
	struct made m;

	make(&m, state);
	open_run(&m);
	for (size_t i = 0; i < 2; i++) {
		snprintf(members, sizeof(members),
			 "\"act\":\"%s\",\"signal\":\"%s\",\"to\":[" P(4102, 879000) "]", acts[i],
			 i ? "KILL" : "STOP");
		event(&m, "14:00:09.000", "stated", "signal_intent", members);
		event(&m, "14:00:09.000", "seen", "signal_sent", members);
	}
	event(&m, "14:00:09.500", "seen", "exited",
	      "\"act\":\"two\",\"process\":" P(4102, 879000) ",\"signal\":\"KILL\"");
	assert_says(&m, words);
	unmake(&m);
}

/* What a journal of that run says of a member of group 4102: a leftover by its classes. */
static void leave_one(struct made *m, const char *members)
{
	char text[500];

	snprintf(text, sizeof(text),
		 "\"process\":" P(4102, 879000) ",\"child\":" P(
			 4131, 880300) ",\"uid\":0,"
				       "\"user\":\"root\",\"comm\":\"sh\",\"evidence\":[\"fork\","
				       "\"chosen\"],%s",
		 members);
	event(m, "14:00:03.000", "seen", "forked", text);
	event(m, "14:00:04.000", "scanned", "run_closed", "\"state\":\"leftover\",\"alive\":2");
}

static void only_a_note_on_it_or_a_rule_explains_a_leftover(void **state)
{
	static const char *const unexplained[] = {
		"; 2 of these are unexplained (a note on the run as a whole is below)\n",
		"**unexplained** (a note on the run as a whole is below)\n", NULL};
	static const char *const explained[] = {"; 0 of these are unexplained\n",
						"kept by the rule exe=/bin/sh", "all is well",
						NULL};
	AUTO_FREE char *json = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	leave_one(&m, "\"classes\":[\"left\"]");
	event(&m, "14:00:05.000", "stated", "note", OPERATOR ",\"text\":\"all is well\"");
	assert_says(&m, unexplained);
	json = exported(&m, true);
	assert_non_null(strstr(json, "\"explanations\": [],\n      \"unexplained\": true"));
	event(&m, "14:00:06.000", "stated", "kept",
	      "\"process\":" P(4131, 880300) ",\"rule\":\"exe=/bin/sh\"");
	event(&m, "14:00:06.000", "stated", "note",
	      OPERATOR ",\"text\":\"the root\",\"process\":" P(4102, 879000));
	assert_says(&m, explained);
	unmake(&m);
}

static void one_that_a_second_signal_ended_survived_the_first(void **state)
{
	static const char *const words[] = {"**survived** (survived TERM: it ignores TERM)\n",
					    " it survived TERM: it ignores TERM\n",
					    ": lived through TERM: it ignores TERM; gone " DAY
					    "14:00:07.500000Z, 2.50 s after the first signal",
					    "4131@880300 SURVIVED TERM: it ignores TERM\n", NULL};
	AUTO_FREE char *text = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	leave_one(&m, "\"classes\":[\"left\"]");
	event(&m, "14:00:05.000", "stated", "signal_intent",
	      "\"act\":\"one\",\"signal\":\"TERM\",\"to\":[" P(4131, 880300) "]");
	event(&m, "14:00:05.000", "seen", "signal_sent",
	      "\"act\":\"one\",\"signal\":\"TERM\",\"to\":[" P(4131, 880300) "]");
	event(&m, "14:00:07.000", "scanned", "survivor",
	      "\"act\":\"one\",\"process\":" P(
		      4131, 880300) ",\"why\":\"ignores_term\",\"signal\":\"TERM\"");
	event(&m, "14:00:07.500", "seen", "exited",
	      "\"act\":\"one\",\"process\":" P(4131, 880300) ",\"signal\":\"KILL\"");
	assert_says(&m, words);
	text = exported(&m, false);
	assert_null(strstr(text, "nobody had signalled it"));
	unmake(&m);
}

static void how_it_detached_is_said_as_far_as_it_is_known(void **state)
{
	static const char *const cases[][2] = {
		{"\"sid\":4131,\"pgid\":4131", "(a session of its own (setsid))"},
		{"\"sid\":4102,\"pgid\":4131", "(a process group of its own (setpgid))"},
		{"\"sid\":4120,\"pgid\":4120", "(in session 4120, which is not the run's)"},
		{"\"sid\":4102,\"pgid\":4102,\"flags\":[\"C\"]", "(left the run's cgroup)"},
		{"\"sid\":4131,\"pgid\":4131,\"flags\":[\"C\"]",
		 "(left the run's cgroup; a session of its own (setsid))"},
		{"\"flags\":[\"S\"]", "(a session of its own (setsid))"},
		{"\"sid\":4102,\"pgid\":4102", "(by what is not known)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *want = NULL;
		char members[200];
		struct made m;

		make(&m, state);
		open_run(&m);
		snprintf(members, sizeof(members), "\"classes\":[\"detached\"],%s", cases[i][0]);
		leave_one(&m, members);
		assert_true(asprintf(&want, "**detached** %s\n", cases[i][1]) > 0);
		assert_says(&m, (const char *const[]){want, NULL});
		unmake(&m);
		scratch_teardown(state);
		scratch_setup(state);
	}
}

static void the_operator_has_the_name_that_the_journal_knows(void **state)
{
	static const char *const words[] = {
		"note by root (uid 0, login uid unset, terminal pts/2): one\n",
		"note by uid 7, login uid unset, terminal pts/2: two\n", NULL};
	struct made m;

	make(&m, state);
	open_run(&m);
	leave_one(&m, "\"classes\":[\"left\"]");
	event(&m, "14:00:05.000", "stated", "note",
	      "\"operator\":{\"uid\":0,\"login_uid\":-1,\"sudo_user\":null,\"tty\":\"pts/2\"},"
	      "\"text\":\"one\"");
	event(&m, "14:00:05.000", "stated", "note",
	      "\"operator\":{\"uid\":7,\"login_uid\":-1,\"sudo_user\":null,\"tty\":\"pts/2\"},"
	      "\"text\":\"two\"");
	assert_says(&m, words);
	unmake(&m);
}

static void what_two_looks_could_not_read_alike_is_told_once(void **state)
{
	static const char *const words[] = {
		"- the first look and watching: environ of 3 processes of the host could not",
		"- watching: fd of 4 processes of the host could not", NULL};
	AUTO_FREE char *text = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	for (size_t i = 0; i < 2; i++)
		event(&m, "14:00:02.100", "seen", "watch_started",
		      "\"watcher\":" P(5000, 880200) ",\"coverage\":{\"sources\":[\"netlink\"],"
						     "\"unreadable\":{\"environ\":3,\"fd\":4}}");
	assert_says(&m, words);
	text = exported(&m, false);
	assert_null(strstr(strstr(text, "environ of 3") + 1, "environ of 3"));
	unmake(&m);
}

static void what_came_after_the_last_head_of_the_ledger_is_counted(void **state)
{
	static const char *const same[] = {"of event 3 (1 event since, which changes no state)",
					   NULL};
	static const char *const changed[] = {"(2 events since, which **CHANGED the state", NULL};
	struct err err = {0};
	struct made m;

	make(&m, state);
	open_run(&m);
	assert_int_equal(ledger_note(m.s, RUN, "run_opened", m.seq, m.prev, RUN_ACTIVE, &err), 0);
	event(&m, "14:00:05.000", "stated", "note", OPERATOR ",\"text\":\"one\"");
	assert_says(&m, same);
	event(&m, "14:00:06.000", "scanned", "run_closed", "\"state\":\"ended\",\"alive\":0");
	assert_says(&m, changed);
	unmake(&m);
}

static void a_file_elsewhere_is_not_opened(void **state)
{
	static const char *const names[] = {"/etc/passwd",
					    "acts/../runs/" RUN "/run.json",
					    "acts/x/../../secret",
					    "acts/link/secret",
					    "acts/x",
					    "acts//x",
					    "secret",
					    ""};
	AUTO_FREE char *text = NULL;
	char members[300], sha256[CHAIN_HEX];
	struct err err = {0};
	struct made m;

	make(&m, state);
	open_run(&m);
	put_file(scratch_path(state, "secret"), "s");
	assert_int_equal(symlink("..", scratch_path(state, "acts/link")), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(members, sizeof(members),
			 "\"act\":\"x\",\"what\":\"before\",\"file\":\"%s\",\"sha256\":\"\"",
			 names[i]);
		event(&m, "14:00:09.000", "seen", "snapshot", members);
	}
	text = exported(&m, true);
	assert_int_equal(chain_digest("s", 1, sha256, &err), 0);
	assert_null(strstr(text, sha256));
	assert_non_null(strstr(text, "\"state\": \"missing\""));
	assert_null(strstr(text, "\"state\": \"changed\""));
	unmake(&m);
}

/* Sealed, but not what this stray writes: told as far as it goes. */
static void events_of_odd_shapes_are_told_and_counted(void **state)
{
	static const char *const odd[][2] = {
		{"started", "\"process\":7"},
		{"started", "\"process\":" P(9, 9) ",\"comm\":[1],\"args\":{\"a\":1}"},
		{"forked", ""},
		{"exited", "\"process\":{\"pid\":\"x\"}"},
		{"signal_intent", "\"to\":[1,null,{\"pid\":-1}],\"not_aimed\":\"x\",\"signal\":9"},
		{"signal_sent", "\"to\":{}"},
		{"survivor", "\"why\":1"},
		{"snapshot", ""},
		{"note", ""},
		{"watch_started", "\"coverage\":[]"},
		{"run_closed", "\"state\":\"gone\""},
		{"clock_stepped", "\"by_ns\":\"x\""},
		{"adopted", "\"operator\":{\"uid\":-1}"},
		{"never_heard_of", "\"x\":{\"y\":[1,2]}"},
	};
	static const char *const words[] = {"cannot read; they are in the timeline",
					    "never_heard_of {\"x\":{\"y\":\\[1,2\\]}}", NULL};
	AUTO_FREE char *json = NULL;
	struct made m;

	make(&m, state);
	open_run(&m);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		event(&m, "14:00:09.000", "seen", odd[i][0], odd[i][1]);
	assert_says(&m, words);
	json = exported(&m, true);
	assert_non_null(strstr(json, "never_heard_of"));
	unmake(&m);
}

static void a_run_that_is_not_there_is_an_error(void **state)
{
	struct export *x = NULL;
	struct err err = {0};
	struct made m;

	make(&m, state);
	assert_int_equal(export_read(m.s, "run-none", 1, &x, &err), -ENOENT);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/journal.jsonl")), 0);
	assert_int_equal(export_read(m.s, RUN, 1, &x, NULL), -ENOENT);
	assert_null(x);
	unmake(&m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_incident_reads_as_the_model_does),
		T(the_same_incident_as_json),
		T(the_timeline_of_json_holds_the_lines_as_they_were_sealed),
		T(no_process_writes_a_line_or_a_heading_of_its_own),
		T(a_fault_is_said_first_and_what_was_before_it_is_told),
		T(a_journal_cut_short_shows_by_the_ledger),
		T(a_torn_tail_is_said_and_the_rest_is_told),
		T(gaps_of_watching_are_told),
		T(one_that_nobody_watched_says_so),
		T(another_boot_and_a_moved_clock_are_told),
		T(a_record_that_was_changed_or_lost_is_told),
		T(files_that_are_not_what_they_were_prove_nothing),
		T(the_files_of_a_run_are_compared_like_those_of_its_acts),
		T(an_end_is_told_of_the_act_that_it_came_in),
		T(only_a_note_on_it_or_a_rule_explains_a_leftover),
		T(one_that_a_second_signal_ended_survived_the_first),
		T(how_it_detached_is_said_as_far_as_it_is_known),
		T(the_operator_has_the_name_that_the_journal_knows),
		T(what_two_looks_could_not_read_alike_is_told_once),
		T(what_came_after_the_last_head_of_the_ledger_is_counted),
		T(a_file_elsewhere_is_not_opened),
		T(events_of_odd_shapes_are_told_and_counted),
		T(a_run_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
