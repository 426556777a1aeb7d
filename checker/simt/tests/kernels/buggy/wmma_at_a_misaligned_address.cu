// SPDX-License-Identifier: MIT
// verdict: misaligned wmma_at_a_misaligned_address.cu:21
// The matrix begins at the second row of 48 bytes, which is not a multiple of 32 bytes.
#include "checker/simt/tests/matrices.h"
#include <mma.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(32) float a[17][12];
    for (int i = lane; i < 17 * 12; i += 32) { a[i / 12][i % 12] = 0.0f; }
    __syncwarp();
    A fragment_a;
    wmma::load_matrix_sync(fragment_a, &a[1][0], 12);
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
