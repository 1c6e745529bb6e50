noinst_LIBRARIES += libengine.a
libengine_a_CPPFLAGS = $(AM_CPPFLAGS)
libengine_a_SOURCES = \
	%D%/act.c %D%/act.h \
	%D%/act_contacts.c %D%/act_freeze.c %D%/act_outcome.c %D%/act_state.h \
	%D%/act_journal.c %D%/act_journal.h \
	%D%/act_record.c %D%/act_record.h \
	%D%/baseline.c %D%/baseline.h \
	%D%/chronicle.c %D%/chronicle.h \
	%D%/chronicle_heard.c \
	%D%/chronicle_parts.h \
	%D%/contacts.c %D%/contacts.h \
	%D%/doctor.c %D%/doctor.h \
	%D%/drill.c %D%/drill.h \
	%D%/errand.c %D%/errand.h \
	%D%/reader.c %D%/reader.h \
	%D%/explain.c %D%/explain.h %D%/explain_holds.c %D%/explain_parts.h \
	%D%/heads.c %D%/heads.h \
	%D%/launch.c %D%/launch.h \
	%D%/launch_lost.c %D%/launch_lost.h \
	%D%/launch_talk.c %D%/launch_talk.h \
	%D%/launched.c %D%/launched.h \
	%D%/listener.c %D%/listener.h \
	%D%/look.c %D%/look.h \
	%D%/plan.c %D%/plan.h \
	%D%/recorded.c %D%/recorded.h %D%/recorded_adopt.c %D%/recorded_members.c %D%/recorded_parts.h \
	%D%/runlog.c %D%/runlog.h \
	%D%/runs.c %D%/runs.h \
	%D%/scanner.c %D%/scanner.h \
	%D%/sent_json.c %D%/sent_json.h \
	%D%/strangers.c %D%/strangers.h \
	%D%/survivor.c %D%/survivor.h \
	%D%/vigil.c %D%/vigil.h \
	%D%/warden.c %D%/warden.h \
	%D%/warden_door.c %D%/warden_door.h \
	%D%/warden_end.c %D%/warden_guests.c %D%/warden_helper.c %D%/warden_hold.c \
	%D%/warden_look.c %D%/warden_marked.c %D%/warden_parts.h %D%/warden_reap.c %D%/warden_result.c \
	%D%/warden_streams.c %D%/warden_tell.c \
	%D%/worker.c %D%/worker.h
