// SPDX-License-Identifier: MIT
// verdict: race global exchange_in_global_memory.cu:10 exchange_in_global_memory.cu:11
// Lanes of a warp exchange through global memory, and nothing orders them.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    out[t] = t;
    out[32 + t] = out[(t + 1) % 32];
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
