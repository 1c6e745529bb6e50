#include "record/phrase.h"

#include "base/clock.h"
#include "record/markdown.h"

#include <inttypes.h>
#include <string.h>

void phrase_time(FILE *out, uint64_t wall_ns)
{
	char text[CLOCK_RFC3339_MAX];

	clock_rfc3339(wall_ns, text);
	fputs(wall_ns ? text : "not known", out);
}

void phrase_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%02u s", (uint64_t)(ns / CLOCK_NS_PER_S),
		(unsigned)(ns % CLOCK_NS_PER_S * 100 / CLOCK_NS_PER_S));
}

void phrase_signal(FILE *out, int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		fputs(name, out);
	else
		fprintf(out, "signal %d", signal);
}

const char *phrase_why_alive(const char *name)
{
	static const struct {
		const char *name, *words;
	} reasons[] = {
		{"ignores_term", "it ignores TERM"},
		{"stopped", "it is stopped: the signal waits"},
		{"traced", "it is traced: the signal waits"},
		{"uninterruptible", "it waits in the kernel (D) and takes no signal"},
		{"frozen", "its cgroup is frozen: the signal waits"},
		{"not_permitted", "signalling it was not permitted"},
		{"pidns_init",
		 "it is the init of a PID namespace, which ignores what it does not handle"},
		{"respawned", "it was started again"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(name, reasons[i].name) == 0)
			return reasons[i].words;
	return name;
}

int phrase_text(FILE *out, const char *text)
{
	return markdown_text(out, text, strlen(text), 0);
}

int phrase_item(FILE *out, const char *label, const char *text)
{
	int r;

	if (!text || !*text)
		return 0;
	fprintf(out, "- %s: ", label);
	r = phrase_text(out, text);
	fputs("\n", out);
	return r;
}

int phrase_operator(FILE *out, const struct operator* o)
{
	int r = 0;

	fprintf(out, "uid %" PRIu32, (uint32_t)o->uid);
	if (o->login_uid >= 0)
		fprintf(out, ", login uid %" PRId64, o->login_uid);
	else
		fprintf(out, ", login uid %s", o->login_uid == -1 ? "unset" : "not known");
	if (*o->sudo_user) {
		fputs(", sudo from ", out);
		r = phrase_text(out, o->sudo_user);
	}
	fputs(", terminal ", out);
	return r ? r : phrase_text(out, *o->tty ? o->tty : "none");
}
