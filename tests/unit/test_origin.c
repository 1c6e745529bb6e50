#include "model/origin.h"

#include "tests/unit/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ID "3f2a91c04b7ee0c6c3a1f1d7b9a0e4d25566778899aabbccddeeff0011223344"

static void cgroup_paths_name_what_started_it(void **state)
{
	static const struct {
		const char *path;
		enum origin_kind kind;
		const char *name;
	} cases[] = {
		/* systemd, cgroup v2 or the name=systemd hierarchy of v1 */
		{"/init.scope", ORIGIN_INIT, "init.scope"},
		{"/system.slice/ssh.service", ORIGIN_SERVICE, "ssh.service"},
		{"/system.slice/system-getty.slice/getty@tty1.service", ORIGIN_SERVICE,
		 "getty@tty1.service"},
		{"/system.slice/systemd-udevd.service/udev", ORIGIN_SERVICE,
		 "systemd-udevd.service"},
		{"/system.slice/cron.service", ORIGIN_CRON, "cron.service"},
		{"/system.slice/crond.service", ORIGIN_CRON, "crond.service"},
		{"/system.slice/atd.service", ORIGIN_CRON, "atd.service"},
		{"/user.slice/user-1000.slice/session-12.scope", ORIGIN_LOGIN, "session-12.scope"},
		{"/user.slice/user-1000.slice/session-c1.scope", ORIGIN_LOGIN, "session-c1.scope"},
		{"/user.slice/user-0.slice/user@0.service/init.scope", ORIGIN_USER_MANAGER,
		 "init.scope"},
		{"/user.slice/user-1000.slice/user@1000.service", ORIGIN_USER_MANAGER,
		 "user@1000.service"},
		{"/user.slice/user-1000.slice/user@1000.service/session.slice/dbus.service",
		 ORIGIN_USER_UNIT, "dbus.service"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/"
		 "app-gnome-firefox-7.scope",
		 ORIGIN_USER_UNIT, "app-gnome-firefox-7.scope"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/"
		 "app-org.gnome.Terminal.slice/vte-spawn-11.scope",
		 ORIGIN_USER_UNIT, "vte-spawn-11.scope"},
		{"/user.slice/user-1000.slice/user-runtime-dir@1000.service", ORIGIN_SERVICE,
		 "user-runtime-dir@1000.service"},

		/* containers: systemd driver */
		{"/system.slice/docker-" ID ".scope", ORIGIN_CONTAINER, "docker 3f2a91c04b7e"},
		{"/system.slice/docker-" ID ".scope/system.slice/cron.service", ORIGIN_CONTAINER,
		 "docker 3f2a91c04b7e"},
		{"/machine.slice/libpod-" ID ".scope/container", ORIGIN_CONTAINER,
		 "podman 3f2a91c04b7e"},
		{"/machine.slice/libpod-conmon-" ID ".scope", ORIGIN_CONTAINER,
		 "podman 3f2a91c04b7e"},
		{"/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope",
		 ORIGIN_CONTAINER, "podman 3f2a91c04b7e"},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope/container",
		 ORIGIN_CONTAINER, "podman 3f2a91c04b7e"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c.slice/"
		 "cri-containerd-" ID ".scope",
		 ORIGIN_CONTAINER, "k8s 3f2a91c04b7e"},
		{"/kubepods.slice/kubepods-pod1b2c.slice/crio-" ID ".scope", ORIGIN_CONTAINER,
		 "cri-o 3f2a91c04b7e"},
		{"/system.slice/nerdctl-" ID ".scope", ORIGIN_CONTAINER, "nerdctl 3f2a91c04b7e"},
		/* ... cgroupfs driver */
		{"/docker/" ID, ORIGIN_CONTAINER, "docker 3f2a91c04b7e"},
		{"/docker/" ID "/docker/" ID, ORIGIN_CONTAINER, "docker 3f2a91c04b7e"},
		{"/actions_job/" ID, ORIGIN_CONTAINER, "docker 3f2a91c04b7e"},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/podman-4180.scope",
		 ORIGIN_CONTAINER, "podman 4180"},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/"
		 "podman-pause-8a1b2c3d.scope",
		 ORIGIN_CONTAINER, "podman pause-8a1b2c3d"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/podman.service",
		 ORIGIN_USER_UNIT, "podman.service"},
		{"/libpod_parent/libpod-" ID, ORIGIN_CONTAINER, "podman 3f2a91c04b7e"},
		{"/kubepods/besteffort/pod1b2c3d/" ID, ORIGIN_CONTAINER, "k8s 3f2a91c04b7e"},
		{"/kubepods/" ID, ORIGIN_CONTAINER, "k8s 3f2a91c04b7e"},
		/* ... runc's systemd notation where it was taken for a name */
		{"/system.slice/containerd.service/"
		 "kubepods-burstable-pod1b.slice:cri-containerd:" ID,
		 ORIGIN_CONTAINER, "k8s 3f2a91c04b7e"},
		/* lxc, incus, libvirt, nspawn */
		{"/lxc.payload.web/system.slice/nginx.service", ORIGIN_CONTAINER, "lxc web"},
		{"/lxc.monitor.web", ORIGIN_CONTAINER, "lxc web"},
		{"/lxc/web", ORIGIN_CONTAINER, "lxc web"},
		{"/lxc.payload/a-long-name-of-one", ORIGIN_CONTAINER, "lxc a-long-name-of-one"},
		{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt", ORIGIN_CONTAINER,
		 "machine qemu\\x2d1\\x2dvm"},
		{"/machine.slice/systemd-nspawn@deb.service/payload/init.scope", ORIGIN_CONTAINER,
		 "nspawn deb"},

		/* from inside a cgroup namespace: what is outside */
		{"/../../system.slice/ssh.service", ORIGIN_SERVICE, "ssh.service"},
		{"/../init.scope", ORIGIN_INIT, "init.scope"},

		/* nothing that says it */
		{"", ORIGIN_UNKNOWN, ""},
		{"/", ORIGIN_UNKNOWN, ""},
		{"/user.slice/user-1000.slice", ORIGIN_UNKNOWN, ""},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice", ORIGIN_UNKNOWN, ""},
		{"/system.slice/run-r0123456789abcdef.scope", ORIGIN_UNKNOWN, ""},
		{"/machine.slice/machine-libpod_pod_" ID ".slice", ORIGIN_UNKNOWN, ""},
		{"/docker/buildx", ORIGIN_UNKNOWN, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct origin o = origin_of_cgroup(cases[i].path, strlen(cases[i].path));

		if (o.kind != cases[i].kind || strcmp(o.name, cases[i].name) != 0)
			fail_msg("%s: %s \"%s\"", cases[i].path, origin_kind_name(o.kind), o.name);
		assert_true(o.unit_len <= strlen(cases[i].path));
		assert_int_equal(o.unit_len > 0, o.kind != ORIGIN_UNKNOWN);
	}
}

