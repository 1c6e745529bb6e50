/* What the two kinds of unit.h give to unit.c.  Nobody else includes this. */
#ifndef STRAY_CONTAIN_UNIT_PARTS_H
#define STRAY_CONTAIN_UNIT_PARTS_H

#include "contain/unit.h"

bool identity_list_add(struct identity_list *l, struct identity id);

int unit_cgroup_make(struct unit *u, const char *id, struct identity owner, struct err *err);
int unit_cgroup_members(const struct unit *u, unit_holder_fn *holder, void *ctx,
			struct identity_list *out, struct err *err);
int unit_cgroup_is_empty(const struct unit *u, struct err *err);
void unit_cgroup_remove(struct unit *u);

int unit_tree_members(const struct unit *u, struct identity_list *out, struct err *err);

#endif
