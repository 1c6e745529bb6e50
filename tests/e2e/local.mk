dist_check_SCRIPTS += %D%/trees.sh
TESTS += %D%/trees.sh
