#include "model/identity.h"

#include <stdlib.h>

int identity_order(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

int pid_order(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool pid_listed(const struct pid_list *l, pid_t pid)
{
	return l->n && bsearch(&pid, l->v, l->n, sizeof(pid), pid_order);
}

const char *known_name(enum known k)
{
	switch (k) {
	case KNOWN_SEEN:
		return "seen";
	case KNOWN_SCANNED:
		return "scanned";
	case KNOWN_STATED:
		return "stated";
	case KNOWN_PRESUMED:
		return "presumed";
	case KNOWN_NOT:
		break;
	}
	return "not known";
}
