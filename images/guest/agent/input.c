// SPDX-License-Identifier: Apache-2.0
// Requests from the host: a line, for "run" followed by the bytes of the script. Everything here is checked: a request
// that is wrong gets "error ..." and is skipped, whole, so that the next one is understood again.

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

enum state {
	LINE,      /* collecting a request line */
	LONG_LINE, /* a line that is too long: skipping to its end */
	SCRIPT,    /* collecting the script of a run */
	SKIP,      /* skipping the script of a refused run */
};

static enum state state = LINE;
static char line[LINE_MAX_BYTES + 1];
static size_t line_length;
static char run_id[ID_MAX + 1];
static char *script;
static size_t script_length; /* bytes collected */
static unsigned long long body_left; /* bytes of the script still to come, collected or skipped */

static char unread[4096];
static size_t unread_start, unread_end;

void input_reset(void)
{
	state = LINE;
	line_length = 0;
	free(script);
	script = NULL;
	unread_start = unread_end = 0;
}

static bool valid_id(const char *id)
{
	size_t length = strlen(id);

	for (const char *c = id; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	return length > 0 && length <= ID_MAX && id[0] != '.';
}

/* A decimal number without sign or leading blanks; false if it is none or does not fit. */
static bool number(const char *text, unsigned long long *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static int signal_number(const char *text)
{
	static const struct { const char *name; int number; } names[] = {
		{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "KILL", SIGKILL }, { "TERM", SIGTERM },
		{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "STOP", SIGSTOP }, { "CONT", SIGCONT }, { "ABRT", SIGABRT },
	};
	unsigned long long value;

	if (number(text, &value))
		return value >= 1 && value <= (unsigned long long)SIGRTMAX ? (int)value : -1;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i].name))
			return names[i].number;
	return -1;
}

static void request_run(const char *id, const char *length)
{
	if (!number(length, &body_left)) {
		answer("error run: the length is not a number");
		return; /* nothing is known about what follows: it is read as lines */
	}
	if (!valid_id(id)) {
		answer("error run: an ID is 1 to %d of A-Z a-z 0-9 . _ -, no dot first", ID_MAX);
		state = SKIP;
	} else if (body_left > SCRIPT_MAX) {
		answer("error run %s: the script has %llu bytes, the limit is %d", id, body_left, SCRIPT_MAX);
		state = SKIP;
	} else if (!(script = malloc(body_left + 1))) {
		answer("error run %s: no memory for the script", id);
		state = SKIP;
	} else {
		strcpy(run_id, id);
		script_length = 0;
		state = SCRIPT;
	}
}

static void request_kill(const char *id, const char *name)
{
	int signal = signal_number(name);

	if (!valid_id(id))
		answer("error kill: an ID is 1 to %d of A-Z a-z 0-9 . _ -, no dot first", ID_MAX);
	else if (signal < 0)
		answer("error kill %s: no such signal", id);
	else
		command_kill(id, signal);
}

/* A host that came so soon after another that nobody saw the change says so itself. */
static void request_hello(void)
{
	bool cut = output_pending();

	command_kill_all();
	output_discard();
	if (cut)
		answer("%s", ""); /* half a message may have gone out: ready starts a line all the same */
	answer_ready();
}

static void request(void)
{
	char verb[LINE_MAX_BYTES + 1], first[LINE_MAX_BYTES + 1], second[LINE_MAX_BYTES + 1], rest[LINE_MAX_BYTES + 1];
	int words;

	/* A NUL would hide what follows it. */
	words = strlen(line) == line_length ? sscanf(line, "%s %s %s %s", verb, first, second, rest) : 0;
	if (words == 3 && !strcmp(verb, "run"))
		request_run(first, second);
	else if (words == 3 && !strcmp(verb, "kill"))
		request_kill(first, second);
	else if (words == 1 && !strcmp(verb, "hello"))
		request_hello();
	else
		answer("error not a request: run ID LENGTH, kill ID SIGNAL or hello");
}

/* Takes bytes that belong to a script; returns how many. */
static size_t take_body(const char *bytes, size_t length)
{
	size_t take = body_left < length ? (size_t)body_left : length;

	if (state == SCRIPT) {
		memcpy(script + script_length, bytes, take);
		script_length += take;
	}
	body_left -= take;
	return take;
}

static void end_body(void)
{
	if (state == SCRIPT)
		command_start(run_id, script, script_length);
	free(script);
	script = NULL;
	state = LINE;
}

static void take_line_byte(char byte)
{
	if (byte != '\n') {
		if (state == LINE && line_length == LINE_MAX_BYTES)
			state = LONG_LINE;
		if (state == LINE)
			line[line_length++] = byte;
		return;
	}
	line[line_length] = '\0';
	if (state == LONG_LINE) {
		answer("error a request line has at most %d bytes", LINE_MAX_BYTES);
		state = LINE;
	} else {
		request();
	}
	line_length = 0;
}

bool input_resume(void)
{
	while (output_has_room(ANSWER_MAX)) {
		if ((state == SCRIPT || state == SKIP) && body_left == 0)
			end_body();
		else if (unread_start == unread_end)
			return false;
		else if (state == SCRIPT || state == SKIP)
			unread_start += take_body(unread + unread_start, unread_end - unread_start);
		else
			take_line_byte(unread[unread_start++]);
	}
	return true;
}

bool input_read(int fd)
{
	ssize_t n;

	if (input_resume())
		return true;
	n = read(fd, unread, sizeof(unread));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	unread_start = 0;
	unread_end = n;
	input_resume();
	return true;
}
