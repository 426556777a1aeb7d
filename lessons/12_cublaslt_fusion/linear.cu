// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c]
//
// One cublasLtMatmul. cuBLASLt counts by columns, as cuBLAS does: it computes out^T = weight inp^T, whose row o is channel o.
// Its epilogue adds bias[o] to row o before a result is stored.
#include <stdexcept>

#include "checker/cublas_lt.h"
#include "lessons/12_cublaslt_fusion/plan.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// The plan of a product. `bias` is any that it will be used with: cuBLASLt looks at its alignment.
Plan make_plan(cublasLtHandle_t handle, const Problem& problem, const float* bias) {
    const auto [N, C, OC, alignment, epilogue] = problem;
    Plan plan;
    // TODO: the descriptor: its precision, which operand is transposed, the epilogue, the bias. The three layouts. A
    // preference: how much workspace there may be, and the alignment. Then one algorithm from
    // cublasLtMatmulAlgoGetHeuristic and the workspace that it needs; std::runtime_error where there is none.
    return plan;
}

}  // namespace

void linear(float* out,           // (N, OC)
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC)
            int N, int C, int OC, Context& ctx) {
    Plans& plans = ctx.handle<Plans>();
    const float alpha = 1.0f, beta = 0.0f;  // beta 0: out is not read
    // TODO: the plan of this problem, made when it is first met. Its bias. One cublasLtMatmul on ctx.stream, in a workspace
    // of the Context.
}
