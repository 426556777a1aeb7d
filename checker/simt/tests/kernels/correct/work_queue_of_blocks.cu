// SPDX-License-Identifier: MIT
// verdict: correct
// Blocks draw pieces of work until none is left.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int next_piece;

__global__ void kernel(int* out, int pieces) {
    __shared__ int piece;
    while (true) {
        if (threadIdx.x == 0) {
            piece = atomicAdd(&next_piece, 1);
        }
        __syncthreads();
        if (piece >= pieces) {
            return;
        }
        out[32 * piece + static_cast<int>(threadIdx.x)] = piece;
        __syncthreads();
    }
}

int main() {
    constexpr int n = 640;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<5, 32>>>(out, 20);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i / 32) {
            return EXIT_FAILURE;
        }
    }
}
