/*
 * The inside of an export: what was read, and the steps of reading and writing.
 * Private to export*.c.
 */
#ifndef STRAY_RECORD_EXPORT_PARTS_H
#define STRAY_RECORD_EXPORT_PARTS_H

#include "record/digest.h"
#include "record/export.h"
#include "record/ledger.h"
#include "record/story.h"

#define EXPORT_MOVES_MAX 64  /* told of one process; all of them are in the timeline */
#define EXPORT_TEXT_MAX 2000 /* bytes of one text of a process in Markdown */
#define EXPORT_NOTE_BELOW "a note on the run as a whole is below"

/* Events that are kept, each with a reference of its own. */
struct events {
	json_t **v;
	size_t n, cap;
};

/* Beside the member of that index in story.members. */
struct export_member {
	json_t *came;     /* started, or the forked that made it; NULL: gone, and of no interest */
	json_t *leftover; /* all three owned; NULL: there was none */
	json_t *exited;
	struct events survivals; /* each signal that it outlived */
	struct events moves;     /* of lineage, the first EXPORT_MOVES_MAX */
	size_t moves_left_off;
	struct events explanations; /* notes on it, and rules that kept it */
	uint64_t exited_seq;        /* 0: not seen to end */
	bool aimed;                 /* at by an act */
	bool outlived;              /* alive when the run was over, or since */
};

enum export_file_state { EXPORT_FILE_SAME, EXPORT_FILE_CHANGED, EXPORT_FILE_MISSING };

/* A file that the journal names; its texts are borrowed from the event. */
struct export_file {
	const char *what, *name, *sha256; /* "": not said */
	enum export_file_state state;
	char found[DIGEST_HEX]; /* "": not read */
	char why[200];          /* it could not be read; "": it could */
};

struct export_file_list {
	struct export_file *v;
	size_t n, cap;
};

struct export_act {
	char *name; /* owned; "": an act without a directory */
	struct events events;
	VEC(struct identity) aims; /* whom its signals were meant for, each once */
	struct export_file_list files;
	json_t *diff; /* owned: what diff.json holds; NULL: not there, or changed */
};

/* Something that is not known, and why. */
struct export_gap {
	const char *kind;        /* a literal */
	uint64_t from_ns, to_ns; /* wall clock; 0: no such end */
	char *text;              /* owned; may hold text of others */
};

struct export
{
	const struct statedir *state; /* borrowed */
	struct rundir dir;
	int journal; /* to be read once more */
	uint64_t now_wall_ns;
	struct story story; /* its record is zeros where that could not be read */

	char *record_text; /* owned, strict JSON; NULL: could not be read */
	size_t record_len;
	json_t *record;
	char record_why[300]; /* why not; "": it could */
	char record_sha256[CHAIN_HEX];
	const char *record_sealed; /* borrowed from opened; NULL: not said */

	struct ledger_heads ledger;
	struct journal_verdict ledger_verdict;
	char ledger_why[300]; /* it could not be read; "": it could */

	VEC(struct export_member) members;
	VEC(struct export_act) acts;
	VEC(struct export_gap) gaps;
	struct events notes, anchors, refusals; /* notes: of the run as a whole */
	struct events snapshots;                /* of its members, by no act */
	struct export_file_list files;          /* that these name */
	json_t *opened;                         /* owned: the first event; NULL: none */
	/* Of a launched one. */
	json_t *command_exited, *hashed, *closed; /* owned; NULL: none; closed: the last */
	struct events handed_off, detach_denied, runner_lost;
	uint64_t unread; /* events whose members are not what this stray knows */

	uint64_t over_seq, over_wall_ns; /* 0: it is not */
	uint64_t state_seq;              /* of the event that changed the state last */

	/* While it is read. */
	uint64_t last_wall_ns, last_mono_ns, last_seq;
	uint64_t unwatched_ns; /* since when nobody watches */
	bool watched, ever_watched;
};

/* One event more.  0 or -ENOMEM. */
int export_fold(struct export *x, const json_t *event, struct err *err);

/* What can be told only when all was read.  0 or -ENOMEM. */
int export_settle(struct export *x, struct err *err);

/* Whether it is a leftover or a survivor; or was, and ended since. */
bool export_is_leftover(const struct export *x, size_t member);

