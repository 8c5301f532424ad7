// SPDX-License-Identifier: Apache-2.0
// Runs a shell script in a guest by way of its agent (../guest/README.md has the protocol), waits for it, and ends with
// its exit code. May be started before the guest: it waits for the guest to come up.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket.h"

#define LIMIT_S 60
#define SCRIPT_MAX (1024 * 1024)
#define LINE_MAX_BYTES 512

enum { TIMED_OUT = 124, FAILED = 125 };

static const char usage[] =
	"usage: guest-exec [-t SECONDS] AGENT-SOCKET [SCRIPT...]\n"
	"Runs SCRIPT (standard input if there is none) in the guest behind the socket, with the guest's shell.\n"
	"  -t SECONDS  limit for all of it, the guest's start included (default 60)\n"
	"Ends with the script's exit code, 124 after the limit, 125 if the guest cannot be reached or is gone.\n";

static int agent = -1;
static long long deadline;
static volatile sig_atomic_t interrupted;

static char buffer[65536];
static size_t start, end;

static void fail(int code, const char *what)
{
	fprintf(stderr, "guest-exec: %s\n", what);
	exit(code);
}

static void on_signal(int number)
{
	interrupted = number;
}

static void send_all(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = send(agent, bytes, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR && !interrupted)
			continue;
		if (n < 0)
			fail(FAILED, "the guest is gone");
		bytes += n;
		length -= n;
	}
}

/* Waits for more bytes from the agent and reads them. */
static void fill(void)
{
	struct pollfd set = { .fd = agent, .events = POLLIN };
	long long left = deadline - now_ms();
	ssize_t n;
	int ready;

	if (left <= 0)
		fail(TIMED_OUT, "the time limit is over");
	ready = poll(&set, 1, left > 1000000 ? 1000000 : (int)left);
	if (interrupted) {
		/* The agent kills the command when its host goes. */
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	if (ready <= 0)
		return;
	if (start == end)
		start = end = 0;
	if (end == sizeof(buffer)) {
		memmove(buffer, buffer + start, end - start);
		end -= start;
		start = 0;
	}
	n = read(agent, buffer + end, sizeof(buffer) - end);
	if (n == 0 || (n < 0 && errno != EINTR))
		fail(FAILED, "the guest is gone");
	if (n > 0)
		end += n;
}

/* The next line, without its newline. What does not fit is dropped. */
static void read_line(char line[LINE_MAX_BYTES])
{
	size_t length = 0;

	for (;;) {
		while (start == end)
			fill();
		if (buffer[start] == '\n') {
			start++;
			line[length] = '\0';
			return;
		}
		if (length < LINE_MAX_BYTES - 1)
			line[length++] = buffer[start];
		start++;
	}
}

static void copy_out(FILE *to, size_t length)
{
	while (length > 0) {
		size_t part;

		while (start == end)
			fill();
		part = end - start < length ? end - start : length;
		fwrite(buffer + start, 1, part, to);
		start += part;
		length -= part;
	}
	fflush(to);
}

/* Says hello until the agent is ready; what an earlier host left under way is read and dropped. */
static void open_session(void)
{
	char line[LINE_MAX_BYTES];
	size_t length;

	send_all("hello\n", 6);
	for (;;) {
		read_line(line);
		if (!strncmp(line, "ready ", 6))
			return;
		if (!strncmp(line, "error ", 6))
			send_all("hello\n", 6);
		else if (sscanf(line, "out %*s %zu", &length) == 1 || sscanf(line, "err %*s %zu", &length) == 1)
			continue; /* its bytes are read as lines: a cut message has fewer than it says */
	}
}

static int run(const char *script, size_t script_length)
{
	char line[LINE_MAX_BYTES];
	size_t length;
	int code;

	open_session();
	send_all(line, snprintf(line, sizeof(line), "run exec %zu\n", script_length));
	send_all(script, script_length);
	for (;;) {
		read_line(line);
		if (sscanf(line, "out exec %zu", &length) == 1)
			copy_out(stdout, length);
		else if (sscanf(line, "err exec %zu", &length) == 1)
			copy_out(stderr, length);
		else if (sscanf(line, "exit exec %d", &code) == 1)
			return code;
		else if (!strncmp(line, "error ", 6))
			fail(FAILED, line);
		/* A second "ready" is the answer to hello after the one for the connection. */
	}
}

static size_t read_script(char *script)
{
	size_t length = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, script + length, SCRIPT_MAX + 1 - length)) > 0)
		length += n;
	return length;
}

static size_t join(char *script, char **words)
{
	size_t length = 0;

	for (; *words && length <= SCRIPT_MAX; words++)
		length += snprintf(script + length, SCRIPT_MAX + 1 - length, "%s%s", length ? " " : "", *words);
	return length;
}

int main(int count, char **arguments)
{
	static char script[SCRIPT_MAX + 2];
	struct sigaction action = { .sa_handler = on_signal };
	double limit = LIMIT_S;
	size_t length;
	int option;

	while ((option = getopt(count, arguments, "+t:h")) != -1) {
		char *rest = NULL;

		if (option == 't')
			limit = strtod(optarg, &rest);
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (option != 't' || *rest || !(limit > 0 && limit < 1e6)) {
			fputs(usage, stderr);
			return FAILED;
		}
	}
	if (optind >= count) {
		fputs(usage, stderr);
		return FAILED;
	}
	length = optind + 1 < count ? join(script, arguments + optind + 1) : read_script(script);
	if (length > SCRIPT_MAX)
		fail(FAILED, "the script is longer than 1 MiB");
	deadline = now_ms() + (long long)(limit * 1000);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	agent = connect_until(arguments[optind], deadline);
	if (agent < 0) {
		fprintf(stderr, "guest-exec: %s: %s\n", arguments[optind], strerror(errno));
		return FAILED;
	}
	return run(script, length);
}
