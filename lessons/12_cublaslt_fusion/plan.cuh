// SPDX-License-Identifier: MIT
//
// The helper of linear and linear_gelu: for each problem a descriptor, the layouts of its matrices and an algorithm, kept between
// calls. The choice of the algorithm is yours.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <stdexcept>

#include "checker/cublas_lt.h"
#include "checker/cuda_check.h"
#include "lessons/gpt2/context.h"

namespace {

// A product that an algorithm is chosen for. It need not be able to do any other.
struct Problem {
    int N, C, OC;
    std::uint32_t alignment;  // bytes; every pointer of the call is a multiple of it
    cublasLtEpilogue_t epilogue;
    auto operator<=>(const Problem&) const = default;
};

struct Plan {
    checker::MatmulDesc desc;
    checker::MatrixLayout weight, inp, out;
    cublasLtMatmulAlgo_t algorithm{};
    std::size_t workspace_bytes = 0;  // the algorithm needs them
};

// The largest power of two up to 256 that all of these are multiples of; a null pointer is a multiple of anything.
template <class... Pointers>
inline std::uint32_t alignment_of(Pointers... pointers) {
    return std::uint32_t{1} << std::countr_zero(
               (reinterpret_cast<std::uintptr_t>(pointers) | ... | std::uintptr_t{256}));
}

// A dense matrix of floats as cuBLASLt counts: its columns follow each other.
inline checker::MatrixLayout floats(int rows, int columns) {
    return {CUDA_R_32F, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows};
}

// Returns the workspace that NVIDIA recommends to allow: 32 MiB from Hopper on, 4 MiB before.
inline std::uint64_t most_workspace_bytes() {
    int device = 0, major = 0;
    checker::check(cudaGetDevice(&device));
    checker::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return std::uint64_t{major >= 9 ? 32U : 4U} << 20;
}

// The plan of a problem, but for its epilogue and its algorithm: out^T = weight inp^T by columns, in TF32.
inline Plan product_of(const Problem& problem) {
    const auto [N, C, OC, alignment, epilogue] = problem;
    Plan plan;
    plan.desc = {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};  // products of TF32; alpha and beta are float
    plan.desc.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    plan.weight = floats(C, OC);
    plan.inp = floats(C, N);
    plan.out = floats(OC, N);
    return plan;
}

// The whole plan. `bias` is any that it will be used with, since cuBLASLt looks at its alignment; so is `pre_gelu`, which is null
// where the epilogue stores no such output.
inline Plan make_plan(cublasLtHandle_t handle, const Problem& problem, const float* bias, float* pre_gelu) {
    Plan plan = product_of(problem);
    // TODO: choose the algorithm. When cuBLASLt is asked for one, plan.desc must say all that a call of this problem does
    // after the product, and a preference what the algorithm may use and what it may rely on. Then `plan` holds the
    // algorithm and the workspace that it needs; where there is none, std::runtime_error.
    return plan;
}

// All plans of a Context: ctx.handle<Plans>().
class Plans {
  public:
    // The problem's plan, made when it is first met.
    Plan& at(const Problem& problem, const float* bias, float* pre_gelu) {
        auto found = plans_.find(problem);
        if (found == plans_.end()) {
            found = plans_.emplace(problem, make_plan(handle_, problem, bias, pre_gelu)).first;
        }
        return found->second;
    }

    // One call of the library: out = epilogue(weight inp), on the Context's stream.
    void launch(const Plan& plan, float* out, const float* inp, const float* weight, Context& ctx) {
        constexpr std::size_t kWorkspaceAlignment = 256;  // bytes
        const float alpha = 1.0f, beta = 0.0f;            // beta 0: out is not read
        void* workspace = ctx.workspace(plan.workspace_bytes, kWorkspaceAlignment);
        checker::check(cublasLtMatmul(handle_, plan.desc, &alpha, weight, plan.weight, inp, plan.inp,  //
                                      &beta, out, plan.out, out, plan.out,                             //
                                      &plan.algorithm, workspace, plan.workspace_bytes, ctx.stream));
    }

  private:
    checker::CublasLtHandle handle_;
    std::map<Problem, Plan> plans_;
};

}  // namespace
