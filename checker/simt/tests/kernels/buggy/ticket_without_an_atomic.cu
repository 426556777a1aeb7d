// SPDX-License-Identifier: MIT
// verdict: race global ticket_without_an_atomic.cu:11 ticket_without_an_atomic.cu:11
// Blocks draw the next piece of work with a plain increment.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int next_piece;

__global__ void kernel(int* out) {
    const int piece = next_piece++;
    out[blockIdx.x] = piece;
}

int main() {
    constexpr int n = 8;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<8, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
