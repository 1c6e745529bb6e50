noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libbase_a_SOURCES = \
	%D%/bytes.h \
	%D%/clock.c %D%/clock.h \
	%D%/err.c %D%/err.h \
	%D%/file.c %D%/file.h \
	%D%/json_get.c \
	%D%/json_read.c %D%/json_read.h %D%/json_texts.c \
	%D%/json_write.c %D%/json_write.h \
	%D%/mask.c %D%/mask.h \
	%D%/mask_name.c %D%/mask_parts.h \
	%D%/mask_program.c \
	%D%/mask_shape.c \
	%D%/mask_value.c \
	%D%/proc_stat.c %D%/proc_stat.h \
	%D%/text.c %D%/text.h \
	%D%/thread.c %D%/thread.h \
	%D%/vec.h \
	%D%/width_table.c %D%/width_table.h
EXTRA_DIST += %D%/width_table.py