static void names_of_a_users_choice_are_no_others_origin(void **state)
{
#define MINE "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	static const struct {
		const char *path;
		enum origin_kind kind;
		const char *name;
	} cases[] = {
		/* what is below a unit was named by who runs in it */
		{MINE "vte-spawn-1.scope/app-firefox-1.scope", ORIGIN_USER_UNIT,
		 "vte-spawn-1.scope"},
		{MINE "vte-spawn-1.scope/ssh.service", ORIGIN_USER_UNIT, "vte-spawn-1.scope"},
		{MINE "run-1.scope/init.scope", ORIGIN_USER_UNIT, "run-1.scope"},
		{"/system.slice/runner.service/cron.service", ORIGIN_SERVICE, "runner.service"},
		{"/system.slice/runner.service/init.scope", ORIGIN_SERVICE, "runner.service"},
		/* a user manager's units are a user's, whatever their names */
		{MINE "session-12.scope", ORIGIN_USER_UNIT, "session-12.scope"},
		{MINE "cron.service", ORIGIN_USER_UNIT, "cron.service"},
		{MINE "user@0.service/x", ORIGIN_UNKNOWN, ""},
		/* names that only look like it */
		{"/system.slice/cron.service.scope", ORIGIN_UNKNOWN, ""},
		{"/system.slice/cron.services", ORIGIN_UNKNOWN, ""},
		{"/init.scope.evil", ORIGIN_UNKNOWN, ""},
		{"/x/init.scope", ORIGIN_UNKNOWN, ""},
		{"/docker-abc.scope", ORIGIN_UNKNOWN, ""},
		{"/docker-" ID ".service", ORIGIN_SERVICE, "docker-" ID ".service"},
		{"/docker/" ID "0", ORIGIN_UNKNOWN, ""},
		{"/session-12", ORIGIN_UNKNOWN, ""},
		/* any byte */
		{"/system.slice/\x1b[2J\xff.service", ORIGIN_SERVICE, "\x1b[2J\xff.service"},
		{"//system.slice///ssh.service//", ORIGIN_SERVICE, "ssh.service"},
		{"no/slash/ssh.service", ORIGIN_SERVICE, "ssh.service"},
		{"/../../..", ORIGIN_UNKNOWN, ""},
		{"////", ORIGIN_UNKNOWN, ""},
		{"/.service", ORIGIN_SERVICE, ".service"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct origin o = origin_of_cgroup(cases[i].path, strlen(cases[i].path));

		if (o.kind != cases[i].kind || strcmp(o.name, cases[i].name) != 0)
			fail_msg("%s: %s \"%s\"", cases[i].path, origin_kind_name(o.kind), o.name);
	}
}

