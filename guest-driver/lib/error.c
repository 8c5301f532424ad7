// SPDX-License-Identifier: Apache-2.0
/* Codes and their texts. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* enum bp_code is this much below the negative status. */
#define BP_CODE_BASE 1000

_Static_assert(BP_FULL == -BP_CODE_BASE - BP_IMM_STATUS_FULL, "BP_FULL");
_Static_assert(BP_EMPTY == -BP_CODE_BASE - BP_IMM_STATUS_EMPTY, "BP_EMPTY");
_Static_assert(BP_DENIED == -BP_CODE_BASE - BP_IMM_STATUS_DENIED, "BP_DENIED");
_Static_assert(BP_NO_SUCH_RING == -BP_CODE_BASE - BP_IMM_STATUS_NO_SUCH_RING, "BP_NO_SUCH_RING");
_Static_assert(BP_TOO_LONG == -BP_CODE_BASE - BP_IMM_STATUS_TOO_LONG, "BP_TOO_LONG");
_Static_assert(BP_UNREACHABLE == -BP_CODE_BASE - BP_IMM_STATUS_UNREACHABLE, "BP_UNREACHABLE");
_Static_assert(BP_ABORTED == -BP_CODE_BASE - BP_IMM_STATUS_ABORTED, "BP_ABORTED");
_Static_assert(BP_BAD_COMMAND == -BP_CODE_BASE - BP_IMM_STATUS_BAD_COMMAND, "BP_BAD_COMMAND");
_Static_assert(BP_BAD_ADDRESS == -BP_CODE_BASE - BP_IMM_STATUS_BAD_ADDRESS, "BP_BAD_ADDRESS");
_Static_assert(BP_RING_CORRUPT == -BP_CODE_BASE - BP_IMM_STATUS_RING_CORRUPT, "BP_RING_CORRUPT");
_Static_assert(BP_TIMED_OUT == -BP_CODE_BASE - BP_IMM_STATUS_TIMED_OUT, "BP_TIMED_OUT");
_Static_assert(BP_NO_SUCH_MEMORY == -BP_CODE_BASE - BP_IMM_STATUS_NO_SUCH_MEMORY, "BP_NO_SUCH_MEMORY");

/* BP_IMM_STATUS_* to a code: 0, one of enum bp_code, or -EPROTO for what this library does not know. */
int bp_code_of(uint32_t status)
{
	if (status == BP_IMM_STATUS_OK)
		return 0;
	if (status >= BP_IMM_STATUS_FULL && status <= BP_IMM_STATUS_NO_SUCH_MEMORY)
		return -BP_CODE_BASE - (int)status;
	return -EPROTO;
}

/* Where the system's text would not say what to do. */
static const char *own_text(int code)
{
	switch (code) {
	case 0:
		return "success";
	case BP_FULL:
		return "the ring is full";
	case BP_EMPTY:
		return "the ring is empty";
	case BP_DENIED:
		return "access denied: wrong key, node without access, or the ring's other direction";
	case BP_NO_SUCH_RING:
		return "no such ring on that node";
	case BP_TOO_LONG:
		return "payload too long for the ring, or for the room given";
	case BP_UNREACHABLE:
		return "node unreachable: no such node, or it is not running";
	case BP_ABORTED:
		return "aborted: the context was closed or reset meanwhile";
	case BP_BAD_COMMAND:
		return "no such command";
	case BP_BAD_ADDRESS:
		return "payload lies outside of the memory";
	case BP_RING_CORRUPT:
		return "the ring was closed: its owner wrote impossible positions into it";
	case BP_TIMED_OUT:
		return "the ring was full or empty for the whole wait";
	case BP_NO_SUCH_MEMORY:
		return "no such registered memory";
	case -ENOENT:
		return "no messaging module: is the driver bp_imm loaded?";
	case -ENODEV:
		return "the messaging module was reset or is gone: close the context and open it again";
	case -ENOMEM:
		return "out of memory, or of memory that may be pinned (ulimit -l)";
	case -EBUSY:
		return "in use: all contexts are open, the id is taken, or actions are in flight";
	case -EDQUOT:
		return "too many contexts for one user (parameter contexts_per_user of bp_imm)";
	case -EMSGSIZE:
		return "payload of more than 3072 bytes outside of registered memory";
	case -EPERM:
		return "the context belongs to another process";
	case -EAGAIN:
		return "no action slot or inline room is free: reap results first";
	case -EPROTO:
		return "the messaging module answered with something impossible";
	default:
		return NULL;
	}
}

const char *bp_strerror(int code)
{
	static _Thread_local char buffer[80];
	const char *text = own_text(code);

	if (text)
		return text;
	if (code > 0 || strerror_r(-code, buffer, sizeof(buffer)))
		snprintf(buffer, sizeof(buffer), "unknown code %d", code);
	return buffer;
}
