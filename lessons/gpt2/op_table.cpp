// SPDX-License-Identifier: MIT
//
// Linked into every implementation. The weak references let one file serve every lesson: an op that nothing in the
// shared object defines is null in the table.
#include "lessons/gpt2/op_table.h"

extern decltype(encoder) encoder __attribute__((weak));
extern decltype(layernorm) layernorm __attribute__((weak));
extern decltype(gelu) gelu __attribute__((weak));
extern decltype(residual) residual __attribute__((weak));
extern decltype(matmul) matmul __attribute__((weak));
extern decltype(causal_softmax) causal_softmax __attribute__((weak));
extern decltype(attention) attention __attribute__((weak));
extern decltype(attention_scratch_bytes) attention_scratch_bytes __attribute__((weak));
extern decltype(softmax) softmax __attribute__((weak));
extern decltype(crossentropy) crossentropy __attribute__((weak));
extern decltype(forward) forward __attribute__((weak));
extern decltype(forward_scratch_bytes) forward_scratch_bytes __attribute__((weak));

extern "C" const OpTable op_table = {
    .encoder = encoder,
    .layernorm = layernorm,
    .gelu = gelu,
    .residual = residual,
    .matmul = matmul,
    .causal_softmax = causal_softmax,
    .attention = attention,
    .attention_scratch_bytes = attention_scratch_bytes,
    .softmax = softmax,
    .crossentropy = crossentropy,
    .forward = forward,
    .forward_scratch_bytes = forward_scratch_bytes,
};
