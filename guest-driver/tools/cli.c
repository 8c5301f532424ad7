// SPDX-License-Identifier: Apache-2.0
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backplane.h"

const char *cli_program = "bp";

static void say(const char *format, va_list arguments)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", cli_program);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void cli_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(1);
}

void cli_wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(CLI_USAGE);
}

void cli_fail_code(const char *what, int code)
{
	cli_fail("%s: %s", what, bp_strerror(code));
}

static uint64_t unit(char letter)
{
	switch (letter) {
	case 'k':
	case 'K':
		return 1024;
	case 'M':
		return 1024 * 1024;
	case 'G':
		return 1024 * 1024 * 1024;
	default:
		return 0;
	}
}

uint64_t cli_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (end == text || strchr(text, '-') || errno)
		cli_wrong("--%s: '%s' is no number", option, text);
	if (*end && unit(*end) && !end[1] && number <= UINT64_MAX / unit(*end))
		number *= unit(*end++);
	if (*end)
		cli_wrong("--%s: '%s' is no number", option, text);
	if (number < minimum || number > maximum)
		cli_wrong("--%s: %s is not from %llu to %llu", option, text, (unsigned long long)minimum,
			  (unsigned long long)maximum);
	return number;
}

int64_t cli_seconds(const char *option, const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0 && seconds <= 1e6))
		cli_wrong("--%s: '%s' is not from 0 to 1000000 seconds", option, text);
	return (int64_t)(seconds * 1e6);
}
