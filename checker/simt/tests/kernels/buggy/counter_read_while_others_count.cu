// SPDX-License-Identifier: MIT
// verdict: race global counter_read_while_others_count.cu:9 counter_read_while_others_count.cu:11
// A plain read of what other threads change atomically.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    atomicAdd(out, 1);
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = *out;
    }
}

int main() {
    constexpr int n = 3;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
