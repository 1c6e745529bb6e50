dist_man_MANS = %D%/stray.1
EXTRA_DIST += %D%/ARCHITECTURE.md %D%/FORMATS.md %D%/incident.sh %D%/picture.sh %D%/view.png

# A captured screen becomes a picture.
EXTRA_DIST += %D%/render.py
