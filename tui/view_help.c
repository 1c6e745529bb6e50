/* The help. */
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/facts.h"

static void add_coverage(void *ctx, const char *safe)
{
	page_add(ctx, STYLE_NORMAL, "  %s", safe);
}

#define HELP_CELLS 47 /* a column of keys: two of them from 96 cells on */

struct help {
	struct line lines[128];
	enum style styles[128];
	int n;
};

static void help_line(struct help *h, enum style style, const char *keys, const char *what,
		      const char *later)
{
	struct line *l;

	if (h->n == (int)(sizeof(h->lines) / sizeof(h->lines[0])))
		return;
	h->styles[h->n] = style;
	l = &h->lines[h->n++];
	line_start(l, false);
	if (keys)
		line_add(l, "  %-14s ", keys);
	line_add(l, "%s%s%s", what, later ? "; " : "", later ? later : "");
}

static void collect_keys(struct help *h, bool readonly)
{
	for (int g = 0; g < KEYMAP_GROUPS; g++) {
		const struct keymap_entry *e;

		help_line(h, STYLE_HEADER, NULL, keymap_group_name((enum keymap_group)g),
			  g == KEYMAP_ACT && readonly ? "absent: read only" : NULL);
		for (size_t i = 0; (e = keymap_entry(i)); i++) {
			char names[40];

			if ((int)e->group != g)
				continue;
			keymap_keys(e, names, sizeof(names));
			help_line(h, e->later ? STYLE_DIM : STYLE_NORMAL, names, e->help, e->later);
		}
	}
}

/* Where the second column begins: with the group that is nearest the middle. */
static int middle(const struct help *h)
{
	int i = h->n / 2;

	while (i < h->n && h->styles[i] != STYLE_HEADER)
		i++;
	return i;
}

static void help_keys(struct page *page, bool readonly, int cols)
{
	static const struct line none;
	struct help *h = calloc(1, sizeof(*h));
	int half, rows;

	if (!h)
		return;
	collect_keys(h, readonly);
	half = cols >= 2 * HELP_CELLS + 2 ? middle(h) : h->n;
	rows = half > h->n - half ? half : h->n - half;
	for (int i = 0; i < rows; i++) {
		const struct line *left = i < half ? &h->lines[i] : &none;
		const struct line *right = half + i < h->n ? &h->lines[half + i] : &none;
		char cut[LINE_MAX_BYTES];

		snprintf(cut, sizeof(cut), "%s", left->text);
		if (right->len)
			text_cut(cut, sizeof(cut), HELP_CELLS - 1, false);
		page_add(page, i < half ? h->styles[i] : STYLE_NORMAL, "%s%*s%s", cut,
			 right->len ? HELP_CELLS - text_cells(cut) : 0, "", right->text);
		if (right->len && i < half)
			page_right(page, HELP_CELLS, h->styles[half + i]);
	}
	free(h);
}

static void help_flags(struct page *page)
{
	static const char *const lines[] = {
		"1  R r   reparented: observed, presumed",
		"2  S G C left: the session (setsid), the group (setpgid), the cgroup",
		"3  H     hands work off: ssh, docker, systemd-run, tmux, ...",
		"4  L     started late: after the run was over",
		"5  X     survived a signal of ours; Z D T t: dead, stuck, stopped, traced",
		"6  A a ? holds authority now; had credential names; is a possible member",
	};

	page_add(page, STYLE_HEADER, "Flags of a member, six slots");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		page_add(page, STYLE_NORMAL, "  %s", lines[i]);
}

void view_help_page(struct view *v)
{
	struct page *page = &v->page;

	page_start(page, "Help: keys, flags, coverage in force");
	if (v->k->now) {
		page_add(page, STYLE_HEADER, "Not known");
		facts_not_known(v->k->now, v->k->run, add_coverage, page);
		page_add(page, STYLE_NORMAL,
			 "  what lived and ended between two scans of /proc, and PGID and SID "
			 "changes in between");
		page_add(page, STYLE_NORMAL,
			 "  what a name that is absent from an environment would prove: nothing");
		page_gap(page);
	}
	help_keys(page, v->o.readonly, v->screen_cols);
	page_gap(page);
	help_flags(page);
}