/* Something that is not known.  0 or -ENOMEM. */
int export_gap(struct export *x, const char *kind, uint64_t from_ns, uint64_t to_ns,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* What a coverage (host_json.h) leaves open; who: "the look at adoption".  0 or -ENOMEM. */
int export_coverage(struct export *x, const json_t *coverage, const char *who);

/* Compares the files that the journal names with what is there.  0 or -ENOMEM. */
int export_files(struct export *x, struct err *err);

/* Members of events; NULL, 0 or zeros where there is none of that type. */
const char *event_str(const json_t *event, const char *key);
uint64_t event_uint(const json_t *event, const char *key);
uint64_t event_time(const json_t *event, const char *key); /* wall clock, ns */
bool event_is(const json_t *event, const char *name);
struct identity event_identity(const json_t *process);  /* {"pid","start_ticks"} */
bool events_add(struct events *l, const json_t *event); /* false when out of memory */
void events_clear(struct events *l);

/* A fact of a member: as of when it was left, else as of when it came; NULL: not known. */
const json_t *export_fact(const struct export_member *m, const char *key);
unsigned export_classes(const struct export *x, size_t member);
/* The last signal that it outlived; borrowed; NULL: none. */
const json_t *export_survivor(const struct export_member *m);
/* Whether its flags, as far as known, have that one. */
bool export_has_flag(const struct export_member *m, const char *flag);
bool export_moved(const struct export_member *m, const char *event);
/* Bits of model/run.h. */
unsigned export_evidence(const struct export *x, size_t member);

/* What became of a process that an act aimed at. */
struct export_fate {
	uint64_t sent_wall_ns, sent_mono_ns; /* the first signal to it; 0: none was sent */
	uint64_t after_ns;                   /* from then to its end; 0: not known */
	const json_t *exited;                /* NULL: not seen to end; all borrowed */
	const json_t *survivor;              /* the last of this act; NULL: none */
	const char *later;                   /* it ended in that act, not in this; NULL: no */
};
struct export_fate export_fate(const struct export *x, const struct export_act *act,
			       struct identity id);

/* The act of the stray that held a launched run: its events name no directory of their own. */
#define EXPORT_OWN_ACT "end"
bool export_is_own(const struct export *x, const struct export_act *act);

/* The first of its events that says who acted; borrowed; NULL: none. */
const json_t *export_act_operator(const struct export_act *act);

/* The commands that check a run without stray, one a line.  Owned; NULL: no memory. */
char *export_commands(const struct export *x);

/* Markdown; an error sticks. */
struct words {
	FILE *out;
	const struct export *x;
	int error; /* 0 or -ENOMEM */
};

void words_text(struct words *w, const char *text, size_t max); /* NULL: "not known" */
void words_identity(struct words *w, const json_t *process);    /* "4160@881000" */
void words_command(struct words *w, const json_t *event, size_t max);
void words_operator(struct words *w, const json_t *event);
/* With the user's name, where the journal has one for the uid. */
void words_by(struct words *w, const struct operator* o);
/* "TERM: it ignores TERM", of a survivor event. */
void words_outlived(struct words *w, const json_t *event);
void words_event(struct words *w, const json_t *event); /* the event in a sentence */
void words_list(struct words *w, const json_t *texts);  /* "a, b" */
/* One a line, as items, and whether it is what the journal says. */
void words_files(struct words *w, const struct export_file_list *files);

/* Chapters. */
void export_md_run(struct words *w, const struct export *x);
/* Of a launched run: what held it; in a sentence how it ended; what left it another way. */
void export_md_held(struct words *w, const struct export *x);
void export_md_ended(struct words *w, const struct export *x);
void export_md_escapes(struct words *w, const struct export *x);
/* Why its end was asked for, of an end_requested. */
void words_cause(struct words *w, const json_t *event);
void export_md_leftovers(struct words *w, const struct export *x);
void export_md_acts(struct words *w, const struct export *x);
void export_md_verification(struct words *w, const struct export *x);
/* "4160@881000 sh upload.sh", with the command as last known. */
void export_md_member(struct words *w, const struct export *x, struct identity id);

void export_json_verification(struct jw *j, const struct export *x);
void export_json_launched(struct jw *j, const struct export *x);
void export_json_leftovers(struct jw *j, const struct export *x);
void export_json_acts(struct jw *j, const struct export *x);
void export_json_files(struct jw *j, const struct export_file_list *files);
/* Numbers of events in the timeline; first may be NULL. */
void export_json_seqs(struct jw *j, const char *key, const json_t *first, const struct events *l);
void export_json_value(struct jw *j, const char *key, const json_t *value);

#endif
