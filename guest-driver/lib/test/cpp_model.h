/* SPDX-License-Identifier: Apache-2.0 */
/* The model of the module (model.h), for a test in C++. One context and one ring. */
#ifndef BP_CPP_MODEL_H
#define BP_CPP_MODEL_H

#include <stdint.h>

#include "../../include/backplane.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_context *cpp_model_context(void);
struct bp_ring *cpp_model_ring(void);

/* How actions end from now on: BP_IMM_STATUS_*. */
void cpp_model_status(unsigned int next);

/* Appends an element. */
void cpp_model_put(const char *payload, uint64_t tag);

/* Carries out what was submitted. */
unsigned int cpp_model_run(void);

void cpp_model_free(void);

#ifdef __cplusplus
}
#endif

#endif /* BP_CPP_MODEL_H */
