// SPDX-License-Identifier: Apache-2.0
/* Codes and texts. */

#include <errno.h>
#include <string.h>

#include "check.h"
#include "model.h"

static void every_status_has_a_text_of_its_own(void)
{
	const char *texts[BP_IMM_STATUS_NO_SUCH_MEMORY + 1];
	uint32_t status, other;

	for (status = BP_IMM_STATUS_OK; status <= BP_IMM_STATUS_NO_SUCH_MEMORY; status++) {
		texts[status] = bp_strerror(bp_code_of(status));
		CHECK(texts[status][0]);
		CHECK(!strstr(texts[status], "unknown"));
		for (other = BP_IMM_STATUS_OK; other < status; other++)
			CHECK(strcmp(texts[other], texts[status]));
	}
}

static void a_status_of_tomorrow_is_an_error(void)
{
	CHECK_EQUAL(-EPROTO, bp_code_of(BP_IMM_STATUS_NONE));
	CHECK_EQUAL(-EPROTO, bp_code_of(BP_IMM_STATUS_NO_SUCH_MEMORY + 1));
	CHECK_EQUAL(-EPROTO, bp_code_of(UINT32_MAX));
}

static void every_code_has_a_text(void)
{
	int code;

	for (code = -2000; code < 10; code++)
		CHECK(bp_strerror(code)[0]);
	CHECK(bp_strerror(-2147483647)[0]);
}

int main(void)
{
	RUN(every_status_has_a_text_of_its_own);
	RUN(a_status_of_tomorrow_is_an_error);
	RUN(every_code_has_a_text);
	return 0;
}
