#include "base/mask.h"
#include "base/mask_parts.h"

#include <string.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* A name in lower case, taken apart at '_', '-', '.' and humps. */
struct words {
	char text[2 * MASK_NAME_LOOK];
	const char *v[MASK_NAME_LOOK];
	size_t n;
};

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Whether a word starts at s[i] although a letter stands before: apiKey, APIKey. */
static bool hump(const char *s, size_t len, size_t i)
{
	if (i == 0 || !upper(s[i]))
		return false;
	return lower(s[i - 1]) || digit(s[i - 1]) ||
	       (upper(s[i - 1]) && i + 1 < len && lower(s[i + 1]));
}

static void take_apart(const char *s, size_t len, struct words *w)
{
	char *to = w->text;
	bool inside = false;

	w->n = 0;
	if (len > MASK_NAME_LOOK) {
		s += len - MASK_NAME_LOOK;
		len = MASK_NAME_LOOK;
	}
	for (size_t i = 0; i <= len; i++) {
		bool part = i < len && (upper(s[i]) || lower(s[i]) || digit(s[i]));

		if (inside && (!part || hump(s, len, i))) {
			/* PASSWORD2, TOKEN_1 */
			while (to > w->v[w->n - 1] && digit(to[-1]))
				to--;
			if (to == w->v[w->n - 1])
				w->n--;
			*to++ = '\0';
			inside = false;
		}
		if (!part)
			continue;
		if (!inside)
			w->v[w->n++] = to;
		inside = true;
		*to++ = upper(s[i]) ? (char)(s[i] - 'A' + 'a') : s[i];
	}
}

static bool listed(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word[0] == list[i][0] && strcmp(word, list[i]) == 0)
			return true;
	return false;
}

#define LISTED(word, list) listed(word, list, N(list))

