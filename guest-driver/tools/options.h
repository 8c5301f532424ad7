/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options of the tools, as a table. */
#ifndef BP_OPTIONS_H
#define BP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG, /* bool: set */
	OPTION_VALUE, /* unsigned int: set to minimum */
	OPTION_TEXT, /* const char * */
	OPTION_CALL, /* void (*)(void *to, char *argument): parses the argument itself */
	OPTION_NUMBER, /* unsigned integer of `bytes` bytes, minimum to maximum; may end in K, M or G */
	OPTION_SECONDS, /* int64_t: microseconds */
};

struct option_row {
	const char *name;
	enum option_kind kind;
	void *to;
	size_t bytes;
	uint64_t minimum, maximum;
	bool *given; /* set when the option is there; or NULL */
	void (*call)(void *to, char *argument);
};

#define OPTION_FLAG_ROW(_name, _bool) { .name = _name, .kind = OPTION_FLAG, .to = _bool }
#define OPTION_VALUE_ROW(_name, _place, _value) \
	{ .name = _name, .kind = OPTION_VALUE, .to = _place, .bytes = sizeof(*(_place)), .minimum = _value }
#define OPTION_TEXT_ROW(_name, _text) { .name = _name, .kind = OPTION_TEXT, .to = _text }
#define OPTION_CALL_ROW(_name, _to, _function) { .name = _name, .kind = OPTION_CALL, .to = _to, .call = _function }
#define OPTION_NUMBER_ROW(_name, _place, _minimum, _maximum, _given)                                           \
	{ .name = _name, .kind = OPTION_NUMBER, .to = _place, .bytes = sizeof(*(_place)), .minimum = _minimum, \
	  .maximum = _maximum, .given = _given }
#define OPTION_SECONDS_ROW(_name, _place) { .name = _name, .kind = OPTION_SECONDS, .to = _place }

/* What most tools have. */
#define OPTION_NODE_ROW(_place) OPTION_NUMBER_ROW("node", _place, 1, UINT16_MAX, NULL)
#define OPTION_RING_ROW(_place, _given) OPTION_NUMBER_ROW("ring", _place, 0, UINT32_MAX - 1, _given)
#define OPTION_KEY_ROW(_place) OPTION_NUMBER_ROW("key", _place, 0, UINT64_MAX, NULL)
#define OPTION_DEVICE_ROW(_text) OPTION_TEXT_ROW("device", _text)
#define OPTION_END_ROW { .name = NULL }

/**
 * options_parse - takes the options from a command line; exits on a wrong one, and on --help, which prints @usage
 * @rows: ends with OPTION_END_ROW
 *
 * Return: index of the first argument that is no option
 */
int options_parse(int argc, char **argv, const char *usage, const struct option_row *rows);

/* The same for a program without further arguments. */
void options_parse_all(int argc, char **argv, const char *usage, const struct option_row *rows);

#endif /* BP_OPTIONS_H */
