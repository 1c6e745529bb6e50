/*
 * Examples of hosts (hosts.h), and who is a suspect in them.
 */
#ifndef STRAY_TESTS_UNIT_JUDGED_H
#define STRAY_TESTS_UNIT_JUDGED_H

#include "tests/unit/hosts.h"

struct judged_example {
	const char *what, *host;
	const char *suspects, *explained; /* as hosts_suspects() and hosts_explained() write it */
};

/* Looks at each host once; fails where it is judged otherwise. */
void judged_check(const struct judged_example *cases, size_t n);

#define JUDGED_CHECK(cases) judged_check(cases, sizeof(cases) / sizeof((cases)[0]))

/* Lines to begin with. */
#define INIT "1 0 1 1 S 0 systemd cgroup=/init.scope\n"
#define SCOPE "cgroup=/user.slice/user-1000.slice/session-12.scope"
#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
#define APPS MANAGER "/app.slice"
#define SERVICE "cgroup=/system.slice/app.service"
#define ID "3f2a91c04b7ee0c6c3a1f1d7b9a0e4d25566778899aabbccddeeff0011223344"
#define DOCKER "cgroup=/system.slice/docker-" ID ".scope"

/* A user manager, of a login that is not told of. */
#define USER INIT "70 1 70 70 S 5 systemd audit=3 cgroup=" MANAGER "/init.scope\n"

/* An open login: sshd, its fork for the user, and the shell of the terminal. */
#define LOGIN                                                     \
	"login 12 leader=100 tty=pts/3\n" INIT                    \
	"30 1 30 30 S 10 sshd cgroup=/system.slice/ssh.service\n" \
	"in " SCOPE " audit=12\n"                                 \
	"100 30 100 100 S 500 sshd\n"                             \
	"101 100 100 100 S 510 sshd uid=1000\n"                   \
	"102 101 102 102 S 520 bash uid=1000 tty=pts/3\n"

#endif
