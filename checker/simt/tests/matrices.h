// SPDX-License-Identifier: MIT
//
// Matrices of small whole numbers, which TF32, bf16 and fp16 hold, and a warp that multiplies them.
#pragma once

#include <cuda_fp16.h>

#include <cassert>

#include "checker/ptx.h"
#include "checker/simt/tests/run.h"

// An element of A (m, k), of B (k, n), and of their product with `depth` of k.
__device__ __forceinline__ float a_at(int m, int k) {
    return static_cast<float>((3 * m + 5 * k) % 7 - 3);
}
__device__ __forceinline__ float b_at(int k, int n) {
    return static_cast<float>((2 * k + 3 * n + k * n) % 5 - 1);
}
__device__ __forceinline__ float product_at(int m, int n, int depth) {
    float sum = 0.0f;
    for (int k = 0; k < depth; k++) { sum += a_at(m, k) * b_at(k, n); }
    return sum;
}

__device__ __forceinline__ std::uint32_t half2_bits(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
}

// The fragments of m16n8k8 in TF32, and of m16n8k16 in bf16.
__device__ __forceinline__ ptx::Tf32A tf32_a(int lane) {
    const int g = lane / 4, q = lane % 4;
    ptx::Tf32A a;
    for (int i = 0; i < 4; i++) { a.x[i] = ptx::to_tf32(a_at(g + 8 * (i % 2), q + 4 * (i / 2))); }
    return a;
}
__device__ __forceinline__ ptx::Tf32B tf32_b(int lane) {
    const int g = lane / 4, q = lane % 4;
    return {{ptx::to_tf32(b_at(q, g)), ptx::to_tf32(b_at(q + 4, g))}};
}
__device__ __forceinline__ ptx::Bf16A bf16_a(int lane) {
    const int g = lane / 4, q = lane % 4;
    ptx::Bf16A a;
    for (int i = 0; i < 4; i++) {
        const int m = g + 8 * (i % 2), k = 2 * q + 8 * (i / 2);
        a.x[i] = ptx::to_bf16x2(a_at(m, k), a_at(m, k + 1));
    }
    return a;
}
__device__ __forceinline__ ptx::Bf16B bf16_b(int lane) {
    const int g = lane / 4, q = lane % 4;
    ptx::Bf16B b;
    for (int i = 0; i < 2; i++) { b.x[i] = ptx::to_bf16x2(b_at(2 * q + 8 * i, g), b_at(2 * q + 8 * i + 1, g)); }
    return b;
}

// Returns true if the lane's accumulators are the product's elements.
__device__ __forceinline__ bool is_product(const ptx::Accumulators& d, int lane, int depth) {
    const int g = lane / 4, q = lane % 4;
    bool is_right = true;
    for (int i = 0; i < 4; i++) { is_right = is_right && d.x[i] == product_at(g + 8 * (i / 2), 2 * q + i % 2, depth); }
    return is_right;
}

// The tiles in shared memory for ldmatrix: A row by row (m, k), B column by column (n, k) or row by row (k, n), rows of
// `pitch` words. `thread` of `threads` writes its share.
template <class Rows>
__device__ __forceinline__ void fill_a(Rows& rows, int thread, int threads) {
    for (int i = thread; i < 16 * 8; i += threads) {
        rows[i / 8][i % 8] = ptx::to_bf16x2(a_at(i / 8, 2 * (i % 8)), a_at(i / 8, 2 * (i % 8) + 1));
    }
}
template <class Rows>
__device__ __forceinline__ void fill_b(Rows& rows, int thread, int threads) {
    for (int i = thread; i < 8 * 8; i += threads) {
        rows[i / 8][i % 8] = ptx::to_bf16x2(b_at(2 * (i % 8), i / 8), b_at(2 * (i % 8) + 1, i / 8));
    }
}
template <class Rows>
__device__ __forceinline__ void fill_b_by_k(Rows& rows, int thread, int threads) {
    for (int i = thread; i < 16 * 4; i += threads) {
        rows[i / 4][i % 4] = ptx::to_bf16x2(b_at(i / 4, 2 * (i % 4)), b_at(i / 4, 2 * (i % 4) + 1));
    }
}

// Runs a kernel of one block and returns a program's exit status. A card that has no TF32 runs nothing.
template <class Kernel>
int run_block(Kernel kernel, int threads = 32) {
    cudaDeviceProp card;
    if (cudaGetDeviceProperties(&card, 0) != cudaSuccess || card.major < 8) {
        return EXIT_SUCCESS;
    }
    kernel<<<1, threads>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
