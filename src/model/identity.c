#include "model/identity.h"

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