static void a_path_of_any_length_is_read_to_its_end(void **state)
{
	static char path[70000];
	struct origin o;
	size_t n = 0;

	(void)state;
	while (n < sizeof(path) - 100)
		n += (size_t)sprintf(path + n, "/a%zu.slice", n);
	n += (size_t)sprintf(path + n, "/ssh.service");
	o = origin_of_cgroup(path, n);
	assert_int_equal(o.kind, ORIGIN_SERVICE);
	assert_string_equal(o.name, "ssh.service");
	assert_int_equal(o.unit_len, n);

	memset(path, 'a', 1000); /* one step longer than a name may be */
	path[0] = '/';
	memcpy(path + 1000, ".service", 8);
	o = origin_of_cgroup(path, 1008);
	assert_int_equal(o.kind, ORIGIN_SERVICE);
	assert_int_equal(strlen(o.name), sizeof(o.name) - 1);
}

static void each_process_gets_the_origin_of_its_tree(void **state)
{
	static const struct {
		const char *host, *origins;
	} cases[] = {
		{"1 0 1 1 S 0 systemd cgroup=/init.scope\n"
		 "2 0 0 0 S 0 kthreadd kthread\n"
		 "40 1 40 40 S 10 sshd cgroup=/system.slice/ssh.service\n"
		 "41 1 41 41 S 10 sh cgroup=/user.slice/user-0.slice/session-1.scope audit=1\n",
		 "1 init init.scope, 2 kernel kernel, 40 unit ssh.service, 41 login "
		 "session-1.scope"},
		/* its name proves nothing */
		{"40 1 40 40 S 10 [kworker/0:1]\n", ""},
		/* no systemd: PID 1, and the audit session, if there is one */
		{"1 0 1 1 S 0 init\n"
		 "40 1 40 40 S 10 sshd\n"
		 "41 1 41 41 S 10 sh audit=7\n"
		 "42 1 42 42 S 10 sh noread\n",
		 "1 init init, 41 login audit session 7"},
		/* cron's job: of cron.service, or (with pam_systemd) of a login of cron's */
		{"login 5 service=crond leader=50\n"
		 "40 1 40 40 S 10 cron cgroup=/system.slice/cron.service\n"
		 "50 40 50 50 S 20 cron cgroup=/user.slice/user-0.slice/session-5.scope\n"
		 "60 1 60 60 S 20 sh cgroup=/user.slice/user-0.slice/session-6.scope\n",
		 "40 cron cron.service, 50 cron session-5.scope, 60 login session-6.scope"},
		/* Where PID 1 is in a container so are we: nothing in it has an origin from it. */
		{"1 0 1 1 S 0 sh cgroup=/docker/" ID "\n"
		 "7 1 7 7 S 10 sleep cgroup=/docker/" ID "\n"
		 "8 1 8 8 S 10 sleep cgroup=/docker/" ID "/docker/" ID "\n",
		 "1 init init, 8 container docker 3f2a91c04b7e"},
		{"1 0 1 1 S 0 systemd cgroup=/system.slice/docker-" ID ".scope/init.scope\n"
		 "7 1 7 7 S 10 cron cgroup=/system.slice/docker-" ID
		 ".scope/system.slice/cron.service\n",
		 "1 init init.scope, 7 cron cron.service"},
		/* ... which is not so for a container beside it whose id begins alike */
		{"1 0 1 1 S 0 sh cgroup=/lxc/web\n"
		 "7 1 7 7 S 10 sleep cgroup=/lxc/web2\n",
		 "1 init init, 7 container lxc web2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);
		char origins[HOSTS_TEXT];

		assert_int_equal(origin_judge(t), 0);
		hosts_origins(t, origins);
		assert_string_equal(origins, cases[i].origins);
		table_free(t);
	}
}

/* A snapshot has the names of origins, not where in the path they are. */
static void what_a_snapshot_calls_an_origin_is_found_in_its_path(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 5 x cgroup=/system.slice/a.service/sub\n"
				      "10 1 10 10 S 5 x cgroup=/lxc/web/sub\n"
				      "11 1 11 11 S 5 x cgroup=/system.slice/cron.service\n");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const enum origin_kind kinds[] = {ORIGIN_SERVICE, ORIGIN_CONTAINER,
							 ORIGIN_LOGIN};

		t->procs.v[i].origin = (uint8_t)kinds[i];
		assert_true(bytes_set(&t->procs.v[i].origin_name, "as it was", 9));
	}
	assert_int_equal(origin_judge(t), 0);
	assert_int_equal(hosts_process(t, 9)->unit_len, strlen("/system.slice/a.service"));
	assert_int_equal(hosts_process(t, 10)->unit_len, strlen("/lxc/web"));
	assert_int_equal(hosts_process(t, 11)->unit_len, 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(t->procs.v[i].origin_name.data, "as it was");
	table_free(t);
}

