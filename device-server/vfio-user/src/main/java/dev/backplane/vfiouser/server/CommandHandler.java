// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

/**
 * Carries out one command. Reads the request from the session's reader, whose payload it checks in full before anything
 * is done, and writes the reply's payload with the session's writer. Allocates nothing on the register path.
 */
@FunctionalInterface
interface CommandHandler {
    /** Returns the size of the reply's payload in bytes, or a negated error number, which is then all of the reply. */
    int handle(Session session);
}
