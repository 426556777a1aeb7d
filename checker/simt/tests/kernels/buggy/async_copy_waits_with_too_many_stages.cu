// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_waits_with_too_many_stages.cu:18
// With three stages on their way two may stay so, not three.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[3][64];
    const int i = static_cast<int>(threadIdx.x);
    for (int t = 0; t < 3; t++) {
        __pipeline_memcpy_async(&tile[t][i], &in[t * 64 + i], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(3);
    __syncthreads();
    out[i] = tile[0][63 - i];
}

int main() {
    constexpr int n = 192;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
