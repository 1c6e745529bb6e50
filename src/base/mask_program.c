#include "base/mask_parts.h"

#include <string.h>
#include <strings.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

enum place { NEXT = 1, GLUED = 2, BOTH = 3 };

/* Programs with short options whose value is a secret, or holds one. */
static const struct rule {
	const char *program; /* a '*' at its end: or longer */
	const char *sub;     /* only behind this word */
	const char *letters; /* short options; NULL: bare words name settings */
	enum place place;    /* of the value */
	enum mask_value value;
	const char *flags; /* letters without a value, that may stand before */
	bool once;         /* behind it another program's options stand */
} rules[] = {
	{"mysql*", NULL, "p", GLUED, MASK_VALUE_SECRET, "", false},
	{"mariadb*", NULL, "p", GLUED, MASK_VALUE_SECRET, "", false},
	{"7z*", NULL, "p", GLUED, MASK_VALUE_SECRET, "", false},
	{"sshpass", NULL, "p", BOTH, MASK_VALUE_SECRET, "v", true},
	{"curl", NULL, "uUE", BOTH, MASK_VALUE_COLON, "#0123469afgiIjJkLlnNOpqRsSvBZ", false},
	{"curl", NULL, "b", BOTH, MASK_VALUE_COOKIE, "#0123469afgiIjJkLlnNOpqRsSvBZ", false},
	{"http", NULL, "a", BOTH, MASK_VALUE_COLON, "bdfhv", false},
	{"https", NULL, "a", BOTH, MASK_VALUE_COLON, "bdfhv", false},
	{"xh", NULL, "a", BOTH, MASK_VALUE_COLON, "bdfhv", false},
	{"redis-cli", NULL, "a", BOTH, MASK_VALUE_SECRET, "", false},
	{"valkey-cli", NULL, "a", BOTH, MASK_VALUE_SECRET, "", false},
	{"mongo*", NULL, "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"ldap*", NULL, "w", BOTH, MASK_VALUE_SECRET, "xvZ", false},
	{"smbclient", NULL, "U", BOTH, MASK_VALUE_PERCENT, "", false},
	{"smbget", NULL, "U", BOTH, MASK_VALUE_PERCENT, "", false},
	{"rpcclient", NULL, "U", BOTH, MASK_VALUE_PERCENT, "", false},
	{"lftp", NULL, "u", BOTH, MASK_VALUE_COMMA, "d", false},
	{"zip", NULL, "P", BOTH, MASK_VALUE_SECRET, "erjqmv", false},
	{"unzip", NULL, "P", BOTH, MASK_VALUE_SECRET, "fjlnopqtuvx", false},
	{"snmpget*", NULL, "AXc", BOTH, MASK_VALUE_SECRET, "", false},
	{"snmpwalk", NULL, "AXc", BOTH, MASK_VALUE_SECRET, "", false},
	{"snmpbulk*", NULL, "AXc", BOTH, MASK_VALUE_SECRET, "", false},
	{"snmpset", NULL, "AXc", BOTH, MASK_VALUE_SECRET, "", false},
	{"ipmitool", NULL, "P", BOTH, MASK_VALUE_SECRET, "v", false},
	{"rdesktop", NULL, "p", BOTH, MASK_VALUE_SECRET, "f", false},
	{"sqlcmd", NULL, "P", BOTH, MASK_VALUE_SECRET, "", false},
	{"cqlsh", NULL, "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"mosquitto_*", NULL, "P", BOTH, MASK_VALUE_SECRET, "dl", false},
	{"rabbitmqadmin", NULL, "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"openssl", NULL, "kK", NEXT, MASK_VALUE_SECRET, "", false},
	{"ssh-keygen", NULL, "NP", BOTH, MASK_VALUE_SECRET, "pq", false},
	{"docker", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"podman", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"nerdctl", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"buildah", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"skopeo", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"helm", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"oras", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"az", "login", "p", BOTH, MASK_VALUE_SECRET, "", false},
	{"aws", "set", NULL, NEXT, MASK_VALUE_SECRET, "", false},
	{"npm", "set", NULL, NEXT, MASK_VALUE_SECRET, "", false},
	{"git", "config", NULL, NEXT, MASK_VALUE_SECRET, "", false},
	{"nmcli", NULL, NULL, NEXT, MASK_VALUE_SECRET, "", false},
};

_Static_assert(N(rules) <= 64, "struct mask_programs has a bit for each rule");

/* Long options that only one program means so. */
static const struct {
	const char *program, *name;
	enum mask_value value;
} longs[] = {
	{"curl", "user", MASK_VALUE_COLON},
	{"curl", "proxy-user", MASK_VALUE_COLON},
	{"curl", "cert", MASK_VALUE_COLON},
	{"curl", "cookie", MASK_VALUE_COOKIE},
};

static bool is(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(s, word, len) == 0;
}

static bool matches(const char *s, size_t len, const char *program)
{
	size_t n;

	if (len == 0 || s[0] != program[0])
		return false;
	n = strlen(program);
	if (program[n - 1] != '*')
		return is(s, len, program);
	return len >= n - 1 && memcmp(s, program, n - 1) == 0;
}

void mask_program_note(struct mask_programs *p, const char *s, size_t len, bool first)
{
	const char *slash = memrchr(s, '/', len);
	size_t dir = slash ? (size_t)(slash - s) : 0;
	size_t skip = slash ? dir + 1 : 0;

	/* /var/lib/mysql is no program, /usr/bin/mysql is one behind sudo too. */
	if (slash && !first && !(dir >= 3 && memcmp(slash - 3, "bin", 3) == 0))
		return;
	for (size_t i = 0; i < N(rules); i++) {
		const struct rule *r = &rules[i];
		uint64_t bit = UINT64_C(1) << i;

		if (matches(s + skip, len - skip, r->program)) {
			p->seen |= bit;
			if (!r->sub)
				p->active |= bit;
		} else if (r->sub && (p->seen & bit) && is(s, len, r->sub)) {
			p->active |= bit;
		}
	}
}

/* The place of the value of one of r's short options in s, or 0. */
static size_t short_value(const struct rule *r, const char *s, size_t len)
{
	size_t at = 1;

	while (at < len && strchr(r->flags, s[at]))
		at++;
	if (at == len || !strchr(r->letters, s[at]))
		return 0;
	at++;
	return r->place & (at == len ? NEXT : GLUED) ? at : 0;
}

static enum mask_value long_value(const struct mask_programs *p, const char *s, size_t len,
				  size_t *at)
{
	const char *eq = memchr(s, '=', len);
	size_t end = eq ? (size_t)(eq - s) : len;

	for (size_t i = 0; i < N(longs); i++) {
		if (end < 2 || !is(s + 2, end - 2, longs[i].name))
			continue;
		for (size_t k = 0; k < N(rules); k++) {
			if (!(p->active >> k & 1) ||
			    strcmp(rules[k].program, longs[i].program) != 0)
				continue;
			*at = eq ? end + 1 : len;
			return longs[i].value;
		}
	}
	return MASK_VALUE_NONE;
}

enum mask_value mask_program_option(struct mask_programs *p, const char *s, size_t len, size_t *at)
{
	if (!p->active || len < 2 || s[0] != '-')
		return MASK_VALUE_NONE;
	if (s[1] == '-')
		return long_value(p, s, len, at);
	for (size_t i = 0; i < N(rules); i++) {
		size_t value;

		if (!(p->active >> i & 1) || !rules[i].letters)
			continue;
		value = short_value(&rules[i], s, len);
		if (value) {
			*at = value;
			if (rules[i].once)
				p->active &= ~(UINT64_C(1) << i);
			return rules[i].value;
		}
	}
	return MASK_VALUE_NONE;
}

bool mask_program_has_settings(const struct mask_programs *p)
{
	for (size_t i = 0; i < N(rules); i++)
		if ((p->active >> i & 1) && !rules[i].letters)
			return true;
	return false;
}
