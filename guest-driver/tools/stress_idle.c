// SPDX-License-Identifier: Apache-2.0
/* bp-stress: many contexts that do nothing, and now and then one that does something. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cli.h"
#include "stress.h"

/* A context may need a doorbell for its first action; whatever it needs, it ends. */
static void put_one(struct bp_context *context, struct bp_ring *ring, const struct bp_target *target, uint64_t tag)
{
	struct bp_element element;
	int code = bp_put(context, target, &tag, sizeof(tag), tag);

	if (code)
		cli_fail_code("put", code);
	code = bp_ring_poll(ring, &element, 10000000);
	if (code < 0)
		cli_fail_code("taking an element", code);
	if (!code || element.tag != tag)
		cli_fail("the element did not come");
	bp_ring_release(ring);
}

void stress_idle(const struct stress_options *options)
{
	struct bp_context **contexts = calloc(options->contexts, sizeof(struct bp_context *));
	const rlim_t files = options->contexts + 32;
	struct bp_target target = { 0 };
	struct bp_ring *ring = NULL;
	char line[32];
	uint32_t i;
	int code;

	if (!contexts)
		cli_fail("out of memory");
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ .rlim_cur = files, .rlim_max = files });
	for (i = 0; i < options->contexts; i++) {
		code = bp_open(&contexts[i], options->device, BP_OPEN_YIELD);
		if (code)
			cli_fail("opening context %u: %s", i, bp_strerror(code));
		if (!i) {
			code = bp_ring_create(contexts[0], BP_ANY_RING, 4096, 0, NULL, &ring);
			if (code)
				cli_fail_code("making a ring", code);
			target.node = (uint16_t)bp_node(contexts[0]);
			target.ring = bp_ring_id(ring);
		}
		put_one(contexts[i], ring, &target, i);
	}
	printf("%u contexts are idle\n", options->contexts);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		i = (uint32_t)strtoul(line, NULL, 10) % options->contexts;
		put_one(contexts[i], ring, &target, i);
		printf("context %u has put\n", i);
		fflush(stdout);
	}
	for (i = options->contexts; i-- > 0;)
		bp_close(contexts[i]);
	free(contexts);
}
