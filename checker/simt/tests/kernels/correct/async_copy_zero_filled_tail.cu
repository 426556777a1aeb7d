// SPDX-License-Identifier: MIT
// verdict: correct
// Rows of 37 elements in tiles of 64: what is beyond the row becomes 0, and nothing is read there.
#include <cuda_runtime.h>
#include <cuda_pipeline_primitives.h>
#include "checker/ptx.h"

#include <cstdlib>

__global__ void by_instruction(int* out, const int* in, int columns) {
    __shared__ alignas(16) int tile[64];
    const int first = 4 * static_cast<int>(threadIdx.x);
    const int left = columns - first;
    ptx::cp_async<16>(&tile[first], &in[first], left >= 4 ? 16 : left > 0 ? left * 4 : 0);
    ptx::cp_async_wait_all();
    __syncthreads();
    for (int i = first; i < first + 4; i++) { out[i] = tile[63 - i]; }
}

__global__ void by_primitive(int* out, const int* in, int columns) {
    __shared__ alignas(8) int tile[64];
    const int first = 2 * static_cast<int>(threadIdx.x);
    const int left = columns - first;
    __pipeline_memcpy_async(&tile[first], &in[first < columns ? first : 0], 8, left >= 2 ? 0 : left > 0 ? 4 : 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[first] += tile[63 - first];
    out[first + 1] += tile[62 - first];
}

int main() {
    constexpr int columns = 37, n = 64;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i + 1; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, columns * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, columns * sizeof(int), cudaMemcpyHostToDevice);
    by_instruction<<<1, n / 4>>>(out, in, columns);
    by_primitive<<<1, n / 2>>>(out, in, columns);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (63 - i < columns ? 2 * (64 - i) : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
