// SPDX-License-Identifier: MIT
//
// pre_gelu[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c]
// out[n, o]      = gelu(pre_gelu[n, o])
//
// One cublasLtMatmul, as linear. Its epilogue adds the bias, stores pre_gelu where that is wanted, and applies GELU.
#include <stdexcept>

#include "checker/cublas_lt.h"
#include "lessons/12_cublaslt_fusion/plan.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// As linear's; `pre_gelu` is null where the epilogue does not store it.
Plan make_plan(cublasLtHandle_t handle, const Problem& problem, const float* bias, float* pre_gelu) {
    const auto [N, C, OC, alignment, epilogue] = problem;
    Plan plan;
    // TODO: linear's, and where pre_gelu is wanted three attributes more: the auxiliary output's address, its leading
    // dimension, an std::int64_t, and its type.
    return plan;
}

}  // namespace

void linear_gelu(float* out,           // (N, OC)
                 float* pre_gelu,      // (N, OC), OC a multiple of 8; or null where nobody needs it
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx) {
    Plans& plans = ctx.handle<Plans>();
    const float alpha = 1.0f, beta = 0.0f;
    // TODO: linear's call, with the epilogue that there must be, with and without pre_gelu.
}
