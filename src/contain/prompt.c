#include "contain/prompt.h"

#include <sched.h>

bool prompt_thread(pthread_t thread)
{
	const struct sched_param least = {.sched_priority = sched_get_priority_min(SCHED_RR)};

	return pthread_setschedparam(thread, SCHED_RR | SCHED_RESET_ON_FORK, &least) == 0;
}
