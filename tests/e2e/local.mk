dist_check_SCRIPTS += %D%/trees.sh
