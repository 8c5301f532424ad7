// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "socket.h"

#define RETRY_MS 20

long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int connect_once(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char copy[4096], name[4096];
	int fd, directory = -1, result, error;

	if (strlen(path) >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
	} else {
		strcpy(copy, path);
		directory = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			return -1;
		strcpy(copy, path);
		snprintf(name, sizeof(name), "/proc/self/fd/%d/%.200s", directory, basename(copy));
		if (strlen(name) >= sizeof(address.sun_path)) {
			close(directory);
			errno = ENAMETOOLONG;
			return -1;
		}
		strcpy(address.sun_path, name);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	result = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof(address));
	error = errno;
	if (directory >= 0)
		close(directory);
	if (result == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

int connect_until(const char *path, long long deadline)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };

	for (;;) {
		int fd = connect_once(path);

		/* Nothing tells when QEMU has made its socket; only these two errors mean that it may still come. */
		if (fd >= 0 || (errno != ENOENT && errno != ECONNREFUSED) || now_ms() >= deadline)
			return fd;
		nanosleep(&pause, NULL);
	}
}
