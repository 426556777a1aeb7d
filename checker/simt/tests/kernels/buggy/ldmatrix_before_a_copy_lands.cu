// SPDX-License-Identifier: MIT
// verdict: uninitialised shared ldmatrix_before_a_copy_lands.cu:17
// The copies of the tile are not waited for.
#include "checker/simt/tests/matrices.h"

__device__ alignas(16) std::uint32_t in_global[8][4];

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[8][4];
    if (lane < 8) {
        ptx::cp_async<16>(rows[lane], in_global[lane]);
    }
    ptx::cp_async_commit();
    __syncwarp();
    std::uint32_t one[1];
    ptx::ldmatrix(one, rows[lane % 8]);
    ptx::cp_async_wait<0>();
}

int main() { return run_block(kernel); }
