// SPDX-License-Identifier: MIT
//
// GPT-2's operations as one table of functions: kernels on the CPU device, and the same loops in plain C++.
#pragma once

// All pointers point to device memory for kernels, and to host memory for loops.
struct Ops {
    // out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c]
    void (*matmul)(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC);
    // The same, through tiles in shared memory; N, C and OC are multiples of 16.
    void (*tiled_matmul)(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC);
    void (*layernorm)(float* out, const float* inp, const float* weight, const float* bias, int N, int C);
    // scores and att: (B, NH, T, T), of which s <= t; qkv: (B, T, 3C)
    void (*attention)(float* out, float* scores, float* att, const float* qkv, int B, int T, int C, int NH);
    void (*barriers)(int blocks, int threads, int times);
    void (*nothing)(int threads);
};

extern "C" {
extern const Ops ops;  // every shared object has one
}
extern const Ops plain_ops;
