dist_check_SCRIPTS += %D%/trees.sh
TESTS += %D%/trees.sh

# Real terminals, by tmux; pictures.
dist_check_SCRIPTS += %D%/tui_driver.sh
TESTS += %D%/tui_driver.sh
EXTRA_DIST += %D%/job.pl %D%/tui_lib.sh