static void a_login_is_open_closed_or_not_known(void **state)
{
#define SCOPE "cgroup=/user.slice/user-1000.slice/session-12.scope "
#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
	static const struct {
		const char *what, *host;
		enum login_state state;
	} cases[] = {
		{"scope, login active", "login 12\n9 1 9 9 S 5 sh " SCOPE, LOGIN_OPEN},
		{"scope, login online", "login 12 state=online\n9 1 9 9 S 5 sh " SCOPE, LOGIN_OPEN},
		{"scope, login closing", "login 12 state=closing\n9 1 9 9 S 5 sh " SCOPE,
		 LOGIN_CLOSED},
		{"scope, login absent", "login 13\n9 1 9 9 S 5 sh " SCOPE, LOGIN_CLOSED},
		{"no logind", "host no-logins\n9 1 9 9 S 5 sh " SCOPE, LOGIN_STATE_UNKNOWN},
		{"no logind, audit session", "host no-logins\n9 1 9 9 S 5 sh audit=12",
		 LOGIN_STATE_UNKNOWN},
		{"audit session of a login", "login c1 audit=12\n9 1 9 9 S 5 sh audit=12",
		 LOGIN_OPEN},
		{"audit session is its name", "login 12\n9 1 9 9 S 5 sh audit=12", LOGIN_OPEN},
		{"another's name is that number", "login 12 audit=40\n9 1 9 9 S 5 sh audit=12",
		 LOGIN_CLOSED},
		{"audit session of none", "login 13\n9 1 9 9 S 5 sh audit=12", LOGIN_CLOSED},
		{"from no login", "login 12\n9 1 9 9 S 5 sh cgroup=/system.slice/a.service",
		 LOGIN_NONE},
		{"not read", "login 12\n9 1 9 9 S 5 sh noread", LOGIN_NONE},
		/* A user manager has an audit session that logind does not know. */
		{"the user manager",
		 "login 12\n9 1 9 9 S 5 systemd audit=3 cgroup=" MANAGER "/init.scope", LOGIN_NONE},
		{"what the user manager started",
		 "8 1 8 8 S 4 systemd audit=3 cgroup=" MANAGER "/init.scope\n"
		 "9 8 9 9 S 5 app audit=3 cgroup=" MANAGER "/app.slice/app-x.service",
		 LOGIN_NONE},
		{"what moved below the user manager from a login that closed",
		 "8 1 8 8 S 4 systemd audit=3 cgroup=" MANAGER "/init.scope\n"
		 "9 8 9 9 S 5 app audit=12 cgroup=" MANAGER "/app.slice/app-x.service",
		 LOGIN_CLOSED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);
		enum login_state got;

		assert_int_equal(origin_judge(t), 0);
		got = origin_login_state(t, hosts_process(t, 9));
		if (got != cases[i].state)
			fail_msg("%s: %d", cases[i].what, (int)got);
		table_free(t);
	}
}

