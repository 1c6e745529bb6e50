#include "base/mask.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define GHP "ghp_0123456789abcdefghijABCDEFGHIJ012345"
#define JWT "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl-_x"
#define PEM \
	"-----BEGIN RSA PRIVATE KEY-----\nMIIEow IBAAKCAQEA\n=abc\n-----END RSA PRIVATE KEY-----"

/* In these tables '|' stands for the NUL between two arguments. */
struct mask_case {
	const char *in, *out; /* NULL: in stays as it is */
};

static const struct mask_case cases[] = {
	/* options by their name */
	{"prog|--token=X", "prog|--token=***"},
	{"prog|--token|X|next", "prog|--token|***|next"},
	{"prog|-token|X", "prog|-token|***"},
	{"prog|--password=", NULL},
	{"prog|--password=a=b&c d", "prog|--password=***"},
	{"prog|--password||next", NULL},
	{"prog|--password|--verbose", NULL},
	{"prog|--password|-v", NULL},
	{"prog|--password|-x1y2z3", "prog|--password|***"},
	{"prog|--api-key|X", "prog|--api-key|***"},
	{"prog|--apiKey=X", "prog|--apiKey=***"},
	{"prog|--client_secret=X", "prog|--client_secret=***"},
	{"prog|--aws-secret-access-key|X", "prog|--aws-secret-access-key|***"},
	{"gpg|--passphrase|X", "gpg|--passphrase|***"},
	{"java|-Dspring.datasource.password=X", "java|-Dspring.datasource.password=***"},
	{"java|-Djavax.net.ssl.keyStorePassword=X", "java|-Djavax.net.ssl.keyStorePassword=***"},
	{"keytool|-storepass|X", "keytool|-storepass|***"},
	{"erl|-setcookie|X", "erl|-setcookie|***"},
	{"openssl|rsa|-passin|pass:X", "openssl|rsa|-passin|pass:***"},
	{"openssl|rsa|-passin|file:/root/x", NULL},
	{"helm|--set|db.password=X,tag=1", "helm|--set|db.password=***"},
	{"kubectl|--from-literal=password=X", "kubectl|--from-literal=password=***"},
	{"docker|run|-e|MYSQL_ROOT_PASSWORD=X|-p|80:80|mysql",
	 "docker|run|-e|MYSQL_ROOT_PASSWORD=***|-p|80:80|mysql"},
	{"docker|run|--env=API_TOKEN=a,b;c", "docker|run|--env=API_TOKEN=***"},
	{"mount|-o|username=a,password=b,ro", "mount|-o|username=a,password=***,ro"},
	{"xh|--auth|bob:pw|h", "xh|--auth|bob:***|h"},
	{"xh|--auth=bob:pw", "xh|--auth=bob:***"},

	/* options by their program */
	{"mysql|-pX", "mysql|-p***"},
	{"mysql|-p|db", NULL},
	{"/usr/bin/mysqldump|-u|root|-pX|db", "/usr/bin/mysqldump|-u|root|-p***|db"},
	{"sudo|mariadb-dump|-pX", "sudo|mariadb-dump|-p***"},
	{"docker|exec|db|mysql|-pX", "docker|exec|db|mysql|-p***"},
	{"mkdir|-p/var/lib", NULL},
	{"cp|-pX|/var/lib/mysql", NULL},
	{"ls|/var/lib/mysql|-pX", NULL},
	{"ssh|-p2222|host", NULL},
	{"sshpass|-p|X|ssh|h|-p|22", "sshpass|-p|***|ssh|h|-p|22"},
	{"sshpass|-pX|ssh|h", "sshpass|-p***|ssh|h"},
	{"curl|-u|user:pass|h", "curl|-u|user:***|h"},
	{"curl|-uuser:pass", "curl|-uuser:***"},
	{"curl|-sSfu|user:pass", "curl|-sSfu|user:***"},
	{"curl|--user|user:pass", "curl|--user|user:***"},
	{"curl|--user=user:pass", "curl|--user=user:***"},
	{"curl|-U|a:b|-b|sid=1|-b|jar.txt", "curl|-U|a:***|-b|***|-b|jar.txt"},
	{"curl|-u|user", NULL},
	{"docker|run|--user|1000:1000|img", NULL},
	{"sort|-u|a:b", NULL},
	{"http|-a|bob:pw|h", "http|-a|bob:***|h"},
	{"redis-server|--requirepass|X", "redis-server|--requirepass|***"},
	{"git|-c|http.extraHeader=Authorization: Basic X|clone",
	 "git|-c|http.extraHeader=Authorization: Basic ***|clone"},
	{"vault|login|token=X", "vault|login|token=***"},
	{"tailscale|up|--authkey=X", "tailscale|up|--authkey=***"},
	{"redis-cli|-h|mysql|-a|X", "redis-cli|-h|mysql|-a|***"},
	{"mongosh|-p|X", "mongosh|-p|***"},
	{"ldapsearch|-x|-w|X|-b|dc=x", "ldapsearch|-x|-w|***|-b|dc=x"},
	{"smbclient|-U|bob%pw", "smbclient|-U|bob%***"},
	{"lftp|-u|bob,pw", "lftp|-u|bob,***"},
	{"7z|x|-pX", "7z|x|-p***"},
	{"zip|-P|X|a.zip", "zip|-P|***|a.zip"},
	{"snmpwalk|-v2c|-c|X|h", "snmpwalk|-v2c|-c|***|h"},
	{"ipmitool|-P|X", "ipmitool|-P|***"},
	{"openssl|enc|-k|X", "openssl|enc|-k|***"},
	{"ssh-keygen|-N|X", "ssh-keygen|-N|***"},
	{"docker|login|-u|bob|-p|X", "docker|login|-u|bob|-p|***"},
	{"podman|run|-p|80:80", NULL},
	{"aws|configure|set|aws_secret_access_key|X",
	 "aws|configure|set|aws_secret_access_key|***"},
	{"npm|config|set|//r.example/:_authToken|X", "npm|config|set|//r.example/:_authToken|***"},
	{"npm|config|set|//r.example/:_authToken=X", "npm|config|set|//r.example/:_authToken=***"},
	{"nmcli|dev|wifi|connect|S|password|X", "nmcli|dev|wifi|connect|S|password|***"},
	{"sqlcmd|-P|X", "sqlcmd|-P|***"},
	{"cqlsh|-p|X", "cqlsh|-p|***"},
	{"mosquitto_pub|-P|X", "mosquitto_pub|-P|***"},
	{"rabbitmqadmin|-p|X", "rabbitmqadmin|-p|***"},
	{"rdesktop|-p|X", "rdesktop|-p|***"},
	{"rpcclient|-U|a%b", "rpcclient|-U|a%***"},
	{"valkey-cli|-a|X", "valkey-cli|-a|***"},
	{"xh|-a|a:b", "xh|-a|a:***"},

	/* headers */
	{"curl|-H|Authorization: Bearer X|u", "curl|-H|Authorization: Bearer ***|u"},
	{"curl|-H|Authorization:|Bearer|X|u", "curl|-H|Authorization:|Bearer|***|u"},
	{"curl|-H|Authorization:|X|u", "curl|-H|Authorization:|***|u"},
	{"curl|-H|Authorization: Bearer|X|u", "curl|-H|Authorization: Bearer|***|u"},
	{"curl|-HAuthorization: Basic X", "curl|-HAuthorization: Basic ***"},
	{"wget|--header=Authorization: Token X", "wget|--header=Authorization: Token ***"},
	{"curl|-H|authorization: X y z", "curl|-H|authorization: ***"},
	{"curl|-H|Authorization:Bearer X", "curl|-H|Authorization:Bearer ***"},
	{"curl|-H|Authorization: Digest username=\"a\", response=\"b\"",
	 "curl|-H|Authorization: Digest ***"},
	{"curl|-H|X-Api-Key: X", "curl|-H|X-Api-Key: ***"},
	{"http|h|X-Api-Key:X", "http|h|X-Api-Key:***"},
	{"curl|-H|PRIVATE-TOKEN: X", "curl|-H|PRIVATE-TOKEN: ***"},
	{"curl|-H|Cookie: a=b; c=d", "curl|-H|Cookie: ***"},
	{"curl|-H|Accept: text/html", NULL},
	{"curl|-H|X-Request-Id: 12", NULL},

	/* assignments */
	{"env|X_TOKEN=abc|prog", "env|X_TOKEN=***|prog"},
	{"env|PGPASSWORD=a b|psql", "env|PGPASSWORD=***|psql"},
	{"DATABASE_URL=postgres://u:p@h/d", "DATABASE_URL=***"},
	{"env|PWD=/root|OLDPWD=/|HOME=/root", NULL},
	{"env|SSH_AUTH_SOCK=/run/x|PASSWORD_STORE_DIR=/x", NULL},
	{"env|GOOGLE_APPLICATION_CREDENTIALS=/etc/k.json", NULL},
	{"env|ALLOW_EMPTY_PASSWORD=yes", NULL},
	{"psql|host=h password=X dbname=d", "psql|host=h password=*** dbname=d"},
	{"x|Server=h;User Id=sa;Pwd=X;App=a", "x|Server=h;User Id=sa;Pwd=***;App=a"},

	/* URLs */
	{"git|clone|https://bob:pw@host/r", "git|clone|https://bob:***@host/r"},
	{"git|clone|https://bob@host/r", NULL},
	{"git|clone|https://0123456789abcdef0123@host/r", "git|clone|https://***@host/r"},
	{"x|redis://:pw@host:6379/0", "x|redis://:***@host:6379/0"},
	{"x|postgres://bob:p@ss@host/d", "x|postgres://bob:***@host/d"},
	{"x|postgres://bob:p/ss@host/d", "x|postgres://bob:***@host/d"},
	{"x|http://host:80/a@b", NULL},
	{"x|http://[::1]:80/a@b", NULL},
	{"x|--proxy=http://a:b@p:3128|http://h/", "x|--proxy=http://a:***@p:3128|http://h/"},
	{"x|https://h/p?access_token=A&x=1&sig=B#f",
	 "x|https://h/p?access_token=***&x=1&sig=***#f"},
	{"x|https://h/?key=A", "x|https://h/?key=***"},
	{"x|https://h/?X-Amz-Signature=A&X-Amz-Date=1",
	 "x|https://h/?X-Amz-Signature=***&X-Amz-Date=1"},
	{"x|-d|grant_type=p&client_secret=A&u=b", "x|-d|grant_type=p&client_secret=***&u=b"},
	{"x|two http://a:b@h http://c:d@h", "x|two http://a:***@h http://c:***@h"},

	/* JSON */
	{"x|{\"user\":\"a\",\"password\":\"b c\",\"n\":1}",
	 "x|{\"user\":\"a\",\"password\":\"***\",\"n\":1}"},
	{"x|{\"password\": \"b\", \"n\": 1}", "x|{\"password\": \"***\", \"n\": 1}"},
	{"x|{\\\"password\\\":\\\"b\\\"}", "x|{\\\"password\\\":\\\"***\\\"}"},
	{"x|{'api_key':'b','n':1}", "x|{'api_key':'***','n':1}"},

	/* shapes */
	{"x|" GHP, "x|***"},
	{"x|foo=" GHP ",b", "x|foo=***,b"},
	{"x|github_pat_0123456789abcdef_ABCDEF", "x|***"},
	{"x|glpat-0123456789abcdefghij", "x|***"},
	{"x|sk-0123456789abcdefghij0123", "x|***"},
	{"x|sk-ant-api03-abcdefgh_ijklmnop", "x|***"},
	{"x|xoxb-1234567890-abc", "x|***"},
	{"x|AKIAIOSFODNN7EXAMPLE", "x|***"},
	{"x|AKIAIOSFODNN7EXAMPLES", NULL},
	{"x|" JWT, "x|***"},
	{"x|cookie2:" JWT ";x", "x|cookie2:***;x"},
	{"x|AIza01234567890123456789012345678901234", "x|***"},
	{"x|hf_0123456789abcdefghijABCDEFGHIJ0123", "x|***"},
	{"x|hvs.0123456789abcdefghij", "x|***"},
	{"x|npm_0123456789abcdefghijABCDEFGHIJ012345", "x|***"},
	{"x|" PEM "|y", "x|***|y"},
	{"x|key=" PEM " and more", "x|key=*** and more"},
	{"x|-----BEGIN CERTIFICATE-----\nab\n-----END CERTIFICATE-----\n" PEM,
	 "x|-----BEGIN CERTIFICATE-----\nab\n-----END CERTIFICATE-----\n***"},
	{"x|-----BEGIN PUBLIC KEY-----\nab\n-----END PUBLIC KEY-----", NULL},
	{"x|-----BEGIN PRIVATE KEY-----\nab", "x|***"},
	{"x|task-0123456789abcdefghij0123", NULL},
	{"x|sk-learn-is-a-name-of-a-thing", NULL},

	/* a command line in one argument */
	{"sh|-c|curl -H 'Authorization: Bearer X' https://h",
	 "sh|-c|curl -H 'Authorization: Bearer ***' https://h"},
	{"sh|-c|curl -H Authorization:\\ Bearer\\ X h", "sh|-c|curl -H Authorization:*** h"},
	{"bash|-lc|TOKEN=abc ./deploy.sh --now", "bash|-lc|TOKEN=*** ./deploy.sh --now"},
	{"sh|-c|TOKEN='a b' ./x", "sh|-c|TOKEN='***' ./x"},
	{"sh|-c|x --token \"a b\" --password=c;y --token d",
	 "sh|-c|x --token \"***\" --password=***;y --token ***"},
	{"sh|-c|x --token $TOKEN --password=${PW} --secret \"$S\"", NULL},
	{"sh|-c|cd /x;mysql -pX db", "sh|-c|cd /x;mysql -p*** db"},
	{"sh|-c|cd /x && mysql -pX && mkdir -p a", "sh|-c|cd /x && mysql -p*** && mkdir -p a"},
	{"ssh|h|sh -c \"mysql -pX -e 'select 1'\"", "ssh|h|sh -c \"mysql -p*** -e 'select 1'\""},
	{"sh|-c|bash -c \"sh -c 'curl -u a:b h'\"", "sh|-c|bash -c \"sh -c 'curl -u a:*** h'\""},
	{"sh|-c|curl https://h/?a=1&sig=B&c=2", "sh|-c|curl https://h/?a=1&sig=***&c=2"},
	{"sh|-c|echo don't --token abc now", "sh|-c|echo don't --token *** now"},
	{"sh|-c|echo don't --token abc can't", "sh|-c|echo don't --token *** can't"},
	{"mysql|-e|ALTER USER 'a'@'%' IDENTIFIED BY 'X'",
	 "mysql|-e|ALTER USER 'a'@'%' IDENTIFIED BY '***'"},
	{"psql|-c|alter role a password 'X'", "psql|-c|alter role a password '***'"},
	{"chrome --type=renderer --token=abc --x", "chrome --type=renderer --token=*** --x"},

	/* what must stay */
	{"x|--token-file|/path", NULL},
	{"x|--token-file=/path", NULL},
	{"x|--tokenizer=bert", NULL},
	{"python|-m|secrets", NULL},
	{"x|--max-tokens=100", NULL},
	{"git|commit|--author=A B <a@b>", NULL},
	{"x|--key=value", NULL},
	{"x|--key|value", NULL},
	{"ssh|-i|key|git@github.com:o/r.git", NULL},
	{"x|a monkey", NULL},
	{"x|--password-stdin|y", NULL},
	{"x|--no-password|y", NULL},
	{"x|--ask-pass|site.yml", NULL},
	{"x|--private-key|/root/k", NULL},
	{"x|--private-key=~/k", NULL},
	{"x|--secret|id=npm,src=/x", NULL},
	{"x|--secret-name|y", NULL},
	{"ffmpeg|-pass|1|-i|a", NULL},
	{"openvpn|--auth-user-pass|/etc/o", NULL},
	{"snmpd|-c|/etc/snmpd.conf", NULL},
	{"kube-apiserver|--authorization-mode=RBAC|--token-auth-file=/x", NULL},
	{"kube-apiserver|--enable-bootstrap-token-auth=true", NULL},
	{"Xwayland|:0|-auth|/run/x", NULL},
	{"java|-Djava.security.auth.login.config=/x", NULL},
	{"docker|run|vault-token:v1|my-secret:latest", NULL},
	{"x|--bypass=1|--compass|n", NULL},
	{"nginx: worker process", NULL},
	{"sshd: op@pts/3", NULL},
	{"", NULL},
	{"|", NULL},
	{"x||y||", NULL},
	{"x|--token=***|--password|***", NULL},
};

