// SPDX-License-Identifier: MIT
// verdict: correct
// Two tiles are on their way while a third is used. One barrier a step is enough: the buffer that is filled next was
// read before it.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include <cstdlib>

__global__ void sums(int* out, const int* in, int tiles) {
    __shared__ int tile[3][64];
    const int i = static_cast<int>(threadIdx.x);
    for (int t = 0; t < 2; t++) {
        __pipeline_memcpy_async(&tile[t][i], &in[t * 64 + i], sizeof(int));
        __pipeline_commit();
    }
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (t + 2 < tiles) {
            __pipeline_memcpy_async(&tile[(t + 2) % 3][i], &in[(t + 2) * 64 + i], sizeof(int));
        }
        __pipeline_commit();
        sum += tile[t % 3][63 - i];
    }
    out[i] = sum;
}

int main() {
    constexpr int n = 448;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    sums<<<1, 64>>>(out, in, 7);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 64 ? 7 * (63 - i) + 21 * 64 : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
