// SPDX-License-Identifier: Apache-2.0
// The guest agent's loop. Arguments: the path of a virtio port, where hosts come and go; or nothing, for one session on
// standard input and output.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent.h"

/* Signals as a readable descriptor: SIGCHLD, and SIGIO, which a virtio port sends when a host comes or goes. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void take_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) > 0)
		;
	/* Signals of one kind merge: which child it was is not in them. */
	command_reap();
}

/* Serves one host until it is gone. */
static void session(int in, int out, int signals)
{
	enum { SIGNALS, IN, OUT, PIPES };
	struct pollfd set[PIPES + 2 * COMMANDS_MAX];
	bool connected = true;

	input_reset();
	output_discard();
	answer_ready();
	while (connected) {
		bool waiting = input_resume();
		size_t pipes = command_poll_set(set + PIPES);

		set[SIGNALS] = (struct pollfd){ .fd = signals, .events = POLLIN };
		set[IN] = (struct pollfd){ .fd = waiting ? -1 : in, .events = POLLIN };
		set[OUT] = (struct pollfd){ .fd = output_pending() ? out : -1, .events = POLLOUT };
		if (poll(set, PIPES + pipes, -1) < 0)
			continue;
		if (set[SIGNALS].revents)
			take_signals(signals);
		command_serve(set + PIPES, pipes);
		if (set[OUT].revents)
			connected = !(set[OUT].revents & (POLLHUP | POLLERR)) && output_flush(out);
		if (connected && set[IN].revents)
			connected = input_read(in);
	}
	command_kill_all();
}

/* Waits until a host has connected to the port. SIGIO is blocked and kept, so one that comes between the look and the
 * wait ends the wait. */
static void await_host(int port, int signals)
{
	for (;;) {
		struct pollfd host = { .fd = port, .events = POLLIN };
		struct pollfd signal = { .fd = signals, .events = POLLIN };

		if (poll(&host, 1, 0) >= 0 && !(host.revents & POLLHUP))
			return;
		if (poll(&signal, 1, -1) > 0)
			take_signals(signals);
	}
}

static int serve_port(const char *path, int signals)
{
	int port = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (port < 0) {
		fprintf(stderr, "agent: %s: %s\n", path, strerror(errno));
		return 1;
	}
	fcntl(port, F_SETOWN, getpid());
	fcntl(port, F_SETFL, O_NONBLOCK | O_ASYNC);
	for (;;) {
		await_host(port, signals);
		session(port, port, signals);
	}
}

int main(int count, char **arguments)
{
	int signals = open_signals();

	if (signals < 0) {
		perror("agent: signalfd");
		return 1;
	}
	if (count > 2) {
		fprintf(stderr, "usage: agent [VIRTIO-PORT]\n");
		return 2;
	}
	if (count == 2)
		return serve_port(arguments[1], signals);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	session(STDIN_FILENO, STDOUT_FILENO, signals);
	return 0;
}
