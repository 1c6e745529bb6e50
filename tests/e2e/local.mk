dist_check_SCRIPTS += %D%/cases.py %D%/cases_user.sh %D%/cli.py %D%/completions.py %D%/pages.py \
	%D%/schemas.py %D%/trees.sh
TESTS += %D%/cases.py %D%/cases_user.sh %D%/cli.py %D%/completions.py %D%/pages.py \
	%D%/schemas.py %D%/trees.sh
EXTRA_DIST += %D%/e2e.py

# stray run.
E2E_RUN = %D%/cases_run.py %D%/cases_run_user.sh %D%/denied.py %D%/denied_user.sh \
	%D%/executors.py %D%/executors_user.sh %D%/launchers.py %D%/launchers_user.sh
dist_check_SCRIPTS += $(E2E_RUN)
TESTS += $(E2E_RUN)
EXTRA_DIST += %D%/marked.py %D%/ssh_server.py

dist_check_SCRIPTS += %D%/hangs.py %D%/heard.py %D%/members.py
TESTS += %D%/hangs.py %D%/heard.py %D%/members.py
EXTRA_DIST += %D%/unreadable.py

# What is recorded, and what of it can be relied on.
E2E_RECORDS = %D%/anchored.py %D%/faults.py %D%/killed.py %D%/records.py %D%/records_user.sh \
	%D%/secrets.py %D%/verify.py
dist_check_SCRIPTS += $(E2E_RECORDS)
TESTS += $(E2E_RECORDS)
EXTRA_DIST += %D%/as_user.sh %D%/recorded.py

# Real terminals, by tmux; pictures.
dist_check_SCRIPTS += %D%/render.sh %D%/run_tty.sh %D%/tui_acts.sh %D%/tui_driver.sh %D%/tui_members.sh \
	%D%/tui_runs.sh %D%/tui_screens.sh %D%/tui_slow.sh
TESTS += %D%/render.sh %D%/run_tty.sh %D%/tui_acts.sh %D%/tui_driver.sh %D%/tui_members.sh %D%/tui_runs.sh \
	%D%/tui_screens.sh %D%/tui_slow.sh
EXTRA_DIST += %D%/job.pl %D%/tui_lib.sh %D%/tui_watch.sh

dist_check_SCRIPTS += %D%/doctor.py %D%/doctor_user.sh %D%/soak.py %D%/soak_user.sh %D%/warden.py \
	%D%/warden_user.sh
TESTS += %D%/doctor.py %D%/doctor_user.sh %D%/soak.py %D%/soak_user.sh %D%/warden.py \
	%D%/warden_user.sh

dist_check_SCRIPTS += %D%/export.py %D%/export_run.py
TESTS += %D%/export.py %D%/export_run.py

# What is run as a run.
E2E_LAUNCHED = %D%/run.py %D%/run_disk.py %D%/run_ends.py %D%/run_ends_user.sh \
	%D%/run_streams.py %D%/run_streams_user.sh %D%/run_user.sh \
	%D%/synced.py
dist_check_SCRIPTS += $(E2E_LAUNCHED)
TESTS += $(E2E_LAUNCHED)
EXTRA_DIST += %D%/launched.py

dist_check_SCRIPTS += %D%/storm.py %D%/storm_user.sh
TESTS += %D%/storm.py %D%/storm_user.sh
EXTRA_DIST += %D%/storms.py
