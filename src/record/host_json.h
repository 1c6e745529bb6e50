/*
 * What a file says of the host it was taken on and of what it does not cover
 * (doc/FORMATS.md), for snapshots, diffs and acts alike.
 */
#ifndef STRAY_RECORD_HOST_JSON_H
#define STRAY_RECORD_HOST_JSON_H

#include "base/json_write.h"
#include "model/table.h"

/* host, boot_id, kernel, taken_at, boottime_ns, ticks_per_second, pid_namespace,
 * pid_namespace_initial, net_namespace, uid, taker: into the open object. */
void host_json(struct jw *j, const struct host *h);

/* systemd (whether it runs the host) and logins (null where not readable). */
void host_json_logins(struct jw *j, const struct host *h);

/* The member "coverage". */
void coverage_json(struct jw *j, const struct coverage *c);

/* A time in RFC 3339; 0: null. */
void time_json(struct jw *j, const char *key, uint64_t wall_ns);

#endif