/* From table form to that of /proc, and back. */
static char *swap(const char *text, char from, char to, size_t len)
{
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	for (size_t i = 0; i <= len; i++)
		copy[i] = text[i] == from && i < len ? to : text[i];
	return copy;
}

static size_t stars(const char *s)
{
	size_t n = 0;

	while ((s = strstr(s, MASK_TEXT))) {
		s += strlen(MASK_TEXT);
		n++;
	}
	return n;
}

static void known_forms_of_secrets_are_masked(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const char *want = cases[i].out ? cases[i].out : cases[i].in;
		size_t len = strlen(cases[i].in);
		char *raw = swap(cases[i].in, '|', '\0', len), *got;
		struct bytes out = {0}, again = {0};
		unsigned masked = 99;

		assert_int_equal(mask_args(raw, len, &out, &masked), 0);
		got = swap(out.data, '\0', '|', out.len);
		if (strcmp(got, want) != 0)
			fail_msg("%s\n  became %s\n  not    %s", cases[i].in, got, want);
		assert_int_equal(masked, cases[i].out ? stars(want) - stars(cases[i].in) : 0);
		/* What is masked stays, and is not counted again. */
		assert_int_equal(mask_args(out.data, out.len, &again, &masked), 0);
		assert_true(bytes_same(&out, &again));
		assert_int_equal(masked, 0);
		bytes_free(&again);
		bytes_free(&out);
		free(got);
		free(raw);
	}
}

