noinst_LIBRARIES += libtui.a
libtui_a_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
libtui_a_SOURCES = \
	%D%/accounted.c %D%/accounted.h \
	%D%/app.c %D%/app.h \
	%D%/app_act.c %D%/app_act.h \
	%D%/app_desk.c %D%/app_desk.h \
	%D%/app_load.c %D%/app_load.h \
	%D%/app_read.c %D%/app_read.h \
	%D%/app_record.c %D%/app_record.h %D%/app_record_jobs.c %D%/app_record_parts.h \
	%D%/browse.c %D%/browse.h \
	%D%/cell.c %D%/cell.h \
	%D%/decode.c %D%/decode.h \
	%D%/dialog.c %D%/dialog.h \
	%D%/dialog_draw.c \
	%D%/dialog_words.c %D%/dialog_words.h \
	%D%/draw.c %D%/draw.h \
	%D%/driver.c %D%/driver.h \
	%D%/events.c %D%/events.h \
	%D%/facts.c %D%/facts.h \
	%D%/frame.c %D%/frame.h \
	%D%/gone.c %D%/gone.h \
	%D%/input.c %D%/input.h \
	%D%/keymap.c %D%/keymap.h \
	%D%/line.c %D%/line.h \
	%D%/lineedit.c %D%/lineedit.h \
	%D%/menu.c %D%/menu.h \
	%D%/page.c %D%/page.h \
	%D%/query.c %D%/query.h \
	%D%/rescue.c %D%/rescue.h \
	%D%/rowfold.c %D%/rowfold.h \
	%D%/rows.c %D%/rows.h \
	%D%/runlist.c %D%/runlist.h \
	%D%/runwords.c %D%/runwords.h \
	%D%/sequences.c %D%/sequences.h \
	%D%/style.c %D%/style.h \
	%D%/tagset.c %D%/tagset.h \
	%D%/tty.c %D%/tty.h \
	%D%/view.c %D%/view.h \
	%D%/view_act.c \
	%D%/view_diff.c \
	%D%/view_draw.c \
	%D%/view_events.c \
	%D%/view_find.c \
	%D%/view_foot.c \
	%D%/view_help.c \
	%D%/view_keys.c \
	%D%/view_list.c \
	%D%/view_menu.c \
	%D%/view_pane.c \
	%D%/view_record.c \
	%D%/view_rows.c \
	%D%/view_runs.c \
	%D%/view_why.c
