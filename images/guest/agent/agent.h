/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest agent: runs shell scripts for the host over one byte stream. ../README.md describes the protocol.
 *
 * One thread, one poll loop. Nothing blocks: input waits when there is no room for answers, a command's output waits
 * in its pipe, so memory stays within the constants below whatever the host or a command sends.
 */
#ifndef BACKPLANE_AGENT_H
#define BACKPLANE_AGENT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define AGENT_PROTOCOL 1
#define ID_MAX 32               /* characters in an ID */
#define LINE_MAX_BYTES 128      /* a request line, without its newline */
#define SCRIPT_MAX (1024 * 1024) /* bytes in a script */
#define COMMANDS_MAX 64         /* commands at once */
#define CHUNK_MAX (32 * 1024)   /* bytes of output in one message; what a virtio port takes in one write */
#define OUTPUT_MAX (256 * 1024) /* bytes waiting for the host */
#define ANSWER_MAX 256          /* bytes in an answer without output */
#ifndef SCRIPT_DIR
#define SCRIPT_DIR "/run/agent"
#endif

/* --- output.c: what waits to be written to the host --- */

/* Room for one more message with that many bytes of output. */
bool output_has_room(size_t bytes);
/* "ready PROTOCOL KERNEL_RELEASE": opens a session. */
void answer_ready(void);
/* A one-line answer, newline added; too long a text is cut. The caller has seen room for ANSWER_MAX. */
void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "out ID LENGTH" or "err ID LENGTH" and the bytes. The caller has seen room. */
void output_message(const char *stream, const char *id, const char *bytes, size_t length);
bool output_pending(void);
/* Writes what the descriptor takes now; false when the peer is gone. */
bool output_flush(int fd);
void output_discard(void);

/* --- input.c: requests from the host --- */

/* Reads what is there and acts on it as far as there is room for the answers; false at the end of the stream. */
bool input_read(int fd);
/* Goes on with what was read before; true if some of it still waits for room. */
bool input_resume(void);
/* Forgets half a request (a new session starts). */
void input_reset(void);

/* --- command.c: the running commands --- */

void command_start(const char *id, const char *script, size_t length);
void command_kill(const char *id, int signal);
void command_kill_all(void);
/* Collects the commands that ended. */
void command_reap(void);
/* Adds the pipes to poll for; returns how many (at most 2 * COMMANDS_MAX). */
size_t command_poll_set(struct pollfd *set);
/* Moves output of the commands whose pipes poll found readable, and reports those that ended. */
void command_serve(const struct pollfd *set, size_t count);

#endif
