// SPDX-License-Identifier: MIT
//
// What linear and linear_gelu keep between calls: for each shape the descriptors of its product and an algorithm.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <map>

#include "checker/cublas_lt.h"
#include "checker/cuda_check.h"

namespace {

// What an algorithm is chosen for. It need not be able to do anything else.
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
    std::size_t workspace_bytes = 0;  // which the algorithm needs
};

// A Context keeps it: ctx.handle<Plans>().
struct Plans {
    checker::CublasLtHandle handle;
    std::map<Problem, Plan> of;
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

constexpr std::size_t kWorkspaceAlignment = 256;  // bytes

// What NVIDIA recommends that an algorithm may use: 32 MiB from Hopper on, 4 MiB before.
inline std::uint64_t most_workspace_bytes() {
    int device = 0, major = 0;
    checker::check(cudaGetDevice(&device));
    checker::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return std::uint64_t{major >= 9 ? 32U : 4U} << 20;
}

}  // namespace