/* A raw command line ends with a NUL or not: both mean the same. */
static void the_last_argument_may_lack_its_end(void **state)
{
	static const char raw[] = "x\0--token\0abc";
	struct bytes out = {0};

	(void)state;
	assert_int_equal(mask_args(raw, sizeof(raw), &out, NULL), 0);
	assert_int_equal(out.len, sizeof("x\0--token\0***"));
	assert_memory_equal(out.data, "x\0--token\0***", out.len);
	assert_int_equal(mask_args(raw, sizeof(raw) - 1, &out, NULL), 0);
	assert_int_equal(out.len, sizeof("x\0--token\0***") - 1);
	assert_int_equal(mask_args(NULL, 0, &out, NULL), 0);
	assert_int_equal(out.len, 0);
	bytes_free(&out);
}

static void texts_are_masked_like_command_lines(void **state)
{
	static const struct mask_case texts[] = {
		{"", NULL},
		{"/usr/bin/python3", NULL},
		{"https://bob:pw@host/", "https://bob:***@host/"},
		{"TOKEN=abc", "TOKEN=***"},
		{"TOKEN=abc run", "TOKEN=*** run"},
		{"curl -u a:b h", "curl -u a:*** h"},
		{"Authorization: Bearer abc", "Authorization: Bearer ***"},
		{"Authorization: Bearer abc of bob", "Authorization: Bearer ***"},
		{"curl -H Authorization: Bearer abc h", "curl -H Authorization: Bearer *** h"},
		{"the password is unknown", NULL},
		{"see https://h/?sig=a", "see https://h/?sig=***"},
		{PEM, "***"},
		{GHP, "***"},
	};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		struct bytes out = {0};

		assert_int_equal(mask_text(texts[i].in, strlen(texts[i].in), &out, NULL), 0);
		assert_string_equal(out.data, texts[i].out ? texts[i].out : texts[i].in);
		bytes_free(&out);
	}
}

