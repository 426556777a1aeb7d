// SPDX-License-Identifier: MIT
// verdict: correct
// One warp writes, fences and raises a flag; another one waits, fences and reads.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int data;
    volatile int* flag = cells;
    if (t == 0) {
        *flag = 0;
    }
    __syncthreads();
    if (t == 0) {
        data = 42;
        __threadfence_block();
        *flag = 1;
        out[0] = 42;
    } else if (t == 32) {
        while (*flag == 0) {
        }
        __threadfence_block();
        out[32] = data;
    } else {
        out[t] = 42;
    }
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 42) {
            return EXIT_FAILURE;
        }
    }
}
