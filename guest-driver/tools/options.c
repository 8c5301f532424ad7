// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MAX_ROWS 32
#define FIRST 256 /* beyond every letter */

static void store(const struct option_row *row, uint64_t number)
{
	switch (row->bytes) {
	case 2:
		*(uint16_t *)row->to = (uint16_t)number;
		break;
	case 4:
		*(uint32_t *)row->to = (uint32_t)number;
		break;
	default:
		*(uint64_t *)row->to = number;
	}
}

static void take(const struct option_row *row, char *argument)
{
	if (row->given)
		*row->given = true;
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->to = true;
		break;
	case OPTION_VALUE:
		store(row, row->minimum);
		break;
	case OPTION_TEXT:
		*(const char **)row->to = argument;
		break;
	case OPTION_CALL:
		row->call(row->to, argument);
		break;
	case OPTION_NUMBER:
		store(row, cli_number(row->name, argument, row->minimum, row->maximum));
		break;
	case OPTION_SECONDS:
		*(int64_t *)row->to = cli_seconds(row->name, argument);
		break;
	}
}

int options_parse(int argc, char **argv, const char *usage, const struct option_row *rows)
{
	struct option longs[MAX_ROWS + 2];
	int count, option;

	memset(longs, 0, sizeof(longs));
	for (count = 0; rows[count].name; count++) {
		if (count == MAX_ROWS)
			abort();
		longs[count].name = rows[count].name;
		longs[count].has_arg = rows[count].kind == OPTION_FLAG || rows[count].kind == OPTION_VALUE ?
					       no_argument :
					       required_argument;
		longs[count].val = FIRST + count;
	}
	longs[count].name = "help";
	longs[count].val = 'h';
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (option < FIRST)
			exit(CLI_USAGE);
		take(&rows[option - FIRST], optarg);
	}
	return optind;
}

void options_parse_all(int argc, char **argv, const char *usage, const struct option_row *rows)
{
	int rest = options_parse(argc, argv, usage, rows);

	if (rest < argc)
		cli_wrong("unexpected '%s'; see --help", argv[rest]);
}
