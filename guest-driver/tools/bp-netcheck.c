// SPDX-License-Identifier: Apache-2.0
/* Sends frames, datagrams and streams whose contents the receiver checks. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "netcheck.h"

static const char usage[] =
	"usage: bp-netcheck receive|send frames|mtus --interface IF --node N --sizes FROM-TO[/STEP]\n"
	"       bp-netcheck receive|send udp|gso --sizes FROM-TO[/STEP] [--to ADDRESS] [--gro]\n"
	"       bp-netcheck receive|send tcp [--to ADDRESS] [--bytes N | --seconds S]\n"
	"       bp-netcheck send echo --interface IF --node N --sizes FROM-TO[/STEP]\n"
	"       bp-netcheck xdp pass|drop|tx --interface IF\n"
	"       bp-netcheck guard\n"
	"\n"
	"Sends to a second bp-netcheck, which checks that everything arrives once, in order, with the right contents.\n"
	"The receiver is started first, with the same options, and says \"ready\". Both need root.\n"
	"\n"
	"  frames          Ethernet frames without IP, with payloads of each size\n"
	"  mtus            sets the MTU on both sides to each size, and sends a frame of just that size\n"
	"  udp             datagrams with payloads of each size, each one frame\n"
	"  gso             datagrams of each size, 41 in one write; --gro: the receiver may get several in one read\n"
	"  tcp             a stream, over IPv4 or IPv6\n"
	"  echo            frames that the other node sends back, by \"xdp tx\"\n"
	"  xdp             attaches a program to the interface until it is ended by a signal; drop and tx act\n"
	"                  on the frames of \"frames\" and \"echo\" alone\n"
	"  guard           fills most of the free memory, and looks after SIGTERM whether it is unchanged\n"
	"  --interface IF  network interface\n"
	"  --node N        the other node\n"
	"  --to ADDRESS    the receiver's address, for the sender\n"
	"  --sizes F-T/S   from F to T bytes, in steps of S (1)\n"
	"  --bytes N       length of the stream (1M)\n"
	"  --seconds S     for so long\n";

static void parse_sizes(struct netcheck_options *options, const char *text)
{
	char *end;

	options->from = (unsigned int)strtoul(text, &end, 10);
	options->to = options->from;
	options->step = 1;
	if (*end == '-')
		options->to = (unsigned int)strtoul(end + 1, &end, 10);
	if (*end == '/')
		options->step = (unsigned int)strtoul(end + 1, &end, 10);
	if (*end || !options->from || options->to < options->from || options->to > NETCHECK_MAX || !options->step)
		cli_wrong("--sizes %s: FROM-TO/STEP, from 1 to %d", text, NETCHECK_MAX);
}

static void receive_what(const char *what, const struct netcheck_options *options)
{
	if (!strcmp(what, "frames"))
		netcheck_receive_sizes(netcheck_raw(options), options);
	else if (!strcmp(what, "udp"))
		netcheck_receive_sizes(netcheck_udp(options), options);
	else if (!strcmp(what, "mtus"))
		netcheck_receive_mtus(options);
	else if (!strcmp(what, "gso"))
		netcheck_receive_gso(options);
	else if (!strcmp(what, "tcp"))
		netcheck_receive_tcp();
	else
		cli_wrong("receive %s: frames, mtus, udp, gso or tcp", what);
}

static void send_what(const char *what, const struct netcheck_options *options)
{
	if ((!strcmp(what, "udp") || !strcmp(what, "gso")) && !options->address)
		cli_wrong("--to is missing");
	if (!strcmp(what, "frames"))
		netcheck_send_sizes(netcheck_raw(options), options);
	else if (!strcmp(what, "udp"))
		netcheck_send_sizes(netcheck_udp(options), options);
	else if (!strcmp(what, "mtus"))
		netcheck_send_mtus(options);
	else if (!strcmp(what, "gso"))
		netcheck_send_gso(options);
	else if (!strcmp(what, "tcp"))
		netcheck_send_tcp(options);
	else if (!strcmp(what, "echo"))
		netcheck_echo(options);
	else
		cli_wrong("send %s: frames, mtus, udp, gso, tcp or echo", what);
}

static int parse(int argc, char **argv, struct netcheck_options *options)
{
	static const struct option longs[] = {
		{ "interface", required_argument, NULL, 'i' },
		{ "node", required_argument, NULL, 'n' },
		{ "to", required_argument, NULL, 't' },
		{ "sizes", required_argument, NULL, 's' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "seconds", required_argument, NULL, 'S' },
		{ "gro", no_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			options->interface = optarg;
			break;
		case 'n':
			options->node = (unsigned int)cli_number("--node", optarg, 1, 4096);
			break;
		case 't':
			options->address = optarg;
			break;
		case 's':
			parse_sizes(options, optarg);
			break;
		case 'b':
			options->bytes = cli_number("--bytes", optarg, 1, UINT64_MAX);
			break;
		case 'S':
			options->microseconds = cli_seconds("--seconds", optarg);
			break;
		case 'g':
			options->gro = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			exit(CLI_USAGE);
		}
	}
	return optind;
}

int main(int argc, char **argv)
{
	struct netcheck_options options = { .from = 1, .to = 1500, .step = 1, .bytes = 1 << 20 };
	int first;

	cli_program = "bp-netcheck";
	first = parse(argc, argv, &options);
	if (argc - first == 1 && !strcmp(argv[first], "guard")) {
		netcheck_guard();
		return 0;
	}
	if (argc - first != 2)
		cli_wrong("what is to be done? Try --help");
	if (!strcmp(argv[first], "receive"))
		receive_what(argv[first + 1], &options);
	else if (!strcmp(argv[first], "send"))
		send_what(argv[first + 1], &options);
	else if (!strcmp(argv[first], "xdp"))
		netcheck_xdp(&options, argv[first + 1]);
	else
		cli_wrong("%s: receive, send, xdp or guard", argv[first]);
	return 0;
}
