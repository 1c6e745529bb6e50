#include "tui/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct {
	uint32_t key;
	const char *name;
} names[] = {
	{INPUT_UP, "Up"},
	{INPUT_DOWN, "Down"},
	{INPUT_LEFT, "Left"},
	{INPUT_RIGHT, "Right"},
	{INPUT_PGUP, "PgUp"},
	{INPUT_PGDN, "PgDn"},
	{INPUT_HOME, "Home"},
	{INPUT_END_KEY, "End"},
	{INPUT_ENTER, "Enter"},
	{INPUT_ESC, "Esc"},
	{INPUT_TAB, "Tab"},
	{INPUT_BACKTAB, "BackTab"},
	{INPUT_BACKSPACE, "Backspace"},
	{INPUT_DEL, "Del"},
	{INPUT_INS, "Ins"},
	{' ', "Space"},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

struct input input_key(uint32_t key)
{
	return (struct input){.kind = INPUT_KEY, .key = key};
}

bool input_types(const struct input *in)
{
	return in->kind == INPUT_KEY && in->key >= ' ' && in->key < INPUT_UP &&
	       text_width_cp(in->key) >= 0;
}

const char *input_key_name(uint32_t key, char out[static INPUT_NAME_MAX])
{
	for (size_t i = 0; i < N_NAMES; i++) {
		if (names[i].key == key) {
			snprintf(out, INPUT_NAME_MAX, "%s", names[i].name);
			return out;
		}
	}
	if (key > INPUT_F0 && key < INPUT_KEY_END)
		snprintf(out, INPUT_NAME_MAX, "F%u", (unsigned)(key - INPUT_F0));
	else if (key < ' ')
		snprintf(out, INPUT_NAME_MAX, "^%c", (char)(key | 0x40));
	else if (key < INPUT_UP && text_width_cp(key) >= 0)
		out[text_encode(key, out)] = '\0';
	else
		snprintf(out, INPUT_NAME_MAX, "?%x", (unsigned)key);
	return out;
}

void input_format(const struct input *in, char *out, size_t size)
{
	char name[INPUT_NAME_MAX];

	switch (in->kind) {
	case INPUT_KEY:
		snprintf(out, size, "%s", input_key_name(in->key, name));
		break;
	case INPUT_CLICK:
		snprintf(out, size, "Click:%d,%d", in->y, in->x);
		break;
	case INPUT_WHEEL:
		snprintf(out, size, "Wheel%s:%d,%d", in->key == INPUT_UP ? "Up" : "Down", in->y,
			 in->x);
		break;
	case INPUT_PASTE:
		snprintf(out, size, "Paste<%s>", in->text);
		break;
	case INPUT_RESIZE:
		snprintf(out, size, "Resize:%dx%d", in->y, in->x);
		break;
	case INPUT_TICK:
		snprintf(out, size, "Tick");
		break;
	case INPUT_END:
		snprintf(out, size, "End:%d", in->y);
		break;
	}
}

/* One character of "<...>"; false at its end. */
static bool next_typed(struct input_script *s, uint32_t *cp)
{
	int len;

	if (*s->at == '>') {
		s->at++;
		s->in_text = false;
		return false;
	}
	if (s->at[0] == '\\' && s->at[1] == '>')
		s->at++;
	len = text_decode(s->at, strlen(s->at), cp);
	if (len == 0) {
		s->in_text = false;
		return false;
	}
	s->at += len;
	return true;
}

static bool key_by_name(const char *word, size_t len, uint32_t *key)
{
	uint32_t cp;
	char *end;
	unsigned long n;

	for (size_t i = 0; i < N_NAMES; i++) {
		if (strlen(names[i].name) == len && memcmp(names[i].name, word, len) == 0) {
			*key = names[i].key;
			return true;
		}
	}
	if (len == 2 && word[0] == '^' && word[1] >= '@' && word[1] <= '_') {
		*key = INPUT_CTRL(word[1]);
		return true;
	}
	if (len > 1 && word[0] == 'F') {
		n = strtoul(word + 1, &end, 10);
		if (end == word + len && n >= 1 && n <= 12) {
			*key = INPUT_F(n);
			return true;
		}
	}
	if ((size_t)text_decode(word, len, &cp) != len)
		return false;
	*key = cp;
	return true;
}

/* The words that are no keys. */
static bool other_by_name(const char *word, struct input *in)
{
	int used = 0;

	*in = (struct input){.kind = INPUT_TICK};
	if (strcmp(word, "Tick") == 0)
		return true;
	if (sscanf(word, "Click:%d,%d%n", &in->y, &in->x, &used) == 2)
		in->kind = INPUT_CLICK;
	else if (sscanf(word, "WheelUp:%d,%d%n", &in->y, &in->x, &used) == 2)
		*in = (struct input){INPUT_WHEEL, .key = INPUT_UP, .y = in->y, .x = in->x};
	else if (sscanf(word, "WheelDown:%d,%d%n", &in->y, &in->x, &used) == 2)
		*in = (struct input){INPUT_WHEEL, .key = INPUT_DOWN, .y = in->y, .x = in->x};
	else if (sscanf(word, "Resize:%dx%d%n", &in->y, &in->x, &used) == 2)
		in->kind = INPUT_RESIZE;
	else if (sscanf(word, "End:%d%n", &in->y, &used) == 1)
		in->kind = INPUT_END;
	return used > 0 && word[used] == '\0';
}

static void read_paste(struct input_script *s, struct input *in)
{
	size_t used = 0;
	uint32_t cp;

	*in = (struct input){.kind = INPUT_PASTE};
	while (next_typed(s, &cp)) {
		if (used + 4 <= INPUT_TEXT_MAX)
			used += (size_t)text_encode(cp, in->text + used);
	}
	in->text[used] = '\0';
}

int input_script_next(struct input_script *s, struct input *in, struct err *err)
{
	char word[64];
	size_t len;
	uint32_t key;

	for (;;) {
		if (s->in_text && next_typed(s, &key)) {
			*in = input_key(key);
			return 1;
		}
		s->at += strspn(s->at, " \t\n");
		len = strcspn(s->at, " \t\n");
		if (len == 0)
			return 0;
		if (s->at[0] != '<' || len == 1)
			break;
		s->at++;
		s->in_text = true;
	}
	if (strncmp(s->at, "Paste<", 6) == 0) {
		s->at += 6;
		read_paste(s, in);
		return 1;
	}
	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1),
		 s->at);
	if (key_by_name(s->at, len, &key))
		*in = input_key(key);
	else if (!other_by_name(word, in))
		return err_set(err, EINVAL, "key script: \"%s\" means nothing", word);
	s->at += len;
	return 1;
}
