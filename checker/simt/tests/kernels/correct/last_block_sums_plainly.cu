// SPDX-License-Identifier: MIT
// verdict: correct
// Each block's first thread writes, fences and draws a ticket; the last block reads behind its barrier.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    __shared__ bool last;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        out[1 + blockIdx.x] = static_cast<int>(blockIdx.x);
        __threadfence();
        last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) {
            sum += out[1 + b];
        }
        if (t == 0) {
            out[0] = sum;
            tickets = 0;
        }
    }
}

int main() {
    constexpr int n = 41;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<40, 64>>>(out);
    kernel<<<40, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i == 0 ? 780 : i - 1)) {
            return EXIT_FAILURE;
        }
    }
}
