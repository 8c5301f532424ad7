/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of the tools: numbers, errors of one line. */
#ifndef BP_CLI_H
#define BP_CLI_H

#include <stdint.h>

/* Exit status of a wrong command line; everything else that goes wrong is 1. */
#define CLI_USAGE 2

/* Name of the program, for its errors. */
extern const char *cli_program;

/* Prints "program: …" as one line on standard error, and exits. */
_Noreturn void cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What bp_strerror() says of a code, after what failed: exits. */
_Noreturn void cli_fail_code(const char *what, int code);

/* A whole number from minimum to maximum, decimal or with 0x, with K, M or G (1024) after it; or exits. */
uint64_t cli_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum);

/* Seconds, with a fraction, as microseconds; or exits. */
int64_t cli_seconds(const char *option, const char *text);

#endif /* BP_CLI_H */
