// SPDX-License-Identifier: MIT
//
// out[n, o] = gelu(bias[o] + sum over c of inp[n, c] * weight[o, c])
//
// Lesson 10's matmul with an epilogue: the bias is added and GELU applied while the sums are in registers.
#include "lessons/12_cublaslt_fusion/product.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

__global__ void __launch_bounds__(kThreads, kResident)
    matmul_gelu_forward_kernel(float* out,           // (N, OC)
                               const float* inp,     // (N, C)
                               const float* weight,  // (OC, C)
                               const float* bias,    // (OC)
                               int N, int C, int OC,
                               bool store_4) {  // each row of out starts at a multiple of 16 bytes
    Sums sums = {};
    const Place at = sum_products(sums, inp, weight, N, C, OC);
    // >>> solution
    //~ // TODO: put gelu(sum + bias) in place of each sum. Column j of sums is column at.o + column_of(j) of out; beyond OC there
    //~ // is no bias, and what becomes of the sum does not matter. Then `store`.
#pragma unroll
    for (int j = 0; j < kThreadOC; j++) {
        const int o = at.o + column_of(j);
        const float b = o < OC ? bias[o] : 0.0f;
#pragma unroll
        for (int i = 0; i < kThreadN; i++) {
            const float x = sums[i][j] + b;
            sums[i][j] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));  // sqrt(2 / pi)
        }
    }
    store(out, sums, at, N, OC, store_4);
    // <<< solution
}

}  // namespace

void matmul_gelu(float* out,           // (N, OC)
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx) {
    const unsigned int blocks = ceil_div(N, kBlockN) * ceil_div(OC, kBlockOC);
    const bool store_4 = OC % 4 == 0 && is_aligned_16(out);
    matmul_gelu_forward_kernel<<<blocks, kThreads, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, store_4);
    check(cudaGetLastError());
}
