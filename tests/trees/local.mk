# Whole hosts, described: see README.md.
check_PROGRAMS += inroot
inroot_SOURCES = tests/helpers/inroot.c

dist_check_SCRIPTS += %D%/enter.sh %D%/selfcheck.sh
TESTS += %D%/selfcheck.sh
EXTRA_DIST += \
	%D%/README.md \
	%D%/hostfile.py %D%/mktree.py %D%/pids_of.py %D%/procfiles.py \
	%D%/selfcheck.py \
	%D%/container+orphan.expect %D%/container+orphan.leftover \
	%D%/container.host \
	%D%/container-sh.host \
	%D%/desktop+adopted.ordinary \
	%D%/desktop+agent.expect %D%/desktop+agent.leftover \
	%D%/desktop+crashpad.ordinary \
	%D%/desktop+download.ordinary \
	%D%/desktop+editor.expect %D%/desktop+editor.leftover \
	%D%/desktop+keyring.ordinary \
	%D%/desktop+konsole.expect %D%/desktop+konsole.leftover \
	%D%/desktop+mcp.expect %D%/desktop+mcp.leftover \
	%D%/desktop+quit.expect %D%/desktop+quit.leftover \
	%D%/desktop+relaunch.ordinary \
	%D%/desktop+tool.expect %D%/desktop+tool.leftover \
	%D%/desktop+viewer.ordinary \
	%D%/desktop+worker.expect %D%/desktop+worker.leftover \
	%D%/desktop.host \
	%D%/hidepid+closed.expect %D%/hidepid+closed.leftover \
	%D%/hidepid.host \
	%D%/noinit+deleted.expect %D%/noinit+deleted.leftover \
	%D%/noinit+orphan.expect %D%/noinit+orphan.leftover %D%/noinit.host \
	%D%/restarted+service.expect %D%/restarted+service.leftover \
	%D%/restarted.host \
	%D%/server+cron.expect %D%/server+cron.leftover \
	%D%/server+deploy.expect %D%/server+deploy.leftover \
	%D%/server+openlogin.expect %D%/server+openlogin.leftover \
	%D%/server+pane.expect %D%/server+pane.leftover \
	%D%/server+runner.expect %D%/server+runner.leftover \
	%D%/server+upload.expect %D%/server+upload.leftover %D%/server.host \
	%D%/virt+podman.ordinary %D%/virt.host
