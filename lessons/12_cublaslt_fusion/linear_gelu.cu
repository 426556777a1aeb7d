// SPDX-License-Identifier: MIT
//
// pre_gelu[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c]
// out[n, o]      = gelu(pre_gelu[n, o])
//
// One cublasLtMatmul, as linear. Its epilogue adds the bias, stores pre_gelu where that is wanted, and applies GELU.
#include "checker/cublas_lt.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
#include "plan.cuh"

void linear_gelu(float* out,           // (N, OC)
                 float* pre_gelu,      // (N, OC), OC a multiple of 8; or null where nobody needs it
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx) {
    Plans& plans = ctx.handle<Plans>();
    // TODO: as linear, with GELU. Where pre_gelu is null, nothing but out is stored. Where it is not, it is this call's.
}
