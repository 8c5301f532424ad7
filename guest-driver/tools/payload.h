/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads whose contents can be checked. */
#ifndef BP_PAYLOAD_H
#define BP_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as in zip and Ethernet (polynomial 0xedb88320, reflected). */
uint32_t payload_crc32(const void *data, size_t length);

/* Fills a payload; the same seed gives the same bytes. */
void payload_fill(void *data, size_t length, uint64_t seed);

#endif /* BP_PAYLOAD_H */