static void names_tell_of_credentials(void **state)
{
	static const char *const secret[] = {
		"PASSWORD",
		"password",
		"PGPASSWORD",
		"MYSQL_PWD",
		"MYSQL_PASSWORD2",
		"token",
		"GITHUB_TOKEN",
		"TOKEN_1",
		"API_KEY",
		"api-key",
		"apiKey",
		"APIKey",
		"OPENAI_API_KEY",
		"ACCESS_KEY",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID",
		"AWS_SESSION_TOKEN",
		"DATABASE_URL",
		"REDIS_URL",
		"MONGODB_URI",
		"SECRET",
		"SECRET_KEY_BASE",
		"client_secret",
		"VAULT_SECRET_ID",
		"PASSPHRASE",
		"PASSWD",
		"SENTRY_DSN",
		"GITHUB_PAT",
		"NPM_CONFIG__AUTHTOKEN",
		"GOOGLE_APPLICATION_CREDENTIALS",
		"SSHPASS",
		"AUTHORIZATION",
		"x-api-key",
		"cookie",
		"WIFI_PSK",
		"spring.datasource.password",
		"SLACK_WEBHOOK_URL",
		"CONNECTION_STRING",
		"private_key",
		"DB_PASS",
		"GITHUB_TOKEN_PROD",
	};
	static const char *const plain[] = {
		"",
		"_",
		"PATH",
		"HOME",
		"PWD",
		"OLDPWD",
		"USER",
		"SSH_AUTH_SOCK",
		"XAUTHORITY",
		"KEY",
		"MONKEY",
		"AUTHOR",
		"TOKENIZER",
		"max_tokens",
		"TOKEN_FILE",
		"token-url",
		"PASSWORD_STORE_DIR",
		"SUDO_ASKPASS",
		"XDG_SESSION_ID",
		"LESSKEY",
		"KEYBOARD",
		"BYPASS",
		"no-password",
		"secret_name",
		"password-min-length",
		"COMPASS",
		"public_key",
		"SSH_KEY",
		"PATTERN",
		"123",
		"DBUS_SESSION_BUS_ADDRESS",
		"authorization-config",
		"\xff\xfe",
	};

	(void)state;
	for (size_t i = 0; i < N(secret); i++)
		if (!mask_name_is_secret(secret[i], strlen(secret[i])))
			fail_msg("%s", secret[i]);
	for (size_t i = 0; i < N(plain); i++)
		if (mask_name_is_secret(plain[i], strlen(plain[i])))
			fail_msg("%s", plain[i]);
}

