/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKPLANE_HOST_SOCKET_H
#define BACKPLANE_HOST_SOCKET_H

/* Milliseconds since some fixed moment. */
long long now_ms(void);

/*
 * Connects to a Unix socket, which may not be there yet: tries until the deadline (in now_ms). Returns the descriptor, or
 * -1 with errno set. A path that is too long for an address is opened by way of its directory.
 */
int connect_until(const char *path, long long deadline);

#endif
