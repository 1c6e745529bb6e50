#include "cmd/cmd.h"

#include "cmd/subject.h"
#include "cmd/why_json.h"
#include "engine/contacts.h"
#include "engine/explain.h"
#include "engine/look.h"

#include <errno.h>
#include <string.h>

#define LABEL_CELLS 11

/* Everything that is known of it, also what no list needs. */
static int complete(struct look *look, struct process *p, struct err *err)
{
	struct detail *d;
	int r = reader_detail(look->reader, p->id, DETAIL_ALL, &d, err);

	if (r < 0)
		return r;
	detail_unref(p->detail);
	p->detail = d;
	return 0;
}

/* What a line is about, where that needs eyes. */
static enum role role_of(const char *label)
{
	static const struct {
		const char *label;
		enum role role;
	} roles[] = {
		{"suspect", ROLE_SUSPECT},
		{"reaches", ROLE_AUTHORITY},
		{"not known", ROLE_DIM},
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(label, roles[i].label) == 0)
			return roles[i].role;
	return ROLE_NORMAL;
}

static int print_one(const struct cmd_common *common, struct look *look, const struct process *p,
		     struct err *err)
{
	struct explanation e;
	struct line o;
	int r = explain_process(&look->tracker, p, !cmd_is_utf8(), &e, err);
	enum role role = ROLE_NORMAL;

	cmd_line_init(common, &o);
	for (size_t i = 0; i < e.n; i++) {
		if (*e.v[i].label)
			role = role_of(e.v[i].label);
		line_put(&o, ROLE_HEAD, "%-*s", LABEL_CELLS, e.v[i].label);
		line_put(&o, role, "%s", e.v[i].text);
		line_end_folded(&o, LABEL_CELLS);
	}
	explanation_clear(&e);
	return cmd_line_finish(&o, r ? NULL : err) < 0 && !r ? -ENOMEM : r;
}

/* A TARGET's own processes, a recorded run's members, or without any the suspects. */
static bool is_meant(const struct look *look, const struct selector *target,
		     const struct process *p)
{
	if (look->tracker.run && look->tracker.run->recorded)
		return p->evidence && !process_is_dead(p);
	return target->kind == SELECT_NONE ? p->suspect : selector_matches(target, p);
}

/* j: NULL for text. */
static int explain(const struct cmd_common *common, struct look *look,
		   const struct selector *target, struct jw *j, struct err *err)
{
	struct table *t = look->tracker.now;
	struct err missing = {.code = ESRCH, .text = "nothing alive matches: see stray list"};
	struct process *self = table_find(t, t->host.self);
	size_t n = 0;
	int r = 0;

	if (self)
		complete(look, self, NULL); /* to compare namespaces with */
	for (size_t i = 0; !r && i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (!is_meant(look, target, p))
			continue;
		if (complete(look, p, NULL) < 0) /* it ended meanwhile: as it was */
			p->detail = p->detail ? p->detail : detail_new();
		r = contacts_read(&look->tracker, p, err);
		if (n++ && !j)
			putchar('\n');
		if (!r)
			r = j ? why_json_item(j, &look->tracker, p, err)
			      : print_one(common, look, p, err);
	}
	if (!r && !n && target->kind == SELECT_NONE && !j)
		printf("no suspects: name a TARGET to have it explained\n");
	else if (!r && !n && target->kind != SELECT_NONE)
		r = cmd_no_target(t, target, &missing, err);
	return r;
}

static int explain_json(struct look *look, const struct selector *target, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int r;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.why/1");
	jw_array(j, "items");
	r = explain(NULL, look, target, j, err);
	if (r < 0) {
		jw_discard(j);
		return r;
	}
	jw_array_end(j);
	jw_object_end(j);
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}

/* The run made of what TARGET names; none where nothing of that is alive: a zombie is explained,
 * too, and is no run. */
static int make_run(const struct selector *target, struct look *look, struct subject *out,
		    struct err *err)
{
	struct err missing = {0};
	int r = run_choose(&out->run, target, look->tracker.now, &missing);

	if (r == -ESRCH)
		return 0;
	if (r < 0)
		return err_set(err, -r, "%s", missing.text);
	out->in_view = &out->run;
	return look_set_run(look, out->in_view, err);
}

/* A recorded run, named or, without a TARGET, the one that needs eyes; else one made of TARGET. */
static int find_run(const struct cmd_common *common, const struct selector *target,
		    struct look *look, struct subject *out, struct err *err)
{
	bool replayed = common->source && strncmp(common->source, "replay:", 7) == 0;
	char id[RUN_ID_MAX + 1];
	struct selector found = {.kind = SELECT_RUN, .name = id};

	if (target->kind == SELECT_RUN)
		return subject_find(out, common, target, look, err);
	if (target->kind != SELECT_NONE)
		return make_run(target, look, out, err);
	if (replayed || !subject_default(common, look, id))
		return 0;
	return subject_find(out, common, &found, look, err);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct cmd_common common;
	struct selector target = {0};
	struct source_options o;
	struct look look = {0};
	struct subject subject = {0};
	struct err err = {0};
	int rest, r = 0;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &common, NULL, NULL, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("why: one TARGET at most: see stray why --help");
	if (argc > rest)
		r = selector_parse(argv[rest], &target, &err);
	if (!r)
		r = cmd_source_options(&common, &target, &o, &err);
	if (!r)
		r = look_open(&look, &o, &err);
	if (!r)
		r = look_again(&look, &err);
	if (!r)
		r = find_run(&common, &target, &look, &subject, &err);
	if (!r)
		r = common.json ? explain_json(&look, &target, &err)
				: explain(&common, &look, &target, NULL, &err);
	look_close(&look);
	subject_clear(&subject);
	selector_free(&target);
	return r < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_why = {
	.name = "why",
	.args = "[TARGET]",
	.summary = "what a process is: origin, lineage, evidence, what it holds and can reach",
	.example = "stray why 4131",
	.run = run,
};
