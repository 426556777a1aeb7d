// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared ldmatrix_of_global_memory.cu:11
// The rows lie in global memory.
#include "checker/simt/tests/matrices.h"

__device__ alignas(16) std::uint32_t in_global[16][4];

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    std::uint32_t two[2];
    ptx::ldmatrix(two, in_global[lane % 16]);
}

int main() { return run_block(kernel); }
