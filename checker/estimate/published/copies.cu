// SPDX-License-Identifier: MIT
//
// Kernels that move each element once: copies by accesses of 1 to 16 bytes, sums of two arrays, transposes. N is the number
// of floats; a transpose and a sum of matrices are of M by N.
#include <cuda_runtime.h>

#include "checker/estimate/published/kernels.h"

namespace published {
namespace {

// out[i] = a[i], one T per thread.
template <typename T>
__global__ void copy(T* out, const T* a, long count) {
    for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<long>(gridDim.x) * blockDim.x) {
        out[i] = a[i];
    }
}

// out[i] = a[i] + b[i], one float per thread.
__global__ void add(float* out, const float* a, const float* b, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = a[i] + b[i];
    }
}

// out = a + b of matrices (M, N). kAlongRows: the lanes of a warp have neighbouring rows.
template <bool kAlongRows>
__global__ void add_matrices(float* out, const float* a, const float* b, int M, int N) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int m = kAlongRows ? x : y, n = kAlongRows ? y : x;
    if (m < M && n < N) {
        out[m * N + n] = a[m * N + n] + b[m * N + n];
    }
}

// out[n, m] = a[m, n]: the loads of a warp lie side by side, its stores M floats apart.
__global__ void transpose(float* out, const float* a, int M, int N) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        out[n * M + m] = a[m * N + n];
    }
}

// The same through a tile of 32 by 32 floats in shared memory, by 32 by kRows threads. kPad floats follow each row of it.
template <int kRows, int kPad>
__global__ void transpose_tile(float* out, const float* a, int M, int N) {
    __shared__ float tile[32][32 + kPad];
    const int n0 = blockIdx.x * 32, m0 = blockIdx.y * 32, x = threadIdx.x;
    for (int first = 0; first < 32; first += kRows) {
        const int y = first + threadIdx.y;
        if (m0 + y < M && n0 + x < N) {
            tile[y][x] = a[(m0 + y) * N + n0 + x];
        }
    }
    __syncthreads();
    for (int first = 0; first < 32; first += kRows) {
        const int y = first + threadIdx.y;
        if (n0 + y < N && m0 + x < M) {
            out[(n0 + y) * M + m0 + x] = tile[x][y];
        }
    }
}

unsigned blocks(long count, int block) {
    return static_cast<unsigned>((count + block - 1) / block);
}

template <typename T, int kBlock>
void copies_of(const Problem& p) {
    const long count = p.N * static_cast<long>(sizeof(float)) / static_cast<long>(sizeof(T));
    copy<<<blocks(count, kBlock), kBlock>>>(reinterpret_cast<T*>(p.out), reinterpret_cast<const T*>(p.a), count);
}

template <int kBlock>
void adds(const Problem& p) {
    add<<<blocks(p.N, kBlock), kBlock>>>(p.out, p.a, p.b, static_cast<int>(p.N));
}

template <bool kAlongRows>
void matrix_adds(const Problem& p) {
    const dim3 grid = kAlongRows ? dim3(blocks(p.M, 16), blocks(p.N, 16)) : dim3(blocks(p.N, 16), blocks(p.M, 16));
    add_matrices<kAlongRows><<<grid, dim3(16, 16)>>>(p.out, p.a, p.b, static_cast<int>(p.M), static_cast<int>(p.N));
}

void transposes(const Problem& p) {
    transpose<<<dim3(blocks(p.N, 32), blocks(p.M, 32)), dim3(32, 32)>>>(p.out, p.a, static_cast<int>(p.M),
                                                                        static_cast<int>(p.N));
}

template <int kRows, int kPad>
void tiles(const Problem& p) {
    transpose_tile<kRows, kPad><<<dim3(blocks(p.N, 32), blocks(p.M, 32)), dim3(32, kRows)>>>(
        p.out, p.a, static_cast<int>(p.M), static_cast<int>(p.N));
}

}  // namespace

const std::vector<Published> copies = {
    {"copy by 1 byte, block 1024", copies_of<char, 1024>},
    {"copy by 2 bytes, block 1024", copies_of<short, 1024>},
    {"copy by 4 bytes, block 1024", copies_of<float, 1024>},
    {"copy by 8 bytes, block 1024", copies_of<float2, 1024>},
    {"copy by 16 bytes, block 1024", copies_of<float4, 1024>},
    {"add, block 256", adds<256>},
    {"add, block 32", adds<32>},
    {"add matrices, lanes along columns", matrix_adds<false>},
    {"add matrices, lanes along rows", matrix_adds<true>},
    {"transpose", transposes},
    {"transpose, tile", tiles<32, 0>},
    {"transpose, padded tile", tiles<32, 1>},
    {"transpose, padded tile, 32x16 threads", tiles<16, 1>},
    {"transpose, padded tile, 32x8 threads", tiles<8, 1>},
    {"transpose, padded tile, 32x4 threads", tiles<4, 1>},
};

}  // namespace published
