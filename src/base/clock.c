#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * CLOCK_NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_wall_ns(void)
{
	return now(CLOCK_REALTIME);
}

uint64_t clock_boot_ns(void)
{
	return now(CLOCK_BOOTTIME);
}

/* By hand: a record has a time in each line.  Returns where it ends. */
static char *put_digits(char *out, unsigned v, int digits, char then)
{
	for (int i = digits - 1; i >= 0; i--, v /= 10)
		out[i] = (char)('0' + v % 10);
	out[digits] = then;
	return out + digits + 1;
}

void clock_rfc3339(uint64_t wall_ns, char out[static CLOCK_RFC3339_MAX])
{
	time_t s = (time_t)(wall_ns / CLOCK_NS_PER_S);
	unsigned us = (unsigned)(wall_ns % CLOCK_NS_PER_S / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	out = put_digits(out, (unsigned)tm.tm_year + 1900, 4, '-');
	out = put_digits(out, (unsigned)tm.tm_mon + 1, 2, '-');
	out = put_digits(out, (unsigned)tm.tm_mday, 2, 'T');
	out = put_digits(out, (unsigned)tm.tm_hour, 2, ':');
	out = put_digits(out, (unsigned)tm.tm_min, 2, ':');
	out = put_digits(out, (unsigned)tm.tm_sec, 2, '.');
	*put_digits(out, us, 6, 'Z') = '\0';
}

int clock_parse_rfc3339(const char *text, uint64_t *wall_ns)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ns = 0, scale = CLOCK_NS_PER_S / 10;
	time_t s;

	if (!rest)
		return -EINVAL;
	if (*rest == '.') {
		rest++;
		if (*rest < '0' || *rest > '9')
			return -EINVAL;
		for (; *rest >= '0' && *rest <= '9'; rest++, scale /= 10)
			ns += (uint64_t)(*rest - '0') * scale;
	}
	if (strcmp(rest, "Z") != 0)
		return -EINVAL;
	s = timegm(&tm);
	/* so that a difference of two times fits an int64_t */
	if (s < 0 || s >= (time_t)(INT64_MAX / CLOCK_NS_PER_S))
		return -EINVAL;
	*wall_ns = (uint64_t)s * CLOCK_NS_PER_S + ns;
	return 0;
}

void clock_hms(uint64_t wall_ns, char out[static 9])
{
	time_t s = (time_t)(wall_ns / CLOCK_NS_PER_S);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(out, 9, "%H:%M:%S", &tm);
}

void clock_age(uint64_t s, char out[static 16])
{
	if (s < 60)
		snprintf(out, 16, "%" PRIu64 "s", s);
	else if (s < 3600)
		snprintf(out, 16, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 16, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s % 3600 / 60);
	else
		snprintf(out, 16, "%" PRIu64 "d%02" PRIu64 "h", s / 86400 % 1000000,
			 s % 86400 / 3600);
}

int clock_parse_duration(const char *text, uint64_t *ns)
{
	static const double limit_s = 1000.0 * 366 * 86400;
	char *end;
	double v;

	if (!((*text >= '0' && *text <= '9') || *text == '.'))
		return -EINVAL;
	v = strtod(text, &end);
	if (end == text || strpbrk(text, "xXpP") || !isfinite(v))
		return -EINVAL;
	switch (*end) {
	case 'd':
		v *= 24;
		/* fall through */
	case 'h':
		v *= 60;
		/* fall through */
	case 'm':
		v *= 60;
		/* fall through */
	case 's':
		end++;
		break;
	default:
		break;
	}
	if (*end || v > limit_s)
		return -EINVAL;
	*ns = (uint64_t)(v * (double)CLOCK_NS_PER_S);
	return 0;
}