static void the_longest_command_lines_take_linear_time(void **state)
{
	static const char *const patterns[] = {
		"--password=x secret \"quoted' --token abc; x=y",
		"http://a:b/http://c:d/",
		"\"\\\"'`$(a:b=c?d&e;f",
		"-----BEGIN ",
		"eyJeyJeyJ.eyJ",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=:",
		"\"password\":",
	};
	const size_t size = 1536 * 1024;
	char *raw = malloc(size + 200);

	(void)state;
	for (size_t p = 0; p < N(patterns); p++) {
		for (int split = 0; split < 2; split++) {
			size_t args = 0, len = 0, got = 0;
			struct bytes out = {0};
			uint64_t begin;

			for (int k = 0; len < size; k++, args++) {
				char piece[200];

				snprintf(piece, sizeof(piece), "%s%d", patterns[p], k);
				len += (size_t)sprintf(raw + len, "%-*s", split ? 100 : 1, piece);
				raw[len++] = split ? '\0' : ' ';
			}
			begin = clock_boot_ns();
			assert_int_equal(mask_args(raw, len, &out, NULL), 0);
			/* Measured: at most 60 ms; quadratic would be hours. */
			assert_true(clock_boot_ns() - begin < 10 * CLOCK_NS_PER_S);
			for (size_t i = 0; i < out.len; i++)
				got += out.data[i] == '\0';
			assert_int_equal(got, split ? args : 0);
			bytes_free(&out);
		}
	}
	free(raw);
}

