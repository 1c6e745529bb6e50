/*
 * The two clocks of a record, and how their values are written.
 *
 * Wall clock (CLOCK_REALTIME) is for people and may jump; boot time
 * (CLOCK_BOOTTIME) orders events on one machine and counts suspend.
 * This module never sleeps.
 */
#ifndef STRAY_BASE_CLOCK_H
#define STRAY_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_NS_PER_S 1000000000ULL
#define CLOCK_RFC3339_MAX 32

uint64_t clock_wall_ns(void); /* ns since 1970-01-01 UTC */
uint64_t clock_boot_ns(void); /* ns since boot, with suspend: clock_gettime(2) */

/* "2026-07-24T14:00:32.004112Z": UTC with microseconds.  out holds at least
 * CLOCK_RFC3339_MAX bytes. */
void clock_rfc3339(uint64_t wall_ns, char out[static CLOCK_RFC3339_MAX]);

/* Reads what clock_rfc3339 writes (any number of fraction digits, zone Z).
 * 0, or -EINVAL, also for what is before 1970 or after 2261. */
int clock_parse_rfc3339(const char *text, uint64_t *wall_ns);

/* "14:03:07" in UTC.  out holds at least 9 bytes. */
void clock_hms(uint64_t wall_ns, char out[static 9]);

/* An age in the fewest letters that still tell: "4s", "8m27s", "3h12m",
 * "2d04h".  out holds at least 16 bytes. */
void clock_age(uint64_t seconds, char out[static 16]);

/*
 * A duration as timeout(1) takes it: a number with an optional fraction and an
 * optional unit s, m, h or d.  0, or -EINVAL (also for negative, NaN, or more
 * than 1000 years).
 */
int clock_parse_duration(const char *text, uint64_t *ns);

#endif
