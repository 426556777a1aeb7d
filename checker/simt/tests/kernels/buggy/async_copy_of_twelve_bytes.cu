// SPDX-License-Identifier: MIT
// verdict: bad_copy async_copy_of_twelve_bytes.cu:12
// A copy has 4, 8 or 16 bytes: three elements are two copies.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[48];
    const int first = 3 * static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(&tile[first], &in[first], 3 * sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[first] = tile[first];
}

int main() {
    constexpr int n = 64;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 16>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
