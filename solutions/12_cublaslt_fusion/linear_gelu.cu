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
    // >>> solution
    //~ // TODO: linear's, and where pre_gelu is wanted three attributes more: the auxiliary output's address, its leading
    //~ // dimension, an std::int64_t, and its type.
    plan.desc = {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};  // products of TF32; alpha and beta are float
    plan.desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    plan.desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    if (pre_gelu) {
        plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pre_gelu);
        plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{OC});
        plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_32F);
    }
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

void linear_gelu(float* out,           // (N, OC)
                 float* pre_gelu,      // (N, OC), OC a multiple of 8; or null where nobody needs it
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx) {
    Plans& plans = ctx.handle<Plans>();
    const float alpha = 1.0f, beta = 0.0f;
    // >>> solution
    //~ // TODO: linear's call, with the epilogue that there must be, with and without pre_gelu.
    const cublasLtEpilogue_t epilogue = pre_gelu ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
    const Problem problem{N, C, OC, alignment_of(out, pre_gelu, inp, weight, bias), epilogue};
    auto found = plans.of.find(problem);
    if (found == plans.of.end()) {
        found = plans.of.emplace(problem, make_plan(plans.handle, problem, bias, pre_gelu)).first;
    }
    Plan& plan = found->second;
    plan.desc.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    if (pre_gelu) {
        plan.desc.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pre_gelu);
    }
    void* workspace = ctx.workspace(plan.workspace_bytes, kWorkspaceAlignment);
    check(cublasLtMatmul(plans.handle, plan.desc, &alpha, weight, plan.weight, inp, plan.inp,  //
                         &beta, out, plan.out, out, plan.out,                                  //
                         &plan.algorithm, workspace, plan.workspace_bytes, ctx.stream));
    // <<< solution
}