static void a_user_manager_is_a_child_of_init_in_its_own_scope(void **state)
{
	struct table *t = hosts_table("1 0 1 1 S 0 systemd cgroup=/init.scope\n"
				      "in cgroup=" MANAGER "/init.scope\n"
				      "70 1 70 70 S 5 systemd\n"
				      "71 70 70 70 S 5 (sd-pam)\n"
				      "80 79 80 80 S 9 sh # moved in there by its user\n");

	(void)state;
	assert_int_equal(origin_judge(t), 0);
	assert_false(origin_is_user_manager(hosts_process(t, 1)));
	assert_true(origin_is_user_manager(hosts_process(t, 70)));
	assert_false(origin_is_user_manager(hosts_process(t, 71)));
	assert_false(origin_is_user_manager(hosts_process(t, 80)));
	table_free(t);
}

static void what_has_no_origin_is_named_by_its_scope(void **state)
{
	static const struct {
		const char *path, *scope;
		enum origin_kind kind;
	} cases[] = {
		{"/system.slice/run-r3f2a.scope", "run-r3f2a.scope", ORIGIN_UNKNOWN},
		{"/a.scope/b.scope/below", "b.scope", ORIGIN_UNKNOWN},
		{"/system.slice/run-r3f2a.scope", NULL, ORIGIN_SERVICE},
		{"/", NULL, ORIGIN_UNKNOWN},
		{"", NULL, ORIGIN_UNKNOWN},
		{NULL, NULL, ORIGIN_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct detail d = {0};
		struct process p = {.detail = &d, .origin = (uint8_t)cases[i].kind};
		struct bytes scope = {0};
		char path[64];

		if (cases[i].path) {
			snprintf(path, sizeof(path), "%s", cases[i].path);
			d.cgroup = (struct bytes){path, strlen(path)};
		}
		assert_int_equal(origin_scope(&p, &scope), cases[i].scope != NULL);
		if (cases[i].scope) {
			assert_int_equal(scope.len, strlen(cases[i].scope));
			assert_memory_equal(scope.data, cases[i].scope, scope.len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroup_paths_name_what_started_it),
		cmocka_unit_test(names_of_a_users_choice_are_no_others_origin),
		cmocka_unit_test(a_path_of_any_length_is_read_to_its_end),
		cmocka_unit_test(what_has_no_origin_is_named_by_its_scope),
		cmocka_unit_test(each_process_gets_the_origin_of_its_tree),
		cmocka_unit_test(what_a_snapshot_calls_an_origin_is_found_in_its_path),
		cmocka_unit_test(a_login_is_open_closed_or_not_known),
		cmocka_unit_test(a_user_manager_is_a_child_of_init_in_its_own_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