/* Tells of a secret wherever it stands, also at the end of a longer word. */
static bool strong(const char *word)
{
	static const char *const words[] = {
		"appkey", "authkey", "jwt", "masterkey", "passcode", "privatekey",
	};
	static const char *const ends[] = {
		"password", "passwd", "passphrase", "secret",
		"token",    "apikey", "accesskey",  "secretkey",
	};
	size_t len = strlen(word);

	if (LISTED(word, words))
		return true;
	for (size_t i = 0; i < N(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len >= end && strcmp(word + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

/* Words in front of "key" that make it a secret.  A key alone is as often the
 * name of a thing, a file or a key on a keyboard. */
static bool keeps_a_key(const char *word)
{
	static const char *const words[] = {
		"access", "account",  "admin",   "aes",          "api",        "app",
		"auth",   "consumer", "deploy",  "encrypt",      "encryption", "functions",
		"hmac",   "license",  "master",  "private",      "secret",     "session",
		"shared", "signing",  "storage", "subscription",
	};

	return LISTED(word, words);
}

/* What stands last in a name that speaks about a secret, but is none:
 * --token-file, PASSWORD_MIN_LENGTH. */
static bool about(const char *word)
{
	static const char *const words[] = {
		"age",        "alg",      "algorithm", "attribute", "audience",  "backend",
		"bucket",     "budget",   "cache",     "class",     "cmd",       "command",
		"conf",       "config",   "count",     "dir",       "directory", "driver",
		"duration",   "enabled",  "endpoint",  "engine",    "env",       "exp",
		"expiration", "expires",  "expiry",    "fd",        "field",     "file",
		"filename",   "folder",   "format",    "group",     "header",    "helper",
		"host",       "id",       "ids",       "interval",  "issuer",    "kind",
		"kubeconfig", "len",      "length",    "lifetime",  "limit",     "manager",
		"max",        "method",   "min",       "mode",      "name",      "namespace",
		"path",       "paths",    "pattern",   "period",    "plugin",    "policy",
		"prefix",     "prompt",   "provider",  "rate",      "ref",       "regex",
		"required",   "retries",  "rotation",  "scope",     "scopes",    "server",
		"service",    "size",     "sock",      "socket",    "source",    "stdin",
		"store",      "timeout",  "ttl",       "type",      "uri",       "url",
		"user",       "username", "var",       "variable",  "version",
	};

	return LISTED(word, words);
}

/* What stands first in the name of a switch: --ask-pass, ALLOW_EMPTY_PASSWORD. */
static bool switches(const char *word)
{
	static const char *const words[] = {
		"allow",  "ask",     "disable", "enable", "generate", "no",   "print",
		"prompt", "require", "show",    "skip",   "use",      "with", "without",
	};

	return LISTED(word, words);
}

/* Tells of a secret where it stands last. */
static bool strong_at_end(const char *word, bool alone)
{
	static const char *const words[] = {
		"authorization", "bearer",     "dbpass",     "destkeypass",  "deststorepass",
		"keypass",       "masterauth", "otp",        "pass",         "psk",
		"requirepass",   "rootpass",   "srckeypass", "srcstorepass", "sshpass",
		"storepass",     "userpass",
	};
	/* PWD, alone, is a working directory. */
	static const char *const with_more[] = {"dsn", "pat", "pwd"};

	if (strcmp(word, "oldpwd") == 0)
		return false;
	return LISTED(word, words) || (!alone && LISTED(word, with_more));
}

/* DATABASE_URL and its kin carry a password inside. */
static bool carries_login(const char *before, const char *last)
{
	static const char *const stores[] = {
		"amqp",    "broker", "celery",   "database",   "db",       "dsn",   "mongo",
		"mongodb", "mysql",  "postgres", "postgresql", "rabbitmq", "redis", "webhook",
	};

	if (strcmp(last, "string") == 0)
		return strcmp(before, "connection") == 0;
	return (strcmp(last, "url") == 0 || strcmp(last, "uri") == 0) && LISTED(before, stores);
}

/* AWS_ACCESS_KEY_ID, and the secret_id of Vault. */
static bool id_of_a_secret(const struct words *w)
{
	if (w->n < 2 || strcmp(w->v[w->n - 1], "id") != 0)
		return false;
	if (strcmp(w->v[w->n - 2], "secret") == 0)
		return true;
	return w->n >= 3 && strcmp(w->v[w->n - 2], "key") == 0 &&
	       strcmp(w->v[w->n - 3], "access") == 0;
}

enum mask_name mask_name_class(const char *name, size_t len)
{
	struct words w;
	const char *last;

	take_apart(name, len, &w);
	if (w.n == 0 || (w.n > 1 && switches(w.v[0])))
		return MASK_NAME_PLAIN;
	last = w.v[w.n - 1];
	if ((w.n > 1 && carries_login(w.v[w.n - 2], last)) || id_of_a_secret(&w) ||
	    strcmp(last, "connectionstring") == 0)
		return MASK_NAME_SECRET;
	if (about(last))
		return MASK_NAME_PLAIN;
	for (size_t i = 0; i < w.n; i++) {
		bool key = i > 0 && strcmp(w.v[i], "key") == 0 && keeps_a_key(w.v[i - 1]);

		if (key && strcmp(w.v[i - 1], "private") == 0)
			return MASK_NAME_SECRET_OR_PATH;
		if (key || strong(w.v[i]))
			return MASK_NAME_SECRET;
	}
	if (strcmp(last, "credential") == 0 || strcmp(last, "credentials") == 0 ||
	    strcmp(last, "cookie") == 0 || strcmp(last, "setcookie") == 0)
		return MASK_NAME_SECRET_OR_PATH;
	/* openvpn --auth-user-pass FILE */
	if (w.n > 1 && strcmp(last, "pass") == 0 && strcmp(w.v[w.n - 2], "user") == 0)
		return MASK_NAME_SECRET_OR_PATH;
	if (strong_at_end(last, w.n == 1))
		return MASK_NAME_SECRET;
	return strcmp(last, "auth") == 0 ? MASK_NAME_LOGIN : MASK_NAME_PLAIN;
}

bool mask_name_is_secret(const char *name, size_t len)
{
	enum mask_name class = mask_name_class(name, len);

	return class == MASK_NAME_SECRET || class == MASK_NAME_SECRET_OR_PATH;
}

bool mask_name_in_query(const char *name, size_t len)
{
	static const char *const words[] = {
		"auth", "hmac", "jsessionid", "phpsessid", "pwd", "sessionid", "sig", "signature",
	};
	struct words w;

	take_apart(name, len, &w);
	if (w.n == 0)
		return false;
	return LISTED(w.v[w.n - 1], words) || (w.n == 1 && strcmp(w.v[0], "key") == 0);
}
