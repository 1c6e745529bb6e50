# Hosts written down as text, for the tests of what is made of them.
check_LIBRARIES += libhosts.a
libhosts_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libhosts_a_SOURCES = %D%/hosts.c %D%/hosts.h
