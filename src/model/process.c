#include "model/process.h"

#include <errno.h>
#include <unistd.h>

/* A view holds three tables: 6 MB of these on a host of 10,000 (make bench). */
_Static_assert(sizeof(struct process) <= 192, "struct process has grown, or has gaps");

static const char *const detail_names[DETAIL_COUNT] = {
	"comm",   "cmdline", "cgroup", "exe", "cwd", "environ",
	"status", "login",   "wchan",  "ns",  "fd",
};

static const char *const ns_names[NS_COUNT] = {
	"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts",
};

const char *detail_name(unsigned bit)
{
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (bit == 1u << i)
			return detail_names[i];
	return "?";
}

const char *ns_name(int ns)
{
	return ns >= 0 && ns < NS_COUNT ? ns_names[ns] : "?";
}

void process_take_stat(struct process *p, const struct proc_stat *st)
{
	p->state = st->state;
	p->ppid = st->ppid;
	p->pgid = st->pgid;
	p->sid = st->sid;
	p->tty_nr = st->tty_nr;
	p->tpgid = st->tpgid;
	p->pf = st->flags;
	p->cpu_ticks = st->cpu_ticks;
	p->threads = (uint32_t)st->threads;
	p->id.start = st->start;
	p->rss_kb = st->rss_pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	p->start_stack = st->start_stack;
}

void process_clear(struct process *p)
{
	detail_unref(p->detail);
	p->detail = NULL;
	bytes_free(&p->origin_name);
	bytes_free(&p->remote);
}

bool process_copy(struct process *to, const struct process *from)
{
	*to = *from;
	to->detail = NULL;
	to->origin_name = (struct bytes){0};
	to->remote = (struct bytes){0};
	if (from->origin_name.data &&
	    !bytes_set(&to->origin_name, from->origin_name.data, from->origin_name.len))
		return false;
	if (from->remote.data && !bytes_set(&to->remote, from->remote.data, from->remote.len)) {
		bytes_free(&to->origin_name);
		return false;
	}
	to->detail = detail_ref(from->detail);
	return true;
}

int process_unread(const struct process *p, unsigned bit)
{
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (bit == 1u << i)
			return p->detail ? p->detail->unread[i] : 0;
	return 0;
}

/* Arguments joined by spaces: NULs between them become blanks. */
static int join_args(const struct bytes *cmdline, struct bytes *out)
{
	size_t len = cmdline->len;

	while (len && !cmdline->data[len - 1])
		len--;
	if (!bytes_set(out, cmdline->data, len))
		return -ENOMEM;
	for (size_t i = 0; i < len; i++)
		if (!out->data[i])
			out->data[i] = ' ';
	return 0;
}

int process_command(const struct process *p, struct bytes *out)
{
	const struct detail *d = p->detail;
	const struct bytes *comm = d ? &d->comm : NULL;
	size_t len = comm && comm->data ? comm->len : 1;

	if (d && d->cmdline.len && d->cmdline.data[0])
		return join_args(&d->cmdline, out);
	if (d && d->cmdline.len) { /* an empty first argument: show the rest */
		int r = join_args(&d->cmdline, out);

		if (r < 0 || out->len)
			return r;
	}
	bytes_free(out);
	out->data = malloc(len + 3);
	if (!out->data)
		return -ENOMEM;
	out->data[0] = '[';
	memcpy(out->data + 1, comm && comm->data ? comm->data : "?", len);
	out->data[len + 1] = ']';
	out->data[len + 2] = '\0';
	out->len = len + 2;
	return 0;
}

const char *process_mark(const struct process *p, const char *name)
{
	for (size_t i = 0; p->detail && i < p->detail->n_marks; i++)
		if (strcmp(p->detail->marks[i].name, name) == 0)
			return p->detail->marks[i].value;
	return NULL;
}
