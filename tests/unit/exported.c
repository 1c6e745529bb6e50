#include "tests/unit/exported.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/export.h"
#include "record/ledger.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define HOSTILE "x\\n\\n# Head\\n- item\\n<img src=x>|[a](http://b)`c`\\u001b[2J\\u202e"

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

void exported_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

void exported_begin(struct exported *m, void **state)
{
	struct err err = {0};

	*m = (struct exported){.state = state, .journal = -1, .prev = CHAIN_START};
	assert_int_equal(mkdir(scratch_path(state, "runs"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(state, "acts"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(state, "runs/" RUN), 0700), 0);
	exported_file(scratch_path(state, "runs/" RUN "/run.json"), record);
	assert_int_equal(chain_digest(record, strlen(record), m->record_sha256, &err), 0);
	m->journal = open(scratch_path(state, "runs/" RUN "/journal.jsonl"),
			  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	assert_true(m->journal >= 0);
	assert_int_equal(statedir_open(*state, STATEDIR_WRITE, &m->s, &err), 0);
}

void exported_end(struct exported *m)
{
	file_close_fd(&m->journal);
	statedir_close(m->s);
}

/* at: "14:00:02.004"; uptime: seconds since boot less 90,684, both for 14:00:00 + x. */
void exported_event_up(struct exported *m, const char *at, double uptime, const char *known,
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

void exported_event(struct exported *m, const char *at, const char *known, const char *name,
		    const char *members)
{
	exported_event_up(m, at, uptime_of(at), known, name, members);
}

void exported_open_run(struct exported *m)
{
	char members[400];

	snprintf(members, sizeof(members), "\"how\":\"adopted\",\"record_sha256\":\"%s\"," OPERATOR,
		 m->record_sha256);
	exported_event(m, "14:00:02.000", "seen", "run_opened", members);
	exported_event(m, "14:00:02.001", "stated", "adopted",
		       OPERATOR ",\"target\":\"pgid:4102\",\"members\":1,\"started_at\":\"" DAY
				"13:59:50.000000Z\",\"expired_at\":null");
	exported_event(m, "14:00:02.002", "scanned", "started",
		       "\"process\":" P(
			       4102, 879000) ",\"ppid\":4099,\"pgid\":4102,\"sid\":4102,"
					     "\"comm\":\"agent-runner\",\"args\":[\"agent-runner\"]"
					     ",\"evidence\":[\"chosen\"]");
}

void exported_watch(struct exported *m, const char *at)
{
	exported_event(m, at, "seen", "watch_started",
		       "\"watcher\":" P(5000, 880200) "," OPERATOR
						      ",\"interval_ms\":1000,\"coverage\":"
						      "{\"sources\":[\"proc\",\"netlink\"],"
						      "\"hidepid\":false,\"skipped\":0,"
						      "\"unreadable\":{}}");
}

void exported_unwatch(struct exported *m, const char *at)
{
	exported_event(m, at, "seen", "watch_stopped",
		       "\"watcher\":" P(5000, 880200) ",\"reason\":\"asked\"");
}

static void leave_members(struct exported *m)
{
	exported_event(
		m, "14:00:03.000", "seen", "forked",
		"\"process\":" P(4102, 879000) ",\"child\":" P(
			4131, 880300) ",\"ppid\":4102,"
				      "\"pgid\":4102,\"sid\":4102,\"started_at\":\"" DAY
				      "14:00:03.000000Z\",\"uid\":1000,"
				      "\"user\":\"op\",\"comm\":\"sh\",\"args\":[\"sh\",\"-c\",\"./"
				      "deploy.sh\"],"
				      "\"exe\":\"/usr/bin/dash\",\"cwd\":\"/srv/"
				      "app\",\"evidence\":[\"fork\",\"group\"],"
				      "\"classes\":[\"left\"],\"env_credentials\":[\"API_TOKEN\"]");
	exported_event(
		m, "14:00:03.500", "seen", "forked",
		"\"process\":" P(4102, 879000) ",\"child\":" P(4140, 880350) ",\"comm\":\"true\"");
	exported_event(m, "14:00:03.600", "seen", "exited",
		       "\"process\":" P(4140, 880350) ",\"status\":0");
	exported_event(m, "14:02:40.000", "seen", "forked",
		       "\"process\":" P(4155, 896000) ",\"child\":" P(
			       4160, 896001) ",\"ppid\":4155,"
					     "\"pgid\":4102,\"sid\":4102,\"started_at\":\"" DAY
					     "14:02:40.010000Z\",\"user\":\"op\","
					     "\"uid\":1000,\"comm\":\"sh\",\"evidence\":[\"fork\"],"
					     "\"flags\":[]");
	exported_event(m, "14:02:40.100", "seen", "setsid",
		       "\"process\":" P(4160, 896001) ",\"from\":4102,\"to\":4160");
	exported_event(
		m, "14:02:40.200", "scanned", "reparented",
		"\"process\":" P(4160, 896001) ",\"from\":" P(4155, 896000) ",\"to\":" P(1, 2));
	exported_event(
		m, "14:02:40.300", "seen", "execed",
		"\"process\":" P(4160,
				 896001) ",\"comm\":\"sh\",\"exe\":\"/usr/bin/dash\","
					 "\"args\":[\"sh\",\"upload.sh\"],\"args_from\":\"proc\"");
}

/* Ended by itself while nobody looked; found eight minutes later. */
static void come_back(struct exported *m)
{
	exported_unwatch(m, "14:03:02.000");
	exported_watch(m, "14:11:07.000");
	exported_event(
		m, "14:11:07.100", "scanned", "forked",
		"\"process\":" P(4160, 896001) ",\"child\":" P(
			4171, 946300) ",\"ppid\":4160,"
				      "\"pgid\":4160,\"sid\":4160,\"started_at\":\"" DAY
				      "14:11:03.000000Z\","
				      "\"comm\":\"curl\",\"args\":[\"curl\",\"" HOSTILE
				      "\"],\"evidence\":[\"parent\"],"
				      "\"remote\":\"198.51.100.9:443\",\"env_credentials\":[],"
				      "\"classes\":[\"detached\",\"authority\"],\"user\":\"" HOSTILE
				      "\"");
	exported_event(m, "14:11:07.200", "scanned", "exited", "\"process\":" P(4102, 879000));
	exported_event(m, "14:11:07.300", "scanned", "run_closed",
		       "\"state\":\"leftover\",\"alive\":3,\"over_at\":\"" DAY
		       "14:03:02.000000Z\",\"over_mono_ns\":90866000000000");
	exported_event(
		m, "14:11:07.400", "scanned", "leftover",
		"\"process\":" P(
			4160,
			896001) ",\"ppid\":1,\"pgid\":4160,\"sid\":4160,"
				"\"comm\":\"sh\",\"classes\":[\"detached\"],\"flags\":[\"R\",\"S\","
				"\"a\"],"
				"\"evidence\":[\"fork\",\"mark\"],\"remote\":null,\"cwd\":\"/srv/"
				"app\"");
	exported_event(m, "14:11:30.000", "stated", "note",
		       OPERATOR
		       ",\"text\":\"the deployment of change 4711\",\"process\":" P(4131, 880300));
}

/* A file that an event names; act: what that says of its act, or "". */
static void put_snapshot(struct exported *m, const char *at, const char *act, const char *what,
			 const char *path, const char *text)
{
	char members[600], sha256[CHAIN_HEX];
	struct err err = {0};

	exported_file(scratch_path(m->state, path), text);
	assert_int_equal(chain_digest(text, strlen(text), sha256, &err), 0);
	snprintf(members, sizeof(members), "%s\"what\":\"%s\",\"file\":\"%s\",\"sha256\":\"%s\"",
		 act, what, path, sha256);
	exported_event(m, at, "seen", "snapshot", members);
}

void exported_own_file(struct exported *m, const char *at, const char *what, const char *file)
{
	char path[100];

	snprintf(path, sizeof(path), "runs/" RUN "/%s", file);
	put_snapshot(m, at, "", what, path, "{\"schema\":\"stray.snapshot/1\"}\n");
}

static void put_act(struct exported *m, const char *at, const char *what, const char *file,
		    const char *text)
{
	char path[100];

	snprintf(path, sizeof(path), "acts/20260724T141200Z-4102/%s", file);
	put_snapshot(m, at, "\"act\":\"20260724T141200Z-4102\",", what, path, text);
}

static void end_it(struct exported *m)
{
#define ACT "\"act\":\"20260724T141200Z-4102\""
	assert_int_equal(mkdir(scratch_path(m->state, "acts/20260724T141200Z-4102"), 0700), 0);
	exported_event(m, "14:12:00.000", "stated", "end_requested",
		       OPERATOR "," ACT ",\"grace_ns\":5000000000");
	put_act(m, "14:12:00.005", "before", "before.json", "{\"schema\":\"stray.snapshot/1\"}\n");
	exported_event(m, "14:12:00.010", "stated", "signal_intent",
		       ACT
		       "," OPERATOR ",\"signal\":\"TERM\",\"unit\":\"run\",\"number\":null,"
		       "\"grace_ns\":5000000000,\"to\":[" P(4131, 880300) "," P(
			       4160, 896001) "],"
					     "\"not_aimed\":[{\"pid\":4171,\"start_ticks\":946300,"
					     "\"why\":\"spared by name\"}]");
	exported_event(
		m, "14:12:00.011", "seen", "signal_sent",
		ACT ",\"signal\":\"TERM\",\"to\":[{\"pid\":4131,\"start_ticks\":880300,\"result\":"
		    "\"sent\","
		    "\"errno\":null},{\"pid\":4160,\"start_ticks\":896001,\"result\":\"sent\"}]");
	exported_event(m, "14:12:00.041", "seen", "exited",
		       "\"process\":" P(4160, 896001) ",\"signal\":\"TERM\",\"after_ns\":25000000");
	exported_event(
		m, "14:12:05.011", "scanned", "survivor",
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
	exported_event(m, "14:12:05.100", "scanned", "run_closed",
		       "\"state\":\"survived\",\"alive\":2");
	exported_event(m, "14:12:05.200", "seen", "anchored",
		       "\"to\":\"syslog\",\"anchored_seq\":23,\"anchored_head\":\"" CHAIN_START
		       "\"");
	exported_event(m, "14:12:06.000", "seen", "action_refused",
		       "\"action\":\"push to production\",\"state\":\"survived\"," OPERATOR);
}

static void odd_ends(struct exported *m)
{
	exported_event(m, "14:12:07.000", "seen", "events_lost",
		       "\"count\":12,\"source\":\"netlink\"");
	exported_event(m, "14:12:08.000", "seen", "ruled", "\"rule\":\"exe=" HOSTILE "\"");
	exported_event_up(m, "14:12:39.000", uptime_of("14:12:09.000"), "seen", "clock_stepped",
			  "\"by_ns\":30000000000");
	exported_event_up(m, "14:12:50.000", uptime_of("14:12:20.000"), "stated", "note",
			  OPERATOR ",\"text\":\"told the owner of " HOSTILE "\",\"process\":null");
}

void exported_incident(struct exported *m, void **state)
{
	struct err err = {0};

	exported_begin(m, state);
	exported_open_run(m);
	exported_own_file(m, "14:00:02.004", "before", "before.json");
	exported_watch(m, "14:00:02.500");
	leave_members(m);
	come_back(m);
	end_it(m);
	odd_ends(m);
	assert_int_equal(
		ledger_note(m->s, RUN, "run_closed", m->seq, m->prev, RUN_SURVIVED, true, &err), 0);
}

/* As text; the version is not what this is about. */
char *exported_text(const struct exported *m, bool json)
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

/* What a journal is, and words that an export of it holds, or NULL. */
void exported_says(const struct exported *m, const char *const *words)
{
	AUTO_FREE char *text = exported_text(m, false);

	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("'%s' is not in:\n%s", *words, text);
}

void exported_change_byte(struct exported *m, const char *file, off_t from_end)
{
	int fd = open(scratch_path(m->state, file), O_RDWR | O_CLOEXEC);
	off_t at = lseek(fd, -from_end, SEEK_END);
	char c;

	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

/* What a journal of that run says of a member of group 4102: a leftover by its classes. */
void exported_leave_one(struct exported *m, const char *members)
{
	char text[500];

	snprintf(text, sizeof(text),
		 "\"process\":" P(4102, 879000) ",\"child\":" P(
			 4131, 880300) ",\"uid\":0,"
				       "\"user\":\"root\",\"comm\":\"sh\",\"evidence\":[\"fork\","
				       "\"chosen\"],%s",
		 members);
	exported_event(m, "14:00:03.000", "seen", "forked", text);
	exported_event(m, "14:00:04.000", "scanned", "run_closed",
		       "\"state\":\"leftover\",\"alive\":2");
}
