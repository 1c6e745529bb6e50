#include "source/pids.h"

#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <libproc2/pids.h>
#include <stdlib.h>
#include <unistd.h>

#if STRAY_PIDS_VAL_ARGS == 4
#define VAL(item, type, stack, info) PIDS_VAL(item, type, stack, info)
#else
#define VAL(item, type, stack, info) PIDS_VAL(item, type, stack)
#endif

/* All from /proc/PID/stat, but for the owner, which is that of the directory. */
static enum pids_item items[] = {
	PIDS_ID_PID,
	PIDS_ID_PPID,
	PIDS_ID_PGRP,
	PIDS_ID_SESSION,
	PIDS_ID_TPGID,
	PIDS_TTY,
	PIDS_STATE,
	PIDS_FLAGS,
	PIDS_NLWP,
	PIDS_TICS_BEGAN,
	PIDS_TICS_ALL,
	PIDS_RSS,
	PIDS_ADDR_STACK_START,
	PIDS_CMD,
	PIDS_ID_EUID,
};

enum {
	I_PID,
	I_PPID,
	I_PGRP,
	I_SESSION,
	I_TPGID,
	I_TTY,
	I_STATE,
	I_FLAGS,
	I_NLWP,
	I_BEGAN,
	I_TICS,
	I_RSS,
	I_STACK,
	I_CMD,
	I_EUID,
	I_COUNT
};

/* What is called of libproc2. */
struct library {
	typeof(procps_pids_new) *new;
	typeof(procps_pids_unref) *unref;
	typeof(procps_pids_reap) *reap;
	typeof(procps_pids_get) *get;
};

struct pids_reader {
	struct library lib;
	struct pids_info *info;
	uint64_t page_kb;
};

/*
 * It brings seven libraries, which most commands and a run's warden do not need: so it is loaded
 * here, and stays.
 */
static int load(struct library *lib, struct err *err)
{
	void *so = dlopen(STRAY_PROC2_SONAME, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

	if (so) {
		*lib = (struct library){
			.new = dlsym(so, "procps_pids_new"),
			.unref = dlsym(so, "procps_pids_unref"),
			.reap = dlsym(so, "procps_pids_reap"),
			.get = dlsym(so, "procps_pids_get"),
		};
		dlclose(so); /* not unloaded */
	}
	if (lib->new && lib->unref && lib->reap && lib->get)
		return 0;
	return err_set(err, ELIBACC, "/proc cannot be read: %s", dlerror());
}

int pids_open(struct pids_reader **out, struct err *err)
{
	struct pids_reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(err);
	rc = load(&r->lib, err);
	if (rc < 0) {
		free(r);
		return rc;
	}
	rc = r->lib.new(&r->info, items, I_COUNT);
	if (rc < 0) {
		free(r);
		return err_errno(err, -rc, "/proc cannot be read");
	}
	r->page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	*out = r;
	return 0;
}

void pids_close(struct pids_reader *r)
{
	if (!r)
		return;
	r->lib.unref(&r->info);
	free(r);
}

static const char *fill(struct pids_reader *r, struct pids_stack *s, struct process *p)
{
	*p = (struct process){
		.id.pid = VAL(I_PID, s_int, s, r->info),
		.id.start = VAL(I_BEGAN, ull_int, s, r->info),
		.ppid = VAL(I_PPID, s_int, s, r->info),
		.pgid = VAL(I_PGRP, s_int, s, r->info),
		.sid = VAL(I_SESSION, s_int, s, r->info),
		.tpgid = VAL(I_TPGID, s_int, s, r->info),
		.tty_nr = (uint32_t)VAL(I_TTY, s_int, s, r->info),
		.state = (char)VAL(I_STATE, s_ch, s, r->info),
		.pf = (uint32_t)VAL(I_FLAGS, ul_int, s, r->info),
		.threads = (uint32_t)VAL(I_NLWP, s_int, s, r->info),
		.cpu_ticks = VAL(I_TICS, ull_int, s, r->info),
		.rss_kb = VAL(I_RSS, ul_int, s, r->info) * r->page_kb,
		.start_stack = VAL(I_STACK, ul_int, s, r->info),
		.owner = VAL(I_EUID, u_int, s, r->info),
	};
	return VAL(I_CMD, str, s, r->info);
}

int pids_each(struct pids_reader *r, pids_fn *fn, void *ctx, struct err *err)
{
	struct pids_fetch *fetch = r->lib.reap(r->info, PIDS_FETCH_TASKS_ONLY);

	if (!fetch)
		return err_errno(err, errno ? errno : EIO, "/proc cannot be read");
	for (int i = 0; i < fetch->counts->total; i++) {
		struct process p;
		const char *comm = fill(r, fetch->stacks[i], &p);
		int rc = fn(ctx, &p, comm, err);

		if (rc)
			return rc;
	}
	return 0;
}

int pids_stream(struct pids_reader *r, pids_fn *fn, void *ctx, struct err *err)
{
	struct pids_stack *s;
	int rc = 0;

	while (!rc && (errno = 0, s = r->lib.get(r->info, PIDS_FETCH_TASKS_ONLY))) {
		struct process p;
		const char *comm = fill(r, s, &p);

		rc = fn(ctx, &p, comm, err);
	}
	/* NULL is the end and an error alike; a process that vanished leaves other codes behind */
	if (!rc && (errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == EIO))
		return err_errno(err, errno, "/proc cannot be read");
	if (rc) /* the next pass begins anew: drain this one */
		while (r->lib.get(r->info, PIDS_FETCH_TASKS_ONLY))
			;
	return rc;
}
