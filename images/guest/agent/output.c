// SPDX-License-Identifier: Apache-2.0
// What waits to be written to the host: one buffer of fixed size.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

static char buffer[OUTPUT_MAX];
static size_t used;

bool output_has_room(size_t bytes)
{
	return OUTPUT_MAX - used >= bytes + ANSWER_MAX;
}

static void append(const char *bytes, size_t length)
{
	if (length > OUTPUT_MAX - used)
		return; /* a caller did not look for room: lose the message rather than memory */
	memcpy(buffer + used, bytes, length);
	used += length;
}

void answer(const char *format, ...)
{
	char line[ANSWER_MAX];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	append(line, length);
}

void answer_ready(void)
{
	struct utsname name;

	uname(&name);
	answer("ready %d %s", AGENT_PROTOCOL, name.release);
}

void output_message(const char *stream, const char *id, const char *bytes, size_t length)
{
	answer("%s %s %zu", stream, id, length);
	append(bytes, length);
}

bool output_pending(void)
{
	return used > 0;
}

bool output_flush(int fd)
{
	size_t done = 0;

	while (done < used) {
		ssize_t n = write(fd, buffer + done, used - done);

		if (n > 0) {
			done += n;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n == 0 || errno == EAGAIN) {
			break;
		} else {
			used = 0;
			return false;
		}
	}
	memmove(buffer, buffer + done, used - done);
	used -= done;
	return true;
}

void output_discard(void)
{
	used = 0;
}
