#include "source/hostinfo.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define LOGIND_SESSIONS "/run/systemd/sessions" /* sd-login: private format, stable since v38 */
#define PIDNS_INIT_INO 0xEFFFFFFCu              /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define LOGINS_MAX 100000

static void chomp(char *s)
{
	s[strcspn(s, "\n")] = '\0';
}

static uint64_t ns_inode(int proc_fd, const char *path)
{
	char target[64];
	ssize_t n = readlinkat(proc_fd, path, target, sizeof(target) - 1);
	const char *at;

	if (n < 0)
		return 0;
	target[n] = '\0';
	at = strchr(target, '[');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

static void copy_value(char *out, size_t size, const char *value)
{
	size_t n = strnlen(value, size - 1);

	memcpy(out, value, n);
	out[n] = '\0';
}

/* KEY=value lines; values that need it are quoted by logind, the ones read here never do. */
static void parse_login(char *text, struct login *l)
{
	l->audit = -1;
	l->uid = (uid_t)-1;
	for (char *line = text, *next; line; line = next) {
		char *eq = strchr(line, '=');

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!eq || (next && eq > next))
			continue;
		*eq++ = '\0';
		if (strcmp(line, "LEADER") == 0)
			l->leader = (pid_t)strtol(eq, NULL, 10);
		else if (strcmp(line, "UID") == 0)
			l->uid = (uid_t)strtoul(eq, NULL, 10);
		else if (strcmp(line, "SCOPE") == 0)
			copy_value(l->scope, sizeof(l->scope), eq);
		else if (strcmp(line, "STATE") == 0)
			copy_value(l->state, sizeof(l->state), eq);
		else if (strcmp(line, "SERVICE") == 0)
			copy_value(l->service, sizeof(l->service), eq);
		else if (strcmp(line, "TTY") == 0)
			copy_value(l->tty, sizeof(l->tty), eq);
		else if (strcmp(line, "AUDIT") == 0)
			l->audit = strtoll(eq, NULL, 10);
	}
}

int hostinfo_read_logins(struct host *host, struct err *err)
{
	char *buf = NULL;
	DIR *dir = opendir(LOGIND_SESSIONS);

	host->logins_known = dir != NULL;
	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir)) && host->logins.n < LOGINS_MAX;) {
		struct login l = {0};

		if (e->d_name[0] == '.' || strchr(e->d_name, '.')) /* N.ref is a fifo */
			continue;
		if (file_read_all_at(dirfd(dir), e->d_name, 65536, &buf) < 0)
			continue;
		copy_value(l.id, sizeof(l.id), e->d_name);
		parse_login(buf, &l);
		free(buf);
		if (!VEC_PUSH(&host->logins, l)) {
			closedir(dir);
			return err_nomem(err);
		}
	}
	closedir(dir);
	return 0;
}

static struct identity self_identity(int proc_fd)
{
	struct proc_stat st;

	if (proc_stat_read_at(proc_fd, "self/stat", &st) < 0)
		return (struct identity){0};
	return (struct identity){.pid = st.pid, .start = st.start};
}

/* Every PID namespace has a PID 1: who cannot see it is being hidden from.  The mount
 * option hidepid= does not tell, since it depends on who asks (gid=, capabilities). */
static bool init_invisible(int proc_fd)
{
	struct stat st;

	return fstatat(proc_fd, "1/stat", &st, 0) != 0 && errno == ENOENT;
}

void hostinfo_read(int proc_fd, struct host *host, struct coverage *coverage)
{
	struct utsname u;
	struct stat st;

	memset(host, 0, sizeof(*host));
	host->wall_ns = clock_wall_ns();
	host->boot_ns = clock_boot_ns();
	host->ticks_per_second = sysconf(_SC_CLK_TCK);
	host->uid = geteuid();
	if (uname(&u) == 0) {
		copy_value(host->hostname, sizeof(host->hostname), u.nodename);
		copy_value(host->kernel, sizeof(host->kernel), u.release);
	}
	if (file_read_at(proc_fd, "sys/kernel/random/boot_id", host->boot_id,
			 sizeof(host->boot_id)) < 0)
		host->boot_id[0] = '\0';
	chomp(host->boot_id);
	host->pid_ns = ns_inode(proc_fd, "self/ns/pid");
	host->net_ns = ns_inode(proc_fd, "self/ns/net");
	host->pid_ns_initial = host->pid_ns == PIDNS_INIT_INO;
	host->self = self_identity(proc_fd);
	host->systemd = stat("/run/systemd/system", &st) == 0;
	coverage->hidepid = init_invisible(proc_fd);
}
