/*
 * The inside of an act, shared by the files that make it: act.c (order),
 * act_freeze.c (freeze and thaw), act_outcome.c (what came of it),
 * act_contacts.c (who is connected).
 */
#ifndef STRAY_ENGINE_ACT_STATE_H
#define STRAY_ENGINE_ACT_STATE_H

#include "contain/ladder.h"
#include "engine/act.h"
#include "engine/act_record.h"
#include "engine/look.h"

struct act {
	struct act_options options;
	struct look look; /* its own scans, folded onto a copy of the caller's table */
	struct run run;   /* its own copy, where there is one */
	bool has_run;
	struct aim aim; /* what members are found by; ids and added are owned */
	struct identity *ids, *added;
	struct ladder *ladder;    /* NULL for freeze and thaw */
	struct target_set frozen; /* of freeze and thaw */
	struct act_outcome outcome;
	struct act_record *record; /* NULL: unrecorded */
};

/* Tells the record that sig goes to these now (struct act_hooks). */
int act_before_signal(void *ctx, int sig, const struct identity *to, size_t n, struct err *err);

/* STOP until no new one appears, or CONT to each; a run that is a control group
 * by the kernel's freezer.  Over when it returns. */
int act_freeze_or_thaw(struct act *a, const struct plan *plan, const struct act_hooks *hooks,
		       struct err *err);

/* Whether a signal ends a process that does nothing about it: signal(7). */
bool act_ends_by_default(int sig);

/* Tells of each what became of it by now; last: members not aimed at and new ones, too.
 * 0 or -ENOMEM. */
int act_fill_outcome(struct act *a, bool last);

/* Frees who is in it, and what was sent and found; not its tables. */
void act_clear_lists(struct act_outcome *o);

/* Reads what the act's own lean scans did not, of those that the record shows. */
void act_complete_details(struct act *a);

/* The connections of the plan's targets and of members, before anything is sent; and again, of
 * all that the outcome names.  0 or -ENOMEM. */
int act_contacts_before(struct act *a, const struct plan *plan, struct err *err);
int act_contacts_after(struct act *a, struct err *err);

/* The diff between before and after of those in the outcome. */
int act_compare(struct act *a, struct err *err);

#endif
