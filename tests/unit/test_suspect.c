#include "model/suspect.h"

#include "tests/unit/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define INIT "1 0 1 1 S 0 systemd cgroup=/init.scope\n"
#define SCOPE "cgroup=/user.slice/user-1000.slice/session-12.scope"
#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
#define APPS MANAGER "/app.slice"
#define ID "3f2a91c04b7ee0c6c3a1f1d7b9a0e4d25566778899aabbccddeeff0011223344"

/* An open login: sshd, its fork for the user, and the shell of the terminal. */
#define LOGIN                                                     \
	"login 12 leader=100 tty=pts/3\n" INIT                    \
	"30 1 30 30 S 10 sshd cgroup=/system.slice/ssh.service\n" \
	"in " SCOPE " audit=12\n"                                 \
	"100 30 100 100 S 500 sshd\n"                             \
	"101 100 100 100 S 510 sshd uid=1000\n"                   \
	"102 101 102 102 S 520 bash uid=1000 tty=pts/3\n"

struct example {
	const char *what, *host, *suspects, *explained;
};

static void check(const struct example *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tracker k;
		char suspects[HOSTS_TEXT], explained[HOSTS_TEXT];
		size_t count = 0;

		hosts_track(&k, cases[i].host);
		hosts_suspects(k.now, suspects);
		hosts_explained(k.now, explained);
		if (strcmp(suspects, cases[i].suspects) != 0)
			fail_msg("%s: suspects \"%s\", not \"%s\"", cases[i].what, suspects,
				 cases[i].suspects);
		if (strcmp(explained, cases[i].explained) != 0)
			fail_msg("%s: explained \"%s\", not \"%s\"", cases[i].what, explained,
				 cases[i].explained);
		for (size_t p = 0; p < k.now->procs.n; p++)
			count += k.now->procs.v[p].suspect != 0;
		assert_int_equal(k.suspects, count);
		tracker_free(&k);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

static void each_reason_alone_makes_a_suspect(void **state)
{
	static const struct example cases[] = {
		{"reparented", LOGIN "110 1 110 110 S 600 sleep", "110 reparented", ""},
		{"session leader gone", LOGIN "109 102 109 99 S 600 sh\n110 109 109 99 S 600 sleep",
		 "109 reparented leader_gone, 110 leader_gone child", ""},
		{"session leader a zombie",
		 LOGIN "99 101 99 99 Z 550 sh\n110 99 110 99 S 600 sleep", "110 leader_gone", ""},
		{"terminal closed", LOGIN "110 102 110 110 S 600 sleep tty_closed",
		 "110 tty_closed", ""},
		{"working directory deleted", LOGIN "110 102 110 102 S 600 sleep cwd_deleted",
		 "110 cwd_deleted", ""},
		{"marked by work that is gone", INIT "110 1 110 110 S 600 sleep mark=AI_AGENT",
		 "110 mark", ""},
		{"HUP ignored, login closed", INIT "110 102 110 110 S 600 sleep sigign=HUP " SCOPE,
		 "110 hup_ignored", ""},
		{"HUP ignored, login closing",
		 "login 12 state=closing\n" INIT
		 "110 102 110 110 S 600 sleep sigign=HUP,TERM " SCOPE,
		 "110 hup_ignored", ""},
		{"all at once",
		 INIT "110 1 109 109 S 600 sh tty_closed cwd_deleted sigign=HUP mark=AGENT " SCOPE,
		 "110 reparented leader_gone tty_closed cwd_deleted mark hup_ignored", ""},
	};

	(void)state;
	CHECK(cases);
}

static void what_lives_on_for_a_reason_is_none(void **state)
{
	static const struct example cases[] = {
		{"a live terminal with background jobs",
		 LOGIN "110 102 110 102 S 600 make\n"
		       "111 110 110 102 S 610 cc1\n"
		       "112 102 112 102 T 620 vim\n"
		       "113 102 113 102 R 630 sleep tty=pts/3\n",
		 "", ""},
		{"HUP ignored, login open", LOGIN "110 102 110 102 S 600 make sigign=HUP", "", ""},
		{"HUP ignored, logins not known",
		 "host no-logins\n" INIT "110 102 110 110 S 600 x sigign=HUP " SCOPE, "", ""},
		{"HUP ignored, from no login", INIT "110 102 110 110 S 600 x sigign=HUP", "", ""},
		{"no origin at all",
		 "1 0 1 1 S 0 init\n30 1 30 30 S 9 dropbear\n40 1 40 40 S 10 app", "", ""},
		{"a container: children of its PID 1",
		 "1 0 1 1 S 0 tini cgroup=/docker/" ID "\n"
		 "7 1 7 7 S 9 app cgroup=/docker/" ID "\n"
		 "8 7 8 8 S 9 worker cgroup=/docker/" ID "\n"
		 "20 0 20 20 S 90 sh cgroup=/docker/" ID "\n",
		 "", ""},
		{"a zombie is its parent's affair", INIT "110 1 109 109 Z 600 sh tty_closed", "",
		 ""},
		{"init", "1 0 1 1 S 0 init cwd_deleted sigign=HUP", "", ""},
		{"kernel threads", "2 0 0 0 S 0 kthreadd kthread\n9 2 0 0 I 0 kworker kthread", "",
		 ""},
		{"what /proc hides is not gone",
		 "host hidepid\n110 109 108 108 S 600 sleep mark=AGENT", "", ""},
		{"a finished session whose parent idles on",
		 LOGIN "110 102 110 110 S 600 agent\n"
		       "111 110 111 111 S 610 server\n"
		       "112 110 112 112 S 610 server",
		 "", ""},
	};

	(void)state;
	CHECK(cases);
}

static void a_service_explains_what_it_started_but_no_foreign_mark(void **state)
{
#define SERVICE "cgroup=/system.slice/app.service"
	static const struct example cases[] = {
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
		{"a service of two units' depth",
		 INIT "40 1 40 40 S 9 app mark=AGENT " SERVICE "/main\n"
		      "41 1 41 41 S 10 left mark=AGENT " SERVICE "/sub",
		 "41 mark", "40 mark"},
	};

	(void)state;
	CHECK(cases);
}

static void a_container_explains_what_is_in_it(void **state)
{
#define DOCKER "cgroup=/system.slice/docker-" ID ".scope"
#define PODMAN MANAGER "/user.slice/libpod-" ID ".scope/container"
#define CONMON MANAGER "/user.slice/libpod-conmon-" ID ".scope"
#define USER INIT "70 1 70 70 S 5 systemd audit=3 cgroup=" MANAGER "/init.scope\n"
	static const struct example cases[] = {
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
	CHECK(cases);
}

static void a_user_manager_explains_the_first_of_a_unit(void **state)
{
	static const struct example cases[] = {
		{"an application and its helper",
		 USER "80 70 80 80 S 9 firefox cgroup=" APPS "/app-gnome-firefox-1.scope\n"
		      "81 80 80 80 S 9 Web cgroup=" APPS "/app-gnome-firefox-1.scope\n",
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
		      "91 70 80 80 S 12 evince stdin=/dev/null cgroup=" APPS
		      "/app-firefox-1.scope\n",
		 "", "81 reparented, 91 reparented"},
		{"... but spoke to until it was gone",
		 USER "80 70 80 80 S 9 shell cgroup=" APPS "/shell.service\n"
		      "90 80 80 80 S 11 code cgroup=" APPS "/app-code-1.scope\n"
		      "91 70 80 80 S 12 server stdin=pipe:[7] cgroup=" APPS "/app-code-1.scope\n",
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
	CHECK(cases);
}

static void cron_explains_its_jobs_while_it_is_above_them(void **state)
{
#define CRON "cgroup=/system.slice/cron.service"
#define CROND INIT "40 1 40 40 S 9 cron exe=/usr/sbin/cron " CRON "\n"
#define CRONSCOPE "cgroup=/user.slice/user-0.slice/session-5.scope"
	static const struct example cases[] = {
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
	CHECK(cases);
}

static void a_live_login_explains_only_what_it_started_itself(void **state)
{
#define GDM                                                        \
	"login 12 leader=100 tty=tty2 service=gdm-password\n" INIT \
	"30 1 30 30 S 10 gdm3 cgroup=/system.slice/gdm.service\n"  \
	"in " SCOPE " audit=12\n"                                  \
	"100 30 30 30 S 500 gdm-session-wor\n"
#define SESSION "130 100 130 130 S 510 gdm-wayland-ses uid=1000\n"
	static const struct example cases[] = {
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
	CHECK(cases);
}

static void a_multiplexer_explains_itself_and_nothing_else(void **state)
{
	static const struct example cases[] = {
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
	CHECK(cases);
}

static void a_mark_tells_of_work_that_is_gone_only_if_its_setter_is(void **state)
{
	static const struct example cases[] = {
		{"the agent lives, and carries none itself",
		 LOGIN "110 102 110 102 S 600 agent\n"
		       "111 110 111 111 S 610 sh mark=AI_AGENT:a\n"
		       "112 111 111 111 S 620 make mark=AI_AGENT:a\n",
		 "", ""},
		{"the agent is gone",
		 INIT "111 1 111 111 S 610 sh mark=AI_AGENT:a\n"
		      "112 111 111 111 S 620 make mark=AI_AGENT:a\n",
		 "111 mark, 112 mark child", ""},
		{"what is below lost the mark",
		 INIT "111 1 111 111 S 610 sh mark=AI_AGENT:a\n"
		      "112 111 111 111 S 620 make\n",
		 "111 mark, 112 child", ""},
		{"a leftover of an agent that lives",
		 LOGIN "110 102 110 102 S 600 agent\n"
		       "111 1 111 111 S 610 sh mark=AI_AGENT:a",
		 "111 reparented mark", ""},
		{"an agent below an agent",
		 INIT "110 1 110 110 S 600 agent mark=AGENT:outer\n"
		      "111 110 111 111 S 610 sh mark=AGENT:inner\n",
		 "110 mark, 111 child", ""},
		{"adopted by a subreaper in another session",
		 LOGIN "110 102 110 102 S 600 tini\n"
		       "111 110 109 109 S 610 sh mark=AGENT",
		 "111 reparented leader_gone mark", ""},
		{"adopted by a user manager",
		 USER "in cgroup=" APPS "/x.slice\n111 70 111 111 S 610 sh mark=AGENT", "111 mark",
		 ""},
		{"two marks, one whose setter lives",
		 INIT "110 1 110 110 S 600 agent mark=CLAUDECODE:1\n"
		      "111 110 110 110 S 610 sh mark=CLAUDECODE:1 mark=AGENT:x",
		 "110 mark, 111 mark child", ""},
		{"environment not readable is no mark",
		 INIT "111 1 111 111 S 610 sh unread=environ", "", ""},
		{"in a container from its PID 1 on",
		 "1 0 1 1 S 0 tini mark=AGENT\n9 1 9 9 S 5 app mark=AGENT", "", ""},
		{"set by who entered a container from outside",
		 "1 0 1 1 S 0 tini\n9 0 9 9 S 5 sh mark=AGENT", "", ""},
	};

	(void)state;
	CHECK(cases);
}

static void children_of_suspects_are_suspects(void **state)
{
	static const struct example cases[] = {
		{"all below",
		 LOGIN "110 1 110 110 S 600 sh\n"
		       "111 110 110 110 S 610 sh\n"
		       "112 111 112 112 S 620 sleep\n",
		 "110 reparented, 111 child, 112 child", ""},
		{"numbers say nothing of who is whose",
		 LOGIN "300 1 300 300 S 600 sh\n"
		       "200 300 300 300 S 610 sh\n"
		       "250 200 300 300 S 620 sleep\n",
		 "200 child, 250 child, 300 reparented", ""},
		{"not the dead", LOGIN "110 1 110 110 S 600 sh\n111 110 110 110 Z 610 sh",
		 "110 reparented", ""},
		{"not where another origin begins",
		 LOGIN "40 102 40 40 S 9 engine cwd_deleted\n"
		       "41 40 41 41 S 10 sh nspid=41/1 " DOCKER "\n"
		       "42 41 41 41 S 10 sh nspid=42/2 " DOCKER "\n",
		 "40 cwd_deleted", ""},
		{"what is explained passes nothing on",
		 INIT "40 1 39 39 S 9 app " SERVICE "\n41 40 41 41 S 10 x " SERVICE, "",
		 "40 reparented leader_gone"},
	};

	(void)state;
	CHECK(cases);
}

static void who_can_act_comes_first(void **state)
{
	struct tracker k;

	(void)state;
	hosts_track(&k, LOGIN "110 1 109 109 S 600 sh cwd_deleted tty_closed mark=AGENT\n"
			      "120 1 120 120 S 600 curl remote=198.51.100.9:443\n"
			      "130 1 130 130 S 600 sleep\n"
			      "131 130 130 130 S 600 sleep\n");
	assert_true(suspect_weight(hosts_process(k.now, 120)) >
		    suspect_weight(hosts_process(k.now, 110)));
	assert_true(suspect_weight(hosts_process(k.now, 110)) >
		    suspect_weight(hosts_process(k.now, 130)));
	assert_true(suspect_weight(hosts_process(k.now, 130)) >
		    suspect_weight(hosts_process(k.now, 131)));
	assert_true(suspect_weight(hosts_process(k.now, 131)) > 0);
	assert_int_equal(suspect_weight(hosts_process(k.now, 102)), 0);
	assert_string_equal(suspect_mark(hosts_process(k.now, 110)), "AGENT");
	assert_null(suspect_mark(hosts_process(k.now, 130)));
	tracker_free(&k);
}

/* Deep, and each carries a mark whose setter is gone: once through, not once a process. */
static void a_chain_of_ten_thousand_is_judged_at_once(void **state)
{
	struct table *t = table_new();
	struct tracker k;
	struct err err = {0};
	enum { N = 10000 };

	(void)state;
	assert_non_null(t);
	for (pid_t pid = 2; pid <= N; pid++) {
		struct process p = {
			.id = {pid, (uint64_t)(N - pid)}, .ppid = pid + 1, .state = 'S'};

		p.pgid = p.sid = N;
		p.ppid = pid == N ? 1 : pid + 1;
		p.detail = detail_new();
		assert_non_null(p.detail);
		p.detail->marks = calloc(1, sizeof(*p.detail->marks));
		assert_non_null(p.detail->marks);
		p.detail->marks[0] = (struct mark){strdup("AGENT"), strdup("1")};
		p.detail->n_marks = 1;
		assert_true(table_add(t, &p));
	}
	tracker_init(&k);
	assert_int_equal(tracker_fold(&k, t, &err), 0);
	assert_int_equal(k.suspects, N - 1);
	for (pid_t pid = 2; pid <= N; pid++)
		assert_int_equal(hosts_process(k.now, pid)->suspect & SUSPECT_MARK, SUSPECT_MARK);
	tracker_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_alone_makes_a_suspect),
		cmocka_unit_test(what_lives_on_for_a_reason_is_none),
		cmocka_unit_test(a_service_explains_what_it_started_but_no_foreign_mark),
		cmocka_unit_test(a_container_explains_what_is_in_it),
		cmocka_unit_test(a_user_manager_explains_the_first_of_a_unit),
		cmocka_unit_test(cron_explains_its_jobs_while_it_is_above_them),
		cmocka_unit_test(a_live_login_explains_only_what_it_started_itself),
		cmocka_unit_test(a_multiplexer_explains_itself_and_nothing_else),
		cmocka_unit_test(a_mark_tells_of_work_that_is_gone_only_if_its_setter_is),
		cmocka_unit_test(children_of_suspects_are_suspects),
		cmocka_unit_test(who_can_act_comes_first),
		cmocka_unit_test(a_chain_of_ten_thousand_is_judged_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
