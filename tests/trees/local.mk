# Whole hosts, described: see README.md.
check_PROGRAMS += inroot
inroot_SOURCES = tests/helpers/inroot.c

dist_check_SCRIPTS += %D%/enter.sh %D%/selfcheck.sh
TESTS += %D%/selfcheck.sh
EXTRA_DIST += \
	%D%/README.md \
	%D%/hostfile.py %D%/mktree.py %D%/procfiles.py %D%/selfcheck.py \
	%D%/server.host
