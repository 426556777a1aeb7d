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
    // >>> solution
    //~ // TODO: the descriptor: its precision, which operand is transposed, the epilogue, the bias. The three layouts. A
    //~ // preference: how much workspace there may be, and the alignment. Then one algorithm from
    //~ // cublasLtMatmulAlgoGetHeuristic and the workspace that it needs; std::runtime_error where there is none.
    plan.desc = {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};  // products of TF32; alpha and beta are float
    plan.desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    plan.desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    plan.weight = floats(C, OC);
    plan.inp = floats(C, N);
    plan.out = floats(OC, N);

    const checker::MatmulPreference preference(most_workspace_bytes(), alignment);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle, plan.desc, plan.weight, plan.inp, plan.out, plan.out, preference, 1,
                                         &found, &count));
    if (count == 0) {
        throw std::runtime_error("cuBLASLt has no algorithm for this product and its epilogue");
    }
    check(found.state);
    plan.algorithm = found.algo;
    plan.workspace_bytes = found.workspaceSize;
    // <<< solution
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
    // >>> solution
    //~ // TODO: the plan of this problem, made when it is first met. Its bias. One cublasLtMatmul on ctx.stream, in a workspace
    //~ // of the Context.
    const Problem problem{N, C, OC, alignment_of(out, inp, weight, bias), CUBLASLT_EPILOGUE_BIAS};
    auto found = plans.of.find(problem);
    if (found == plans.of.end()) {
        found = plans.of.emplace(problem, make_plan(plans.handle, problem, bias)).first;
    }
    Plan& plan = found->second;
    plan.desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    void* workspace = ctx.workspace(plan.workspace_bytes, kWorkspaceAlignment);
    check(cublasLtMatmul(plans.handle, plan.desc, &alpha, weight, plan.weight, inp, plan.inp,  //
                         &beta, out, plan.out, out, plan.out,                                  //
                         &plan.algorithm, workspace, plan.workspace_bytes, ctx.stream));
    // <<< solution
}
