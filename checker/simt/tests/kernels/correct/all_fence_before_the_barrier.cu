// SPDX-License-Identifier: MIT
// verdict: correct
// Every thread fences what it wrote; the barrier hands that to the thread that draws the ticket.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    __shared__ bool last;
    const unsigned t = threadIdx.x;
    out[1 + blockIdx.x * 64 + t] = 1;
    __threadfence();
    __syncthreads();
    if (t == 0) {
        last = atomicAdd(&tickets, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x * 64; i++) {
            sum += out[1 + i];
        }
        out[0] = sum;
    }
}

int main() {
    constexpr int n = 641;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<10, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i == 0 ? 640 : 1)) {
            return EXIT_FAILURE;
        }
    }
}
