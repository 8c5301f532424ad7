// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <string.h>

uint32_t payload_crc32(const void *data, size_t length)
{
	static uint32_t table[256];
	const unsigned char *bytes = data;
	uint32_t crc, i, bit;

	if (!table[1]) {
		for (i = 0; i < 256; i++) {
			crc = i;
			for (bit = 0; bit < 8; bit++)
				crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
			table[i] = crc;
		}
	}
	crc = UINT32_MAX;
	while (length--)
		crc = crc >> 8 ^ table[(crc ^ *bytes++) & 0xff];
	return ~crc;
}

void payload_fill(void *data, size_t length, uint64_t seed)
{
	unsigned char *bytes = data;
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
	size_t part;

	while (length) {
		/* xorshift64* */
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		part = length < sizeof(state) ? length : sizeof(state);
		memcpy(bytes, &(uint64_t){ state * 0x2545f4914f6cdd1d }, part);
		bytes += part;
		length -= part;
	}
}
