# Whole hosts, described: see README.md.
check_PROGRAMS += inroot
inroot_SOURCES = tests/helpers/inroot.c

dist_check_SCRIPTS += %D%/enter.sh %D%/selfcheck.sh
TESTS += %D%/selfcheck.sh
EXTRA_DIST += \
	%D%/README.md \
	%D%/hostfile.py %D%/mktree.py %D%/pids_of.py %D%/procfiles.py \
	%D%/selfcheck.py \
	%D%/container.host %D%/container+orphan.leftover \
	%D%/container+orphan.expect \
	%D%/container-sh.host \
	%D%/desktop.host \
	%D%/desktop+agent.leftover %D%/desktop+agent.expect \
	%D%/desktop+editor.leftover %D%/desktop+editor.expect \
	%D%/desktop+worker.leftover %D%/desktop+worker.expect \
	%D%/hidepid.host %D%/hidepid+closed.leftover %D%/hidepid+closed.expect \
	%D%/noinit.host %D%/noinit+orphan.leftover %D%/noinit+orphan.expect \
	%D%/restarted.host \
	%D%/restarted+service.leftover %D%/restarted+service.expect \
	%D%/server.host \
	%D%/server+cron.leftover %D%/server+cron.expect \
	%D%/server+deploy.leftover %D%/server+deploy.expect \
	%D%/server+openlogin.leftover %D%/server+openlogin.expect \
	%D%/server+pane.leftover %D%/server+pane.expect \
	%D%/server+upload.leftover %D%/server+upload.expect \
	%D%/virt.host