/* Pieces of all that has a meaning, in any order: the number of arguments
 * stays, and what is masked stays masked. */
static void noise_keeps_its_arguments(void **state)
{
	static const char *const pieces[] = {
		"--token", "=",           " ",           "\"", "'",     "\\",    "Authorization:",
		"Bearer",  "x",           "://",         "@",  ":",     "/",     "?sig=",
		"&",       ";",           "curl",        "-u", "-p",    "mysql", "\n",
		"TOKEN=",  "eyJ",         "password",    "-H", "-c",    "|",     PEM,
		GHP,       "{\"token\":", "-----BEGIN ", "$X", "login", "\xff",  "(",
		",",
	};
	uint32_t seed = 4711;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct bytes out = {0}, again = {0};
		size_t len = 0, want = 0, got = 0;
		unsigned masked;
		char raw[4096];

		for (int k = 0; k < 14; k++) {
			const char *piece;

			seed = seed * 1664525 + 1013904223;
			piece = pieces[(seed >> 16) % N(pieces)];
			if (strcmp(piece, "|") == 0) {
				raw[len++] = '\0';
				want++;
				continue;
			}
			memcpy(raw + len, piece, strlen(piece));
			len += strlen(piece);
		}
		assert_int_equal(mask_args(raw, len, &out, &masked), 0);
		for (size_t i = 0; i < out.len; i++)
			got += out.data[i] == '\0';
		assert_int_equal(got, want);
		assert_true(masked == 0 ? out.len == len && memcmp(raw, out.data, len) == 0
					: memmem(out.data, out.len, MASK_TEXT, 3) != NULL);
		assert_int_equal(mask_text(raw, len, &again, NULL), 0);
		bytes_free(&again);
		bytes_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_forms_of_secrets_are_masked),
		cmocka_unit_test(the_last_argument_may_lack_its_end),
		cmocka_unit_test(texts_are_masked_like_command_lines),
		cmocka_unit_test(names_tell_of_credentials),
		cmocka_unit_test(the_longest_command_lines_take_linear_time),
		cmocka_unit_test(noise_keeps_its_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
