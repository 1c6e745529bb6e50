#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *out, void *(*run)(void *), void *ctx)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(out, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}
