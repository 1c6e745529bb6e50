dist_man_MANS = %D%/stray.1 %D%/stray-diff.1 %D%/stray-end.1 %D%/stray-formats.5 \
	%D%/stray-freeze.1 %D%/stray-list.1 %D%/stray-snap.1 %D%/stray-watch.1 %D%/stray-why.1
EXTRA_DIST += %D%/ARCHITECTURE.md %D%/FORMATS.md %D%/WORDS.md \
	%D%/incident.sh %D%/picture.sh %D%/view.png

# A captured screen becomes a picture.
EXTRA_DIST += %D%/render.py
