/*
 * What mask.c is made of: which names tell of a secret, which values are one
 * by their own shape, and which programs take one behind a short option.
 * Only the mask_*.c files include this.
 */
#ifndef STRAY_BASE_MASK_PARTS_H
#define STRAY_BASE_MASK_PARTS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_NAME_LOOK 64 /* bytes of a name that are looked at, from its end */

enum mask_name {
	MASK_NAME_PLAIN,
	MASK_NAME_SECRET,
	MASK_NAME_SECRET_OR_PATH, /* --private-key: often the name of a file */
	MASK_NAME_LOGIN,          /* --auth: user:password */
};

enum mask_name mask_name_class(const char *name, size_t len);

/* Names that are secrets between '?', '&' and ';' only: key, sig, pwd. */
bool mask_name_in_query(const char *name, size_t len);

/* Length of the secret that starts at s by its shape, or 0. */
size_t mask_shape(const char *s, size_t len);

/* Whether there can be anything to mask in s: cheap, and rarely true. */
bool mask_worth_a_look(const char *s, size_t len);

/* How the value of an option is made. */
enum mask_value {
	MASK_VALUE_NONE,
	MASK_VALUE_SECRET,
	MASK_VALUE_SECRET_OR_PATH,
	MASK_VALUE_HEADER, /* behind "Authorization:": scheme and secret */
	MASK_VALUE_QUOTED, /* a secret only where quoted: SQL's PASSWORD 'x' */
	MASK_VALUE_COLON,  /* user:secret */
	MASK_VALUE_COMMA,
	MASK_VALUE_PERCENT,
	MASK_VALUE_COOKIE, /* a secret if it is no file name, that is, has a '=' */
};

struct mask_span {
	size_t at, len;
};

/* Where to mask; the text itself is not touched until all is known. */
struct masker {
	const char *raw;
	VEC(struct mask_span) spans; /* ascending, without overlap */
	bool nomem;
};

/* Programs seen on one command line, by their place in the table of rules. */
struct mask_programs {
	uint64_t seen;   /* named */
	uint64_t active; /* and the subcommand that counts */
};

/* One command line while its words go by. */
struct mask_line {
	struct mask_programs programs;
	enum mask_value expect; /* what the next word is */
	bool started;           /* argv[0] has gone by */
	bool command_next;      /* behind -c */
	bool identified;        /* behind SQL's IDENTIFIED */
	int depth;              /* 0: real arguments; else words of a text */
};

/* Notes s if it is a program, or the subcommand of one.  first: argv[0]. */
void mask_program_note(struct mask_programs *p, const char *s, size_t len, bool first);

/*
 * What an option (with its dashes) of these programs means.  *at: where its
 * value starts in s; len where the value is the next argument.
 */
enum mask_value mask_program_option(struct mask_programs *p, const char *s, size_t len, size_t *at);

/* Whether bare words name settings whose value follows: aws configure set. */
bool mask_program_has_settings(const struct mask_programs *p);

/* Masks s, if it is not masked already. */
void mask_hide(struct masker *m, const char *s, size_t len);

/* Masks a value whose name, of that class, promises a secret, unless it is
 * plainly none: a switch, a reference, a path. */
void mask_hide_value(struct masker *m, const struct mask_line *l, enum mask_name class,
		     const char *s, size_t len);

/*
 * Whether "name:" with next behind it (0: nothing) starts a secret.  Without
 * a blank many other things look so: an image vault-token:v1.
 */
bool mask_is_header(const char *name, size_t len, char next);

/* Masks the value of a header but its scheme; what is missing is expected. */
void mask_hide_header(struct masker *m, struct mask_line *l, const char *s, size_t len);

/* Masks what the word before promised. */
void mask_expected(struct masker *m, struct mask_line *l, enum mask_value value, const char *s,
		   size_t len);

/* Masks what may stand anywhere in a word without blanks. */
void mask_flat(struct masker *m, struct mask_line *l, const char *s, size_t len);

/* How many bytes from s on could be of a name: variable, option or header. */
size_t mask_name_run(const char *s, size_t len);

/* The place of the quote that closes the one at s[at], or len. */
size_t mask_closing(const char *s, size_t len, size_t at);

static inline bool mask_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool mask_is_quote(char c)
{
	return c == '"' || c == '\'';
}

static inline bool mask_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

#endif
