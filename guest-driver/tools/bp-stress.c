// SPDX-License-Identifier: Apache-2.0
/* Producers, a consumer that checks everything, and idle contexts, for tests that last. */

#include <stdbool.h>
#include <stdio.h>

#include "cli.h"
#include "options.h"
#include "stress.h"

#define MAX_CAPACITY (64 * 1024 * 1024)

static const char usage[] =
	"usage: bp-stress --take --ring ID [options]\n"
	"       bp-stress --put --node N --ring ID [options]\n"
	"       bp-stress --idle N\n"
	"\n"
	"Elements of random sizes from many producers, of which some are killed, to one ring, whose owner checks each: whole,\n"
	"once, in order. Exit status 0: all was right.\n"
	"\n"
	"  --take          make the ring on this node, and consume it until all producers have ended; prints JSON\n"
	"  --put           produce; with as many elements in flight as there are slots\n"
	"  --idle N        open N contexts, use each once, then do nothing; for each line on standard input, a number,\n"
	"                  put an element from that context; until the input ends\n"
	"  --node N        node of the ring\n"
	"  --ring ID       ring id\n"
	"  --key K         key of the ring (default 0)\n"
	"  --producers P   with --take: so many producers end by themselves (default 1); others are killed\n"
	"  --capacity B    bytes of the ring, a power of two (default 32K)\n"
	"  --pause US      with --take: rest so long now and then, so that the ring is full\n"
	"  --count N       elements of a producer (default: for ever)\n"
	"  --seconds S     end after so long\n"
	"  --size BYTES    most bytes of an element, 512 to 1M (default 8000)\n"
	"  --seed S        other random numbers\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

int main(int argc, char **argv)
{
	struct stress_options options = { .producers = 1, .size = 8000, .capacity = 32768 };
	bool take = false, put = false, have_ring = false;
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("take", &take),
		OPTION_FLAG_ROW("put", &put),
		OPTION_NUMBER_ROW("idle", &options.contexts, 1, 4096, NULL),
		OPTION_NODE_ROW(&options.target.node),
		OPTION_RING_ROW(&options.target.ring, &have_ring),
		OPTION_KEY_ROW(&options.target.key),
		OPTION_NUMBER_ROW("producers", &options.producers, 1, UINT32_MAX, NULL),
		OPTION_NUMBER_ROW("capacity", &options.capacity, 4096, MAX_CAPACITY, NULL),
		OPTION_NUMBER_ROW("pause", &options.pause_us, 0, 1000000, NULL),
		OPTION_NUMBER_ROW("count", &options.count, 1, UINT64_MAX, NULL),
		OPTION_NUMBER_ROW("seconds", &options.seconds, 1, 1000000, NULL),
		OPTION_NUMBER_ROW("size", &options.size, 512, 1024 * 1024, NULL),
		OPTION_NUMBER_ROW("seed", &options.seed, 0, UINT64_MAX, NULL),
		OPTION_DEVICE_ROW(&options.device),
		OPTION_END_ROW,
	};

	cli_program = "bp-stress";
	options_parse_all(argc, argv, usage, rows);
	if (take + put + !!options.contexts != 1)
		cli_wrong("one of --take, --put and --idle is needed; see --help");
	if (!options.contexts && !have_ring)
		cli_wrong("--ring is needed; see --help");
	if (put && !options.target.node)
		cli_wrong("--node is needed with --put; see --help");
	if (take)
		stress_take(&options);
	else if (put)
		stress_put(&options);
	else
		stress_idle(&options);
	return 0;
}
