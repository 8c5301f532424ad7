// SPDX-License-Identifier: Apache-2.0
// The running commands: each a shell in a session of its own, its output in two pipes.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

enum state {
	FREE,
	RUNNING,
	ENDED,    /* the shell ended; what is in the pipes goes to the host, then "exit" */
	LINGERING /* reported; processes it left behind hold its pipes: their output is read and dropped */
};

struct command {
	enum state state;
	char id[ID_MAX + 1];
	pid_t pid;      /* also its process group; 0 once collected */
	int code;       /* what to report */
	int pipes[2];   /* standard output and error, -1 when at their end */
};

static struct command commands[COMMANDS_MAX];
static const char *const streams[2] = { "out", "err" };

static struct command *find(const char *id)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if ((commands[i].state == RUNNING || commands[i].state == ENDED) && !strcmp(commands[i].id, id))
			return &commands[i];
	return NULL;
}

static struct command *find_free(void)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (commands[i].state == FREE)
			return &commands[i];
	return NULL;
}

static void script_path(char path[static sizeof(SCRIPT_DIR) + ID_MAX + 1], const char *id)
{
	sprintf(path, SCRIPT_DIR "/%s", id);
}

static bool write_script(const char *path, const char *script, size_t length)
{
	int fd;
	size_t done = 0;

	mkdir(SCRIPT_DIR, 0755);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	while (done < length) {
		ssize_t n = write(fd, script + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += n;
	}
	close(fd);
	return done == length;
}

/* In the child: becomes the shell. */
static void become_shell(const char *path, int out, int err)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	execl("/bin/sh", "sh", path, (char *)NULL);
	dprintf(STDERR_FILENO, "agent: no /bin/sh: %s\n", strerror(errno));
	_exit(127);
}

void command_start(const char *id, const char *script, size_t length)
{
	char path[sizeof(SCRIPT_DIR) + ID_MAX + 1];
	struct command *command = find_free();
	int out[2], err[2];
	pid_t pid;

	if (find(id)) {
		answer("error run %s: that ID is in use", id);
		return;
	}
	if (!command) {
		answer("error run %s: %d commands are running, the limit", id, COMMANDS_MAX);
		return;
	}
	script_path(path, id);
	if (!write_script(path, script, length)) {
		answer("error run %s: cannot write the script: %s", id, strerror(errno));
		goto remove_script;
	}
	if (pipe2(out, O_CLOEXEC) < 0) {
		answer("error run %s: no pipe: %s", id, strerror(errno));
		goto remove_script;
	}
	if (pipe2(err, O_CLOEXEC) < 0) {
		answer("error run %s: no pipe: %s", id, strerror(errno));
		goto close_out;
	}
	pid = fork();
	if (pid < 0) {
		answer("error run %s: no process: %s", id, strerror(errno));
		goto close_err;
	}
	if (pid == 0)
		become_shell(path, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	*command = (struct command){ .state = RUNNING, .pid = pid, .pipes = { out[0], err[0] } };
	strcpy(command->id, id);
	return;

close_err:
	close(err[0]);
	close(err[1]);
close_out:
	close(out[0]);
	close(out[1]);
remove_script:
	unlink(path);
}

void command_kill(const char *id, int signal)
{
	struct command *command = find(id);

	/* Collected means that the number may belong to another group by now. */
	if (!command || command->pid == 0)
		answer("error kill %s: not running", id);
	/* The group is the child's own doing; before it has come to that, there is only the child. */
	else if (kill(-command->pid, signal) < 0 && kill(command->pid, signal) < 0)
		answer("error kill %s: %s", id, strerror(errno));
}

static void close_pipe(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void free_command(struct command *command)
{
	close_pipe(&command->pipes[0]);
	close_pipe(&command->pipes[1]);
	command->state = FREE;
}

void command_kill_all(void)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		char path[sizeof(SCRIPT_DIR) + ID_MAX + 1];
		struct command *command = &commands[i];

		if (command->state == FREE)
			continue;
		if (command->pid) {
			kill(-command->pid, SIGKILL);
			kill(command->pid, SIGKILL);
			waitpid(command->pid, NULL, 0);
			script_path(path, command->id);
			unlink(path);
		}
		free_command(command);
	}
}

void command_reap(void)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		char path[sizeof(SCRIPT_DIR) + ID_MAX + 1];
		struct command *command = &commands[i];
		int status;

		if (command->state != RUNNING || waitpid(command->pid, &status, WNOHANG) != command->pid)
			continue;
		command->pid = 0;
		command->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		command->state = ENDED;
		script_path(path, command->id);
		unlink(path);
	}
}

size_t command_poll_set(struct pollfd *set)
{
	size_t count = 0;

	for (size_t i = 0; i < COMMANDS_MAX; i++)
		for (int stream = 0; stream < 2; stream++) {
			struct command *command = &commands[i];

			if (command->state == FREE || command->pipes[stream] < 0)
				continue;
			/* Without room the pipe is left alone, so that the command waits; what is dropped needs none. */
			if (command->state == LINGERING || output_has_room(CHUNK_MAX))
				set[count++] = (struct pollfd){ .fd = command->pipes[stream], .events = POLLIN };
		}
	return count;
}

/* Reads once from a pipe and passes it on; true if there may be more. */
static bool move_output(struct command *command, int stream)
{
	static char chunk[CHUNK_MAX];
	ssize_t n = read(command->pipes[stream], chunk, sizeof(chunk));

	if (n < 0)
		return errno == EINTR;
	if (n == 0) {
		close_pipe(&command->pipes[stream]);
		return false;
	}
	if (command->state != LINGERING)
		output_message(streams[stream], command->id, chunk, n);
	return true;
}

/* A command that ended: the rest of its output, then its code. Comes again while there is no room. */
static void report(struct command *command)
{
	for (int stream = 0; stream < 2; stream++)
		while (command->pipes[stream] >= 0) {
			if (!output_has_room(CHUNK_MAX))
				return;
			if (!move_output(command, stream))
				break;
		}
	if (!output_has_room(ANSWER_MAX))
		return;
	answer("exit %s %d", command->id, command->code);
	command->state = LINGERING;
}

void command_serve(const struct pollfd *set, size_t count)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		struct command *command = &commands[i];

		for (size_t at = 0; at < count; at++)
			for (int stream = 0; stream < 2; stream++)
				if (command->state != FREE && set[at].revents && set[at].fd == command->pipes[stream] &&
				    (command->state == LINGERING || output_has_room(CHUNK_MAX)))
					move_output(command, stream);
		if (command->state == ENDED)
			report(command);
		if (command->state == LINGERING && command->pipes[0] < 0 && command->pipes[1] < 0)
			free_command(command);
	}
}
