dist_man_MANS = %D%/stray.1 %D%/stray-adopt.1 %D%/stray-check.1 %D%/stray-diff.1 %D%/stray-doctor.1 \
	%D%/stray-end.1 %D%/stray-export.1 %D%/stray-formats.5 %D%/stray-freeze.1 %D%/stray-list.1 \
	%D%/stray-note.1 %D%/stray-run.1 %D%/stray-runs.1 %D%/stray-snap.1 %D%/stray-verify.1 %D%/stray-watch.1 \
	%D%/stray-why.1
EXTRA_DIST += %D%/ARCHITECTURE.md %D%/FORMATS.md %D%/WORDS.md %D%/executors.md \
	%D%/launchers.md %D%/reconstruct.md %D%/incident.sh %D%/picture.sh %D%/view.png

# A journal verified without stray.
dist_doc_DATA = %D%/verify.sh

# A captured screen becomes a picture.
EXTRA_DIST += %D%/render.py

# What each format holds; tests/e2e/schemas.py holds the program to it.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = %D%/schemas/stray.act-1.json %D%/schemas/stray.adopt-1.json \
	%D%/schemas/stray.check-1.json %D%/schemas/stray.diff-1.json \
	%D%/schemas/stray.doctor-1.json %D%/schemas/stray.drill-1.json \
	%D%/schemas/stray.end-1.json %D%/schemas/stray.export-1.json \
	%D%/schemas/stray.journal-1.json \
	%D%/schemas/stray.ledger-1.json %D%/schemas/stray.list-1.json \
	%D%/schemas/stray.record-1.json %D%/schemas/stray.run-1.json \
	%D%/schemas/stray.runs-1.json \
	%D%/schemas/stray.snapshot-1.json %D%/schemas/stray.verify-1.json \
	%D%/schemas/stray.why-1.json
