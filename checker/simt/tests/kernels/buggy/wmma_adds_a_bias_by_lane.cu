// SPDX-License-Identifier: MIT
// verdict: assertion wmma_adds_a_bias_by_lane.cu:33
// The bias of the lane's column is added to its elements, as if a lane had one column.
#include "checker/simt/tests/matrices.h"
#include <mma.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(32) float a[16][8], b[8][16], c[16][16];
    for (int i = lane; i < 128; i += 32) {
        a[i / 8][i % 8] = a_at(i / 8, i % 8);
        b[i / 16][i % 16] = b_at(i / 16, i % 16);
    }
    __syncwarp();
    A fragment_a;
    B fragment_b;
    C sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(fragment_a, &a[0][0], 8);
    wmma::load_matrix_sync(fragment_b, &b[0][0], 16);
    wmma::mma_sync(sums, fragment_a, fragment_b, sums);
    for (float& sum : sums.x) { sum += static_cast<float>(lane % 16); }
    wmma::store_matrix_sync(&c[0][0], sums, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) { assert(c[i / 16][i % 16] == product_at(i / 16, i % 16, 8) + i % 16); }
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
