// SPDX-License-Identifier: MIT
//
// One implementation is one shared object; it exports this table, `extern "C" const OpTable op_table`, which the
// checker finds after dlopen. An op that the object does not contain is null.
#pragma once

#include "lessons/gpt2/ops.h"

struct OpTable {
    decltype(&::encoder) encoder;
    decltype(&::layernorm) layernorm;
    decltype(&::gelu) gelu;
    decltype(&::residual) residual;
    decltype(&::matmul) matmul;
    decltype(&::causal_softmax) causal_softmax;
    decltype(&::attention) attention;
    decltype(&::attention_scratch_bytes) attention_scratch_bytes;
    decltype(&::softmax) softmax;
    decltype(&::crossentropy) crossentropy;
    decltype(&::forward) forward;
    decltype(&::forward_scratch_bytes) forward_scratch_bytes;
};
