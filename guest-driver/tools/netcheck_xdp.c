// SPDX-License-Identifier: Apache-2.0
/* XDP programs of a few instructions, without a compiler for them. */
#include "netcheck.h"

#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"

#define INSTRUCTION(op, to, from, offset, value) \
	{ .code = (op), .dst_reg = (to), .src_reg = (from), .off = (offset), .imm = (value) }
#define MOVE(to, from) INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define SET(to, value) INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define ADD(to, value) INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value)
#define LOAD(size, to, from, offset) INSTRUCTION(BPF_LDX | BPF_MEM | (size), to, from, offset, 0)
#define STORE(size, to, from, offset) INSTRUCTION(BPF_STX | BPF_MEM | (size), to, from, offset, 0)
#define JUMP_GREATER(a, b, offset) INSTRUCTION(BPF_JMP | BPF_JGT | BPF_X, a, b, offset, 0)
#define JUMP_NOT_EQUAL(a, value, offset) INSTRUCTION(BPF_JMP | BPF_JNE | BPF_K, a, 0, offset, value)
#define EXIT INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* 0x88b5, the type of our frames, as a little-endian machine loads it. */
#define OUR_TYPE 0xb588

static const struct bpf_insn pass[] = { SET(0, XDP_PASS), EXIT };

/* Loads the type of a frame into register 4, if there is one; register 2: data. What is not ours passes. */
#define IF_OURS(rest) \
	LOAD(BPF_W, 2, 1, 0), LOAD(BPF_W, 3, 1, 4), SET(0, XDP_PASS), MOVE(4, 2), ADD(4, 14), \
		JUMP_GREATER(4, 3, (rest) + 2), LOAD(BPF_H, 4, 2, 12), JUMP_NOT_EQUAL(4, OUR_TYPE, rest)

static const struct bpf_insn drop[] = { IF_OURS(1), SET(0, XDP_DROP), EXIT };

/* Sends our frames back: destination and source change places. */
static const struct bpf_insn send_back[] = {
	IF_OURS(9),
	LOAD(BPF_W, 3, 2, 0),
	LOAD(BPF_H, 4, 2, 4),
	LOAD(BPF_W, 5, 2, 6),
	LOAD(BPF_H, 6, 2, 10),
	STORE(BPF_W, 2, 5, 0),
	STORE(BPF_H, 2, 6, 4),
	STORE(BPF_W, 2, 3, 6),
	STORE(BPF_H, 2, 4, 10),
	SET(0, XDP_TX),
	EXIT,
};

static int bpf(int command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static int loaded(const struct bpf_insn *program, size_t count)
{
	static char log[65536];
	union bpf_attr attributes;
	int file;

	memset(&attributes, 0, sizeof(attributes));
	attributes.prog_type = BPF_PROG_TYPE_XDP;
	attributes.insns = (uint64_t)(uintptr_t)program;
	attributes.insn_cnt = (uint32_t)count;
	attributes.license = (uint64_t)(uintptr_t)"Apache-2.0";
	attributes.log_level = 1;
	attributes.log_buf = (uint64_t)(uintptr_t)log;
	attributes.log_size = sizeof(log);
	file = bpf(BPF_PROG_LOAD, &attributes);
	if (file < 0)
		cli_fail("the kernel does not take the program: %s\n%s", strerror(errno), log);
	return file;
}

static void attach(int program, const char *interface)
{
	union bpf_attr attributes;

	memset(&attributes, 0, sizeof(attributes));
	attributes.link_create.prog_fd = (uint32_t)program;
	attributes.link_create.target_ifindex = if_nametoindex(interface);
	attributes.link_create.attach_type = BPF_XDP;
	attributes.link_create.flags = 1U << 2; /* XDP_FLAGS_DRV_MODE: by the driver, not by the stack */
	/* The link ends with this process. */
	if (bpf(BPF_LINK_CREATE, &attributes) < 0)
		cli_fail("%s does not take the program: %s", interface, strerror(errno));
}

static void ended(int signal)
{
	(void)signal;
}

void netcheck_xdp(const struct netcheck_options *options, const char *action)
{
	const struct sigaction quiet = { .sa_handler = ended };
	sigset_t blocked, before;
	int program;

	if (!options->interface)
		cli_wrong("--interface is missing");
	if (!strcmp(action, "pass"))
		program = loaded(pass, sizeof(pass) / sizeof(pass[0]));
	else if (!strcmp(action, "drop"))
		program = loaded(drop, sizeof(drop) / sizeof(drop[0]));
	else if (!strcmp(action, "tx"))
		program = loaded(send_back, sizeof(send_back) / sizeof(send_back[0]));
	else
		cli_wrong("%s is not an action of XDP: pass, drop or tx", action);
	/* The signal may come as soon as we have said that we are there. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGTERM, &quiet, NULL);
	attach(program, options->interface);
	puts("attached");
	fflush(stdout);
	sigsuspend(&before);
}
