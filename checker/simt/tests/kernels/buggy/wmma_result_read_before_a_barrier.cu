// SPDX-License-Identifier: MIT
// verdict: race shared wmma_result_read_before_a_barrier.cu:30 wmma_result_read_before_a_barrier.cu:32
// The lanes read what others of their warp have stored, with no __syncwarp between.
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
    wmma::store_matrix_sync(&c[0][0], sums, 16, wmma::mem_row_major);
    float total = 0.0f;
    for (int i = 0; i < 16; i++) { total += c[lane % 16][i]; }
    assert(total < 1000.0f);
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
