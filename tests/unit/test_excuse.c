#include "model/excuse.h"

#include "tests/unit/judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_service_explains_what_it_started_but_no_foreign_mark(void **state)
{
	static const struct judged_example cases[] = {
		{"forked twice to become a daemon", INIT "40 1 39 39 S 9 app " SERVICE, "",
		 "40 reparented leader_gone"},
		{"its helpers too",
		 INIT "40 1 39 39 S 9 app " SERVICE "\n"
		      "41 1 41 39 S 10 helper cwd_deleted " SERVICE,
		 "", "40 reparented leader_gone, 41 reparented leader_gone cwd_deleted"},
		{"a mark in the unit's own environment",
		 INIT "40 1 40 40 S 9 app mark=AGENT:x " SERVICE "\n"
		      "41 40 40 40 S 10 worker mark=AGENT:x " SERVICE "\n"
		      "42 41 42 42 S 11 worker mark=AGENT:x " SERVICE,
		 "", "40 mark, 41 mark, 42 mark"},
		{"a CI runner's job, alive",
		 INIT "40 1 40 40 S 9 Runner.Listener " SERVICE "\n"
		      "41 40 40 40 S 10 Runner.Worker " SERVICE "\n"
		      "42 41 42 42 S 11 bash mark=RUNNER_TRACKING_ID:github_1 " SERVICE,
		 "", ""},
		{"... left over",
		 INIT "40 1 40 40 S 9 Runner.Listener " SERVICE "\n"
		      "42 1 42 42 S 11 node mark=RUNNER_TRACKING_ID:github_1 " SERVICE "\n"
		      "43 42 42 42 S 12 node mark=RUNNER_TRACKING_ID:github_1 " SERVICE,
		 "42 mark, 43 mark child", ""},
		{"... of a runner that itself has another job's mark",
		 INIT "40 1 40 40 S 9 Runner mark=AGENT:a " SERVICE "\n"
		      "42 1 42 42 S 11 node mark=AGENT:a mark=RUNNER_TRACKING_ID:7 " SERVICE,
		 "42 mark", "40 mark"},
		{"two processes of one tick: the lower number is the main one",
		 INIT "40 1 40 40 S 9 app mark=AGENT " SERVICE "\n"
		      "41 1 41 41 S 9 left mark=AGENT " SERVICE,
		 "41 mark", "40 mark"},
		{"... of a service that was restarted since: older than its main process",
		 INIT "40 1 39 39 S 9 left mark=RUNNER_TRACKING_ID:7 " SERVICE "\n"
		      "60 1 60 60 S 90 Runner " SERVICE,
		 "40 mark", "40 reparented leader_gone"},
		{"a service that forks twice is its own first process all the same",
		 INIT "40 1 39 39 S 9 app mark=AGENT " SERVICE "\n"
		      "41 40 39 39 S 10 worker mark=AGENT " SERVICE,
		 "", "40 reparented leader_gone mark, 41 leader_gone mark"},
		{"... and the unit's own is in what was left, too",
		 INIT "40 1 39 39 S 9 left mark=AGENT mark=RUNNER_TRACKING_ID:7 " SERVICE "\n"
		      "60 1 60 60 S 90 Runner mark=AGENT " SERVICE,
		 "40 mark", "40 reparented leader_gone, 60 mark"},
		{"... of a service that forks twice, with a session of its own",
		 INIT "40 1 39 39 S 9 app " SERVICE "\n"
		      "41 1 41 41 S 10 left mark=AGENT " SERVICE,
		 "41 mark", "40 reparented leader_gone"},
		{"a service of two units' depth",
		 INIT "40 1 40 40 S 9 app mark=AGENT " SERVICE "/main\n"
		      "41 1 41 41 S 10 left mark=AGENT " SERVICE "/sub",
		 "41 mark", "40 mark"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void a_container_explains_what_is_in_it(void **state)
{
#define PODMAN MANAGER "/user.slice/libpod-" ID ".scope/container"
#define CONMON MANAGER "/user.slice/libpod-conmon-" ID ".scope"
	static const struct judged_example cases[] = {
		{"from the host",
		 INIT "50 1 49 49 S 9 containerd-shim cgroup=/system.slice/containerd.service\n"
		      "60 50 60 60 S 9 sh nspid=60/1 mark=AGENT " DOCKER "\n"
		      "61 60 59 59 S 9 left nspid=61/9 mark=AGENT " DOCKER "\n"
		      "62 50 62 40 S 9 exec nspid=62/12 " DOCKER,
		 "", "50 reparented leader_gone, 61 reparented leader_gone, 62 leader_gone"},
		{"from within, nothing explains",
		 "1 0 1 1 S 0 sh " DOCKER "\n"
		 "9 1 7 7 S 9 left " DOCKER,
		 "9 reparented leader_gone", ""},
		{"rootless: conmon is the first in its scope, the rest in a namespace",
		 USER "80 70 79 79 S 9 conmon cgroup=" CONMON "\n"
		      "81 80 81 81 S 9 sh nspid=81/1 cgroup=" PODMAN "\n"
		      "82 81 81 81 S 9 x nspid=82/2 cgroup=" PODMAN,
		 "", "80 reparented leader_gone"},
		{"a scope that its user named like one",
		 USER "80 70 79 79 S 9 x cgroup=" CONMON "\n"
		      "82 70 79 79 S 19 left cgroup=" CONMON,
		 "82 reparented leader_gone", "80 reparented leader_gone"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void a_user_manager_explains_the_first_of_a_unit(void **state)
{
	static const struct judged_example cases[] = {
		{"an application and its helper",
		 USER "80 70 80 80 S 9 firefox cgroup=" APPS "/app-gnome-firefox-80.scope\n"
		      "81 80 80 80 S 9 Web cgroup=" APPS "/app-gnome-firefox-80.scope\n",
		 "", "80 reparented"},
		{"left over in an application's scope",
		 USER "80 70 80 80 S 9 alacritty cgroup=" APPS "/app-Alacritty-1.scope\n"
		      "82 70 82 82 S 19 left cgroup=" APPS "/app-Alacritty-1.scope\n",
		 "82 reparented", "80 reparented"},
		{"... in a cgroup of its own below it",
		 USER "80 70 80 80 S 9 alacritty cgroup=" APPS "/app-Alacritty-1.scope\n"
		      "82 70 82 82 S 19 left cgroup=" APPS "/app-Alacritty-1.scope/app-x.scope\n",
		 "82 reparented", "80 reparented"},
		{"a terminal's tab explains nothing",
		 USER "80 70 80 80 S 9 left cgroup=" APPS "/vte-spawn-1.scope", "80 reparented",
		 ""},
		{"nor does a bare scope", USER "80 70 80 80 S 9 left cgroup=" APPS "/run-r1.scope",
		 "80 reparented", ""},
		{"snapd's scopes are applications'",
		 USER "80 70 80 80 S 9 firefox cgroup=" APPS "/snap.firefox.firefox-1b.scope", "",
		 "80 reparented"},
		{"a service, and the mark it was given",
		 USER "80 70 80 80 S 9 app mark=AGENT sigign=HUP audit=3 cgroup=" APPS
		      "/a.service\n"
		      "81 80 80 80 S 9 app mark=AGENT sigign=HUP audit=3 cgroup=" APPS "/a.service",
		 "", "80 mark, 81 mark"},
		{"what was left in a service, with a session of its own",
		 USER "80 70 80 80 S 9 app cgroup=" APPS "/a.service\n"
		      "81 70 79 79 S 10 left cgroup=" APPS "/a.service\n"
		      "82 70 82 82 S 10 daemon cgroup=" APPS "/a.service",
		 "81 reparented leader_gone", ""},
		{"what it gave no session of its own",
		 USER "80 70 80 80 S 9 dbus-daemon cgroup=" APPS "/dbus.service\n"
		      "81 70 80 80 S 10 dconf cgroup=" APPS "/dbus.service\n"
		      "90 80 80 80 S 11 firefox cgroup=" APPS "/app-firefox-1.scope\n"
		      "91 70 80 80 S 12 evince fd0=/dev/null cgroup=" APPS "/app-firefox-1.scope\n",
		 "", "81 reparented, 91 reparented"},
		{"... but spoke to until it was gone",
		 USER "80 70 80 80 S 9 shell cgroup=" APPS "/shell.service\n"
		      "90 80 80 80 S 11 code cgroup=" APPS "/app-code-1.scope\n"
		      "91 70 80 80 S 12 server fd0=pipe:[7] cgroup=" APPS "/app-code-1.scope\n",
		 "91 reparented", ""},
		{"... in a terminal's tab that is open",
		 USER "90 70 90 90 S 11 bash cgroup=" APPS "/vte-spawn-1.scope\n"
		      "91 70 90 90 S 12 left cgroup=" APPS "/vte-spawn-1.scope\n",
		 "90 reparented, 91 reparented", ""},
		{"part of the application, as the system installed it",
		 USER "90 70 90 90 S 11 x exe=/opt/google/chrome/chrome cgroup=" APPS
		      "/app-chrome-1.scope\n"
		      "91 70 89 89 S 12 x exe=/opt/google/chrome/crashpad cgroup=" APPS
		      "/app-chrome-1.scope\n"
		      "92 70 88 88 S 12 x exe=/opt/google/other/crashpad cgroup=" APPS
		      "/app-chrome-1.scope\n"
		      "93 70 87 87 S 12 x exe=/opt/google/chrome/sub/x cgroup=" APPS
		      "/app-chrome-1.scope\n",
		 "92 reparented leader_gone, 93 reparented leader_gone",
		 "90 reparented, 91 reparented leader_gone"},
		{"... not what all share, or who runs it made",
		 USER "90 70 90 90 S 11 x exe=/usr/bin/python3 cgroup=" APPS "/app-x-1.scope\n"
		      "91 70 89 89 S 12 x exe=/usr/bin/python3 cgroup=" APPS "/app-x-1.scope\n"
		      "94 70 94 94 S 11 x exe=/home/op/a/x cgroup=" APPS "/app-y-1.scope\n"
		      "95 70 89 89 S 12 x exe=/home/op/a/y cgroup=" APPS "/app-y-1.scope\n",
		 "91 reparented leader_gone, 95 reparented leader_gone",
		 "90 reparented, 94 reparented"},
		{"podman's scopes for its helpers",
		 USER "80 1 80 79 S 9 slirp4netns cgroup=" MANAGER "/user.slice/podman-80.scope",
		 "", "80 reparented leader_gone"},
		{"the manager itself",
		 USER "71 70 70 70 S 5 (sd-pam) audit=3 cgroup=" MANAGER "/init.scope", "", ""},
		{"what hides in the manager's cgroup",
		 USER "80 1 79 79 S 19 left cgroup=" MANAGER "/init.scope",
		 "80 reparented leader_gone", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

/* From here on: 80 is the application, 70 the manager, 60 what the desktop's session is of. */
#define SHELL USER "60 70 60 60 S 6 gnome-shell cgroup=" MANAGER "/session.slice/shell.service\n"
#define CODE "cgroup=" APPS "/app-gnome-code-80.scope"
#define EDITOR SHELL "in " CODE "\n80 60 60 60 S 9 code exe=/usr/share/code/code\n"

static void an_application_explains_what_it_started_in_its_session(void **state)
{
	static const struct judged_example cases[] = {
		{"a viewer, by a double fork",
		 EDITOR "82 70 60 60 S 20 evince fd0=/dev/null fd1=socket:[7] fd2=socket:[7]", "",
		 "82 reparented"},
		{"a helper of a user's service",
		 SHELL "in cgroup=" APPS "/ibus.service\n"
		       "81 70 81 81 S 9 ibus-daemon\n82 70 81 81 S 10 ibus-x11",
		 "", "82 reparented"},
		{"... in the session of another service",
		 SHELL "81 70 81 81 S 9 ibus-daemon cgroup=" APPS "/ibus.service\n"
		       "83 70 83 83 S 9 gvfsd cgroup=" APPS "/gvfs.service\n"
		       "82 70 83 83 S 10 x cgroup=" APPS "/ibus.service",
		 "82 reparented", ""},
		{"in a bare scope",
		 SHELL "in cgroup=" APPS "/run-r1.scope\n"
		       "80 60 60 60 S 9 x\n82 70 60 60 S 20 left",
		 "82 reparented", ""},
		{"a session of its own", EDITOR "82 70 82 82 S 20 left", "82 reparented", ""},
		{"launched by an agent that is gone",
		 SHELL "80 70 79 79 S 9 firefox mark=AI_AGENT cgroup=" APPS
		       "/app-gnome-firefox-80.scope",
		 "80 mark", "80 reparented leader_gone"},
		{"only that its parent is gone",
		 EDITOR "82 70 60 60 S 20 left cwd_deleted tty_closed", "82 tty_closed cwd_deleted",
		 "82 reparented"},
		{"and no mark", EDITOR "82 70 60 60 S 20 left mark=AGENT", "82 mark",
		 "82 reparented"},
		{"the session's leader is gone, too",
		 USER "in " CODE "\n80 70 59 59 S 9 code\n82 70 59 59 S 20 x", "82 leader_gone",
		 "80 reparented leader_gone, 82 reparented"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void nobody_at_its_pipes_is_not_explained(void **state)
{
	static const struct judged_example cases[] = {
		{"a pipe as stdin", EDITOR "82 70 60 60 S 20 node fd0=pipe:[7] fd1=/dev/null",
		 "82 reparented", ""},
		{"a pipe as stderr", EDITOR "82 70 60 60 S 20 node fd0=/dev/null fd2=pipe:[7]",
		 "82 reparented", ""},
		{"a socket as stdin", EDITOR "82 70 60 60 S 20 node fd0=socket:[7]",
		 "82 reparented", ""},
		{"what it started has them, too",
		 EDITOR "82 70 60 60 S 20 npm fd0=pipe:[7]\n83 82 60 60 S 21 node fd0=pipe:[7]",
		 "82 reparented, 83 child", ""},
		{"what it was started with has one, and is left, too",
		 EDITOR "82 70 60 60 S 20 tail fd1=pipe:[7]\n83 70 60 60 S 20 grep fd0=pipe:[7]",
		 "82 reparented, 83 reparented", ""},
		{"a socket of that number is no pipe",
		 EDITOR "81 80 60 60 S 10 x fd0=socket:[7]\n82 70 60 60 S 20 node fd0=pipe:[7]",
		 "82 reparented", ""},
		{"one is held, one is not",
		 EDITOR "81 80 60 60 S 10 x fd1=pipe:[7]\n"
			"82 70 60 60 S 20 node fd0=pipe:[7] fd1=pipe:[8]",
		 "82 reparented", ""},
		{"only the dead hold it",
		 EDITOR "81 80 60 60 Z 10 x fd1=pipe:[7]\n82 70 60 60 S 20 node fd0=pipe:[7]",
		 "82 reparented", ""},
		{"the application holds it",
		 EDITOR "81 80 60 60 S 10 x fd1=pipe:[7]\n82 70 60 60 S 20 node fd0=pipe:[7]", "",
		 "82 reparented"},
		{"an application that was itself adopted holds it",
		 SHELL "in " CODE "\n80 70 60 60 S 9 code fd1=pipe:[7]\n"
		       "82 70 60 60 S 20 viewer fd1=pipe:[7]",
		 "", "80 reparented, 82 reparented"},
		{"its own program",
		 EDITOR "82 70 81 81 S 20 code exe=/usr/share/code/code fd0=pipe:[7]",
		 "82 reparented leader_gone", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void an_application_explains_programs_of_its_own_directory(void **state)
{
#define HELPER(exe) "82 70 81 81 S 20 crashpad fd0=/dev/null exe=" exe
	static const struct judged_example cases[] = {
		{"a crash handler", EDITOR HELPER("/usr/share/code/crashpad"), "",
		 "82 reparented leader_gone"},
		{"only that it is a daemon",
		 EDITOR HELPER("/usr/share/code/crashpad") " tty_closed cwd_deleted",
		 "82 tty_closed cwd_deleted", "82 reparented leader_gone"},
		{"from an AppImage",
		 SHELL "in cgroup=" APPS "/app-x-77.scope\n"
		       "80 60 60 60 S 9 x exe=/tmp/.mount_xAbCdE/x\n" HELPER(
			       "/tmp/.mount_xAbCdE/crashpad"),
		 "", "82 reparented leader_gone"},
		{"what many use, in whosever directory",
		 SHELL
		 "in cgroup=" APPS "/app-x-77.scope\n"
		 "80 60 60 60 S 9 x exe=/opt/ide/jbr/bin/java\n" HELPER("/opt/ide/jbr/bin/java"),
		 "82 reparented leader_gone", ""},
		{"below its directory is another", EDITOR HELPER("/usr/share/code/bin/x"),
		 "82 reparented leader_gone", ""},
		{"beside it, too", EDITOR HELPER("/usr/share/code-x/x"),
		 "82 reparented leader_gone", ""},
		{"not readable is not known", EDITOR HELPER("/usr/share/code/x") " unread=exe",
		 "82 reparented leader_gone", ""},
		{"/usr/bin is everybody's",
		 SHELL "in cgroup=" APPS "/app-org.kde.konsole-77.scope\n"
		       "80 60 60 60 S 9 konsole\n" HELPER("/usr/bin/python3"),
		 "82 reparented leader_gone", ""},
		{"so is a project's",
		 SHELL "in cgroup=" APPS "/app-x-77.scope\n"
		       "80 60 60 60 S 9 x exe=/home/op/env/bin/python3\n" HELPER(
			       "/home/op/env/bin/python3"),
		 "82 reparented leader_gone", ""},
		{"of another application",
		 EDITOR "in cgroup=" APPS "/app-gnome-x-90.scope\n"
			"90 60 60 60 S 9 x exe=/opt/x/x\n" HELPER("/usr/share/code/crashpad"),
		 "82 reparented leader_gone", ""},
		{"its application has ended",
		 SHELL "in " CODE
		       "\n" HELPER("/usr/share/code/crashpad") "\n"
							       "83 70 81 81 S 21 x "
							       "exe=/usr/share/code/crashpad",
		 "82 reparented leader_gone, 83 reparented leader_gone", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void who_outlived_an_application_is_not_what_it_is(void **state)
{
#define KONSOLE "in cgroup=" APPS "/app-org.kde.konsole-80.scope\n"
	static const struct judged_example cases[] = {
		{"a job of one of its terminals", SHELL "in " CODE "\n82 70 81 81 S 20 left",
		 "82 reparented leader_gone", ""},
		{"a session of its own", SHELL "in " CODE "\n82 70 82 82 S 20 left",
		 "82 reparented", ""},
		{"a server that nobody asks",
		 SHELL "in " CODE "\n82 70 60 60 S 20 left fd0=pipe:[7]", "82 reparented", ""},
		{"an application that started itself anew",
		 SHELL "in " CODE "\n82 70 82 60 S 20 code exe=/usr/share/code/code fd0=/dev/null\n"
		       "84 70 83 83 S 20 crashpad exe=/usr/share/code/crashpad",
		 "", "82 reparented, 84 reparented leader_gone"},
		{"elsewhere the number is none", SHELL KONSOLE "82 70 81 81 S 20 x", "",
		 "82 reparented leader_gone"},
		{"... but a terminal is none of a desktop's",
		 SHELL KONSOLE "82 70 81 81 S 20 left tty_closed",
		 "82 reparented leader_gone tty_closed", ""},
		{"in another PID namespace the number is of no process here",
		 "host inner-pid-ns\n" SHELL "in " CODE "\n82 70 81 81 S 20 x", "",
		 "82 reparented leader_gone"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void podman_explains_its_helpers(void **state)
{
#define RUN "cgroup=" APPS "/run-r1.scope"
#define NETWORK "cgroup=" MANAGER "/user.slice/podman-4180.scope"
	static const struct judged_example cases[] = {
		{"the network's, and the ports' beside it",
		 USER "in " NETWORK "\n82 1 82 40 S 9 slirp4netns\n"
		      "83 1 83 40 S 10 rootlessport exe=/usr/lib/podman/rootlessport",
		 "", "82 reparented leader_gone, 83 reparented leader_gone"},
		{"the network's beside that of the storage",
		 USER "in " NETWORK "\n82 1 81 81 S 9 fuse-overlayfs\n83 1 83 40 S 10 slirp4netns",
		 "", "82 reparented leader_gone, 83 reparented leader_gone"},
		{"who holds the namespaces",
		 USER "82 1 82 82 S 9 catatonit cgroup=" MANAGER
		      "/user.slice/podman-pause-8a.scope",
		 "", "82 reparented"},
		{"the name server, in any scope",
		 USER "82 1 81 81 S 9 dns exe=/usr/libexec/podman/aardvark-dns " RUN, "",
		 "82 reparented leader_gone"},
		{"who started podman first is no matter",
		 USER "82 1 82 82 S 9 dns mark=AGENT exe=/usr/lib/podman/aardvark-dns " RUN, "",
		 "82 reparented mark"},
		{"anybody's elsewhere", USER "82 1 82 40 S 9 slirp4netns " RUN,
		 "82 reparented leader_gone", ""},
		{"what hides in its scope",
		 USER "in " NETWORK "\n82 1 82 40 S 9 slirp4netns\n83 1 83 40 S 10 left",
		 "83 reparented leader_gone", "82 reparented leader_gone"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void cron_explains_its_jobs_while_it_is_above_them(void **state)
{
#define CRON "cgroup=/system.slice/cron.service"
#define CROND INIT "40 1 40 40 S 9 cron exe=/usr/sbin/cron " CRON "\n"
#define CRONSCOPE "cgroup=/user.slice/user-0.slice/session-5.scope"
	static const struct judged_example cases[] = {
		{"a job at work, its leader gone",
		 CROND "50 40 40 40 S 90 cron exe=/usr/sbin/cron " CRON "\n"
		       "51 50 51 51 S 90 sh " CRON "\n"
		       "52 51 51 51 S 91 backup sigign=HUP audit=9 cwd_deleted " CRON,
		 "", "52 cwd_deleted hup_ignored"},
		{"left over", CROND "52 1 51 51 S 91 backup " CRON, "52 reparented leader_gone",
		 ""},
		{"a mark is not cron's", CROND "52 1 52 52 S 91 backup mark=AGENT " CRON, "52 mark",
		 ""},
		{"... unless it is in cron's own environment",
		 INIT "40 1 40 40 S 9 cron exe=/usr/sbin/cron mark=AGENT " CRON "\n"
		      "50 40 50 50 S 90 sh mark=AGENT " CRON,
		 "", "40 mark, 50 mark"},
		{"with a login of cron's (pam_systemd), at work",
		 "login 5 service=cron leader=50\n" CROND
		 "50 40 40 40 S 90 cron exe=/usr/sbin/cron " CRONSCOPE "\n"
		 "51 50 51 51 S 90 sh " CRONSCOPE "\n"
		 "52 51 51 49 S 91 backup " CRONSCOPE,
		 "", "52 reparented leader_gone"},
		{"... left over, the login closing",
		 "login 5 service=cron state=closing\n" CROND "52 1 52 52 S 91 backup " CRONSCOPE,
		 "52 reparented", ""},
		{"... left over, the login gone",
		 CROND "52 1 52 52 S 91 backup sigign=HUP " CRONSCOPE, "52 reparented hup_ignored",
		 ""},
		{"a leftover that takes cron's name",
		 CROND "52 1 51 51 S 91 cron exe=/tmp/cron " CRON, "52 reparented leader_gone", ""},
		{"... where its program cannot be read",
		 CROND "52 1 51 51 S 91 cron uid=1000 unread=exe " CRON,
		 "52 reparented leader_gone", ""},
		{"cron itself, to an ordinary user",
		 INIT "40 1 39 39 S 9 cron unread=exe " CRON "\n"
		      "50 40 39 39 S 90 cron unread=exe " CRON,
		 "", "40 reparented leader_gone, 50 leader_gone"},
		{"an older job than a cron that was restarted",
		 INIT "52 1 51 51 S 7 backup " CRON "\n"
		      "60 1 60 60 S 9 cron exe=/usr/sbin/cron " CRON,
		 "52 reparented leader_gone", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void a_live_login_explains_only_what_it_started_itself(void **state)
{
#define GDM                                                        \
	"login 12 leader=100 tty=tty2 service=gdm-password\n" INIT \
	"30 1 30 30 S 10 gdm3 cgroup=/system.slice/gdm.service\n"  \
	"in " SCOPE " audit=12\n"                                  \
	"100 30 30 30 S 500 gdm-session-wor\n"
#define SESSION "130 100 130 130 S 510 gdm-wayland-ses uid=1000\n"
	static const struct judged_example cases[] = {
		{"PAM's daemon is older than the session's first process",
		 GDM SESSION "120 1 119 119 S 505 gnome-keyring-d uid=1000", "",
		 "120 reparented leader_gone"},
		{"what the session left is younger",
		 GDM SESSION "120 1 119 119 S 515 left uid=1000", "120 reparented leader_gone", ""},
		{"... or of the same tick", GDM SESSION "120 1 119 119 S 510 left uid=1000",
		 "120 reparented leader_gone", ""},
		{"no session any more", GDM "120 1 119 119 S 505 gnome-keyring-d uid=1000",
		 "120 reparented leader_gone", ""},
		{"older than the login", GDM SESSION "120 1 119 119 S 499 left uid=1000",
		 "120 reparented leader_gone", ""},
		{"the login's leader has ended",
		 "login 12 leader=100\n" INIT "in " SCOPE "\n"
		 "120 1 119 119 S 505 gnome-keyring-d",
		 "120 reparented leader_gone", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void a_multiplexer_explains_itself_and_nothing_else(void **state)
{
	static const struct judged_example cases[] = {
		{"the server, and a shell in it",
		 LOGIN "110 1 110 110 S 600 \"tmux: server\" exe=/usr/bin/tmux\n"
		       "111 110 111 111 S 610 bash tty=pts/4\n"
		       "112 111 112 111 S 620 make tty=pts/4\n",
		 "", "110 reparented"},
		{"after the login closed",
		 INIT
		 "in " SCOPE "\n"
		 "110 1 110 110 S 600 \"tmux: server\" exe=/usr/bin/tmux sigign=HUP tty_closed\n"
		 "111 110 111 111 S 610 bash\n",
		 "", "110 reparented tty_closed hup_ignored"},
		{"what was left over in it",
		 LOGIN "110 1 110 110 S 600 \"tmux: server\" exe=/usr/bin/tmux\n"
		       "113 1 113 113 S 610 left\n"
		       "114 110 114 111 S 610 left\n",
		 "113 reparented, 114 reparented leader_gone", "110 reparented"},
		{"started by an agent that is gone",
		 LOGIN "110 1 110 110 S 600 screen exe=/usr/bin/screen mark=AGENT\n"
		       "111 110 111 111 S 610 bash\n",
		 "110 mark, 111 child", "110 reparented"},
		{"a name of its own choice",
		 LOGIN "110 1 110 110 S 600 \"tmux: server\" exe=/tmp/tmux", "110 reparented", ""},
		{"nohup explains nothing",
		 LOGIN "110 1 110 102 S 600 sleep args=\"nohup sleep\" sigign=HUP",
		 "110 reparented", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_explains_what_it_started_but_no_foreign_mark),
		cmocka_unit_test(a_container_explains_what_is_in_it),
		cmocka_unit_test(a_user_manager_explains_the_first_of_a_unit),
		cmocka_unit_test(an_application_explains_what_it_started_in_its_session),
		cmocka_unit_test(nobody_at_its_pipes_is_not_explained),
		cmocka_unit_test(an_application_explains_programs_of_its_own_directory),
		cmocka_unit_test(who_outlived_an_application_is_not_what_it_is),
		cmocka_unit_test(podman_explains_its_helpers),
		cmocka_unit_test(cron_explains_its_jobs_while_it_is_above_them),
		cmocka_unit_test(a_live_login_explains_only_what_it_started_itself),
		cmocka_unit_test(a_multiplexer_explains_itself_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
