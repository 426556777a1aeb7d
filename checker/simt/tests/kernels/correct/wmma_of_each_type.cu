// SPDX-License-Identifier: MIT
// verdict: correct
// The product by every shape and type that the device has, with both layouts, and an element-wise function of it.
#include "checker/simt/tests/matrices.h"
#include <mma.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

using namespace nvcuda;

template <class T>
__device__ T element(float x) {
    return static_cast<T>(x);
}

// Twice the product, and 1.
template <class T, int m, int n, int k, class LayoutA, class LayoutB, class C>
__device__ void product(C* c) {
    using Element = typename wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA>::storage_element_type;
    __shared__ alignas(32) Element a[m * k], b[k * n];
    constexpr bool kRowsOfA = std::is_same_v<LayoutA, wmma::row_major>, kRowsOfB = std::is_same_v<LayoutB, wmma::row_major>;
    for (int i = static_cast<int>(threadIdx.x); i < m * k; i += 32) {
        a[kRowsOfA ? i : i % k * m + i / k] = element<Element>(a_at(i / k, i % k));
    }
    for (int i = static_cast<int>(threadIdx.x); i < k * n; i += 32) {
        b[kRowsOfB ? i : i % n * k + i / n] = element<Element>(b_at(i / n, i % n));
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fragment_a;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fragment_b;
    wmma::fragment<wmma::accumulator, m, n, k, C> sums, ones;
    wmma::fill_fragment(sums, element<C>(0.0f));
    wmma::fill_fragment(ones, element<C>(1.0f));
    wmma::load_matrix_sync(fragment_a, a, kRowsOfA ? k : m);
    wmma::load_matrix_sync(fragment_b, b, kRowsOfB ? n : k);
    wmma::mma_sync(sums, fragment_a, fragment_b, sums);
    wmma::store_matrix_sync(c, sums, m, wmma::mem_col_major);
    __syncwarp();
    wmma::load_matrix_sync(sums, c, m, wmma::mem_col_major);
    for (int i = 0; i < sums.num_elements; i++) { sums.x[i] = sums.x[i] + sums.x[i] + ones.x[i]; }
    __syncwarp();
    wmma::store_matrix_sync(c, sums, n, wmma::mem_row_major);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x); i < m * n; i += 32) {
        assert(static_cast<float>(c[i]) == 2 * product_at(i / n, i % n, k) + 1);
    }
    __syncwarp();
}

__global__ void kernel() {
    __shared__ alignas(32) float c[256];
    __shared__ alignas(32) __half halves[256];
    product<wmma::precision::tf32, 16, 16, 8, wmma::row_major, wmma::col_major>(c);
    product<wmma::precision::tf32, 16, 16, 8, wmma::col_major, wmma::row_major>(c);
    product<__nv_bfloat16, 16, 16, 16, wmma::row_major, wmma::row_major>(c);
    product<__nv_bfloat16, 32, 8, 16, wmma::col_major, wmma::col_major>(c);
    product<__nv_bfloat16, 8, 32, 16, wmma::row_major, wmma::col_major>(c);
    product<__half, 16, 16, 16, wmma::row_major, wmma::col_major>(c);
    product<__half, 32, 8, 16, wmma::row_major, wmma::row_major>(c);
    product<__half, 8, 32, 16, wmma::col_major, wmma::col_major>(c);
    product<__half, 16, 16, 16, wmma::row_major, wmma::col_major>(halves);
    product<__half, 32, 8, 16, wmma::col_major, wmma::row_major>(halves);
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
