// SPDX-License-Identifier: Apache-2.0
// Connects the terminal with a guest's console socket. Ctrl-] ends it; the guest goes on.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "socket.h"

#define LEAVE 0x1d /* Ctrl-] */

static struct termios before;
static bool changed;

static void restore(void)
{
	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void on_signal(int number)
{
	restore();
	_exit(128 + number);
}

static void make_raw(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return; /* not a terminal: nothing to change */
	raw = before;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	changed = true;
	atexit(restore);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
}

/* Copies what is there; false at the end, or when the key to leave was pressed. */
static bool copy(int from, int to)
{
	char bytes[4096];
	ssize_t n = read(from, bytes, sizeof(bytes)), done = 0;
	char *leave;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	leave = from == STDIN_FILENO && changed ? memchr(bytes, LEAVE, n) : NULL;
	if (leave)
		n = leave - bytes;
	while (done < n) {
		ssize_t written = write(to, bytes + done, n - done);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0)
			done += written;
	}
	return !leave;
}

int main(int count, char **arguments)
{
	int console;

	if (count != 2) {
		fputs("usage: guest-console CONSOLE-SOCKET\n", stderr);
		return 2;
	}
	console = connect_until(arguments[1], now_ms());
	if (console < 0) {
		fprintf(stderr, "guest-console: %s: %s\n", arguments[1], strerror(errno));
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	fputs("Connected; Enter shows the prompt, Ctrl-] leaves.\n", stderr);
	make_raw();
	for (;;) {
		struct pollfd set[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = console, .events = POLLIN } };

		if (poll(set, 2, -1) < 0)
			continue;
		if (set[1].revents && !copy(console, STDOUT_FILENO))
			return 0;
		if (set[0].revents && !copy(STDIN_FILENO, console))
			return 0;
	}
}
