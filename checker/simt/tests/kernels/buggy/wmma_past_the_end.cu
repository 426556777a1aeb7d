// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared wmma_past_the_end.cu:21
// The tile of A has 12 rows, a fragment 16.
#include "checker/simt/tests/matrices.h"
#include <mma.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(32) float a[12][8];
    for (int i = lane; i < 96; i += 32) { a[i / 8][i % 8] = 0.0f; }
    __syncwarp();
    A fragment_a;
    wmma::load_matrix_sync(fragment_a, &a[0][0], 8);
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
