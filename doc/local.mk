dist_man_MANS = %D%/stray.1
EXTRA_DIST += %D%/ARCHITECTURE.md %D%/FORMATS.md %D%/incident.sh
