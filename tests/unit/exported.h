/*
 * State directories to export from: with one run, whose journal is written line by line, with
 * times of our own, sealed as journal.c seals.  Everything here fails the test (cmocka) where it
 * cannot be done.
 */
#ifndef STRAY_TESTS_UNIT_EXPORTED_H
#define STRAY_TESTS_UNIT_EXPORTED_H

#include "record/journal.h"
#include "record/statedir.h"

#include <sys/types.h>

#define RUN "run-7f3c0a12"
#define DAY "2026-07-24T"
#define OPERATOR \
	"\"operator\":{\"uid\":0,\"login_uid\":1000,\"sudo_user\":\"op\",\"tty\":\"pts/2\"}"
#define P(pid, start) "{\"pid\":" #pid ",\"start_ticks\":" #start "}"

struct exported {
	void **state;
	struct statedir *s;
	int journal;
	uint64_t seq;
	char prev[CHAIN_HEX];
	char record_sha256[CHAIN_HEX];
};

/* Of cmocka's *state by scratch.h; exported_end() closes what it opened. */
void exported_begin(struct exported *m, void **state);
void exported_end(struct exported *m);

/* at: "14:00:02.004"; uptime: seconds since boot, 90,684 at 14:00:00. */
void exported_event_up(struct exported *m, const char *at, double uptime, const char *known,
		       const char *name, const char *members);
/* The same, of a clock that runs straight. */
void exported_event(struct exported *m, const char *at, const char *known, const char *name,
		    const char *members);

/* run_opened, adopted, started: of 4102. */
void exported_open_run(struct exported *m);
void exported_watch(struct exported *m, const char *at);
void exported_unwatch(struct exported *m, const char *at);

/* Forks 4131, a leftover that `members` say more of, as the run is over. */
void exported_leave_one(struct exported *m, const char *members);

/* A snapshot of the run's own members, and the event that names it. */
void exported_own_file(struct exported *m, const char *at, const char *what, const char *file);

/* All of it: a run that leaves some, a view that comes back, an end with a survivor. */
void exported_incident(struct exported *m, void **state);

/* Makes a file. */
void exported_file(const char *path, const char *text);
/* Changes a byte of a file of the state directory. */
void exported_change_byte(struct exported *m, const char *file, off_t from_end);

/* Owned: as text, the version made "?"; it is not what this is about. */
char *exported_text(const struct exported *m, bool json);
/* Fails where one of the words is not in the Markdown; NULL ends them. */
void exported_says(const struct exported *m, const char *const *words);

#endif
