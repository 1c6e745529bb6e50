#include "base/mask_parts.h"

#include <string.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

enum alphabet { CAPITALS, ALNUM, WORDY }; /* A-Z0-9; A-Za-z0-9; that, '_' and '-' */

/* Tokens whose issuers gave them a prefix so that they can be recognised. */
static const struct {
	const char *prefix;
	enum alphabet alphabet;
	unsigned min;     /* characters behind the prefix */
	bool exact;       /* no more than those */
	bool needs_digit; /* sk-learn-something is none */
} shapes[] = {
	{"ghp_", ALNUM, 20, false, false}, /* GitHub */
	{"gho_", ALNUM, 20, false, false},
	{"ghu_", ALNUM, 20, false, false},
	{"ghs_", ALNUM, 20, false, false},
	{"ghr_", ALNUM, 20, false, false},
	{"github_pat_", WORDY, 20, false, false},
	{"glpat-", WORDY, 16, false, false}, /* GitLab */
	{"sk-", WORDY, 20, false, true},     /* several makers of language models */
	{"gsk_", ALNUM, 20, false, false},
	{"hf_", ALNUM, 30, false, false},
	{"sk_live_", ALNUM, 16, false, false}, /* Stripe */
	{"sk_test_", ALNUM, 16, false, false},
	{"rk_live_", ALNUM, 16, false, false},
	{"xoxb-", WORDY, 10, false, false}, /* Slack */
	{"xoxp-", WORDY, 10, false, false},
	{"xoxa-", WORDY, 10, false, false},
	{"xoxr-", WORDY, 10, false, false},
	{"xoxs-", WORDY, 10, false, false},
	{"xapp-", WORDY, 10, false, true},
	{"AKIA", CAPITALS, 16, true, false}, /* AWS */
	{"ASIA", CAPITALS, 16, true, false},
	{"AIza", WORDY, 35, true, false}, /* Google */
	{"ya29.", WORDY, 20, false, false},
	{"npm_", ALNUM, 36, false, false},
	{"pypi-", WORDY, 50, false, false},
	{"dckr_pat_", WORDY, 20, false, false},
	{"dop_v1_", ALNUM, 64, false, false}, /* DigitalOcean */
	{"hvs.", WORDY, 20, false, false},    /* Vault */
	{"shpat_", ALNUM, 32, false, false},  /* Shopify */
	{"AGE-SECRET-KEY-1", CAPITALS, 50, false, false},
};

static bool in_alphabet(char c, enum alphabet alphabet)
{
	if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	if (alphabet == CAPITALS)
		return false;
	return (c >= 'a' && c <= 'z') || (alphabet == WORDY && (c == '_' || c == '-'));
}

static size_t run(const char *s, size_t len, enum alphabet alphabet)
{
	size_t n = 0;

	while (n < len && in_alphabet(s[n], alphabet))
		n++;
	return n;
}

static bool has_digit(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] >= '0' && s[i] <= '9')
			return true;
	return false;
}

/* RFC 7519: three parts, or five where encrypted; the first starts with '{"'. */
static size_t web_token(const char *s, size_t len)
{
	size_t at = 0;

	if (len < 3 || memcmp(s, "eyJ", 3) != 0)
		return 0;
	for (int part = 0;; part++) {
		size_t n = run(s + at, len - at, WORDY);

		if (part < 2 && n < 8)
			return 0;
		at += n;
		if (part == 4 || at == len || s[at] != '.')
			return part < 2 ? 0 : at;
		at++;
	}
}

size_t mask_shape(const char *s, size_t len)
{
	for (size_t i = 0; i < N(shapes); i++) {
		size_t n, more;

		if (s[0] != shapes[i].prefix[0])
			continue;
		n = strlen(shapes[i].prefix);
		if (len < n || memcmp(s, shapes[i].prefix, n) != 0)
			continue;
		more = run(s + n, len - n, shapes[i].alphabet);
		if (more < shapes[i].min || (shapes[i].exact && more > shapes[i].min))
			continue;
		if (!shapes[i].needs_digit || has_digit(s + n, more))
			return n + more;
	}
	return web_token(s, len);
}

/* One of 32: letters of either case, and others, share a bit at times. */
#define BIT(c) (UINT32_C(1) << ((c)&31))

/*
 * A part of each name, program and shape that the other tables know, by its
 * first letter; the rest of each, separated by blanks.
 */
static const struct {
	uint32_t second; /* letters that may follow, a bit each */
	const char *rest;
} hints[128] = {
	['-'] = {BIT('-') | BIT('p') | BIT('u'), "----begin pat url uri"},
	['7'] = {BIT('z'), "z"},
	[':'] = {BIT('/'), "//"},
	['_'] = {BIT('p') | BIT('u'), "pat url uri"},
	['a'] = {BIT('i') | BIT('k') | BIT('s') | BIT('u'), "iza kia sia uth"},
	['b'] = {BIT('e'), "earer"},
	['c'] = {BIT('o') | BIT('q') | BIT('r') | BIT('u'), "onnection ookie qlsh red url"},
	['d'] = {BIT('c') | BIT('o') | BIT('s'), "ckr_ op_v1 sn"},
	['e'] = {BIT('y'), "yj"},
	['g'] = {BIT('h') | BIT('i') | BIT('l') | BIT('s'),
		 "ho_ hp_ hr_ hs_ hu_ ithub_pat lpat sk_"},
	['h'] = {BIT('f') | BIT('m') | BIT('t') | BIT('v'), "f_ mac ttp vs."},
	['i'] = {BIT('d') | BIT('p'), "dentified pmitool"},
	['j'] = {BIT('w'), "wt"},
	['k'] = {BIT('e'), "ey"},
	['l'] = {BIT('d') | BIT('f') | BIT('o'), "dap ftp ogin"},
	['m'] = {BIT('a') | BIT('o') | BIT('y'), "ariadb ongo osquitto ysql"},
	['n'] = {BIT('p'), "pm_"},
	['o'] = {BIT('p') | BIT('t'), "penssl tp"},
	['p'] = {BIT('a') | BIT('s') | BIT('w') | BIT('y'), "ass sk wd ypi-"},
	['r'] = {BIT('a') | BIT('d') | BIT('e') | BIT('k') | BIT('p'),
		 "abbitmqadmin desktop edis-cli k_live pcclient"},
	['s'] = {BIT('e') | BIT('h') | BIT('i') | BIT('k') | BIT('m') | BIT('n') | BIT('q'),
		 "ecret essid essionid hpat ig k- k_ mb nmp qlcmd"},
	['t'] = {BIT('o'), "oken"},
	['u'] = {BIT('r'), "ri= rl="},
	['w'] = {BIT('e'), "ebhook"},
	['x'] = {BIT('a') | BIT('h') | BIT('o'), "app- h ox"},
	['y'] = {BIT('a'), "a29"},
	['z'] = {BIT('i'), "ip"},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool starts_with_one_of(const char *s, size_t len, const char *words)
{
	while (*words) {
		size_t n = 0;

		while (*words && *words != ' ' && n < len && lower(s[n]) == *words) {
			words++;
			n++;
		}
		if (!*words || *words == ' ')
			return true;
		while (*words && *words != ' ')
			words++;
		words += *words == ' ';
	}
	return false;
}

bool mask_worth_a_look(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = lower(s[i]);

		if (c > 0 && i + 1 < len && (hints[(int)c].second & BIT(s[i + 1])) &&
		    starts_with_one_of(s + i + 1, len - i - 1, hints[(int)c].rest))
			return true;
	}
	return false;
}
