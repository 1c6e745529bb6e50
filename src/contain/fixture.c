#include "contain/fixture.h"

#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name, *words;
} shapes[FIXTURE_SHAPES] = {
	[FIXTURE_CHILD] = {"child", "a plain child, as by cmd &"},
	[FIXTURE_IGNORER] = {"ignorer", "ignores TERM"},
	[FIXTURE_GROUP] = {"group", "left the group by setpgid"},
	[FIXTURE_SESSION] = {"session", "left the session by setsid"},
	[FIXTURE_DAEMON] = {"daemon", "double fork and setsid, and ignores TERM"},
};

const char *fixture_name(enum fixture_shape shape)
{
	return shapes[shape].name;
}

const char *fixture_words(enum fixture_shape shape)
{
	return shapes[shape].words;
}

static int enter_cgroup(int dir)
{
	AUTO_FD fd = dir < 0 ? -1 : openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (dir < 0)
		return 0;
	return fd < 0 || write(fd, "0", 1) < 0 ? errno : 0;
}

/* 0 to 2, too, unless it is to hold them: nobody waits for their end because of us. */
static void close_all(bool keep_stdio, int but)
{
	int null = keep_stdio ? -1 : open("/dev/null", O_RDWR);

	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (but > 3)
		close_range(3, (unsigned)but - 1, 0);
	close_range((unsigned)but + 1, ~0u, 0);
}

static void plain_signals(bool ignore_term)
{
	sigset_t none;

	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	if (ignore_term)
		signal(SIGTERM, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Tells who it is, or an errno, negative; then waits to end. */
static void __attribute__((noreturn))
be(enum fixture_shape shape, const struct fixture_options *o, int out)
{
	int said = enter_cgroup(o->cgroup);

	prctl(PR_SET_NAME, "stray-fixture");
	plain_signals(shape == FIXTURE_IGNORER || shape == FIXTURE_DAEMON);
	alarm(o->seconds);
	if (!said && shape == FIXTURE_GROUP && setpgid(0, 0) < 0)
		said = errno;
	if (!said && (shape == FIXTURE_SESSION || shape == FIXTURE_DAEMON) && setsid() < 0)
		said = errno;
	if (!said && shape == FIXTURE_DAEMON) {
		pid_t pid = spawn_fork();

		if (pid > 0)
			_exit(0);
		said = pid < 0 ? errno : 0;
		alarm(o->seconds); /* which is not inherited */
	}
	close_all(o->keep_stdio, out);
	said = said ? -said : getpid();
	if (write(out, &said, sizeof(said)) < 0 || said < 0)
		_exit(1);
	close(out);
	for (;;)
		pause();
}

int fixture_make(enum fixture_shape shape, const struct fixture_options *o, struct identity *out,
		 struct err *err)
{
	int ends[2], said = -EIO;
	struct proc_stat st;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(err, errno, "no pipe");
	pid = spawn_fork();
	if (pid == 0)
		be(shape, o, ends[1]);
	close(ends[1]);
	do
		n = pid < 0 ? 0 : read(ends[0], &said, sizeof(said));
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (shape == FIXTURE_DAEMON && pid > 0)
		waitpid(pid, NULL, 0);
	if (pid < 0 || n != sizeof(said) || said < 0)
		return err_errno(err, said < 0 ? -said : EIO, "no fixture");
	if (proc_stat_read((pid_t)said, &st) < 0)
		return err_errno(err, ESRCH, "no fixture");
	*out = (struct identity){st.pid, st.start};
	return 0;
}
