// SPDX-License-Identifier: MIT
//
// out[m, n] = m + n / N for more elements than an int counts: by a block for each 256 of them, by few blocks, and with an
// index that overflows.
#include "checker/simt/tests/objects/large.h"

#include <cstddef>

namespace {

constexpr int kBlock = 256;

__global__ void fill_rows_kernel(float* out, int N) {
    const int m = blockIdx.y;
    const int n = blockIdx.x * kBlock + threadIdx.x;
    if (n < N) {
        out[static_cast<std::size_t>(m) * N + n] = static_cast<float>(m) + static_cast<float>(n) / N;
    }
}

__global__ void fill_rows_by_int_kernel(float* out, int N) {
    const int m = blockIdx.y;
    const int n = blockIdx.x * kBlock + threadIdx.x;
    if (n < N) {
        const int i = m * N + n;
        out[i] = static_cast<float>(m) + static_cast<float>(n) / N;
    }
}

__global__ void fill_by_few_blocks_kernel(float* out, int M, int N) {
    for (int m = blockIdx.x; m < M; m += gridDim.x) {
        for (int n = threadIdx.x; n < N; n += kBlock) {
            out[static_cast<std::size_t>(m) * N + n] = static_cast<float>(m) + static_cast<float>(n) / N;
        }
        __syncthreads();
    }
}

dim3 grid(int M, int N) {
    return dim3((N + kBlock - 1) / kBlock, M);
}

}  // namespace

void fill_rows(float* out, int M, int N) {
    fill_rows_kernel<<<grid(M, N), kBlock>>>(out, N);
}

void fill_by_few_blocks(float* out, int M, int N) {
    fill_by_few_blocks_kernel<<<108, kBlock>>>(out, M, N);
}

void fill_rows_by_int(float* out, int M, int N) {
    fill_rows_by_int_kernel<<<grid(M, N), kBlock>>>(out, N);
}
