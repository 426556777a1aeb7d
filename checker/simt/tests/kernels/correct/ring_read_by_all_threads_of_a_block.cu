// SPDX-License-Identifier: MIT
// verdict: correct
// The slots are read by many threads, and given back by one behind their barrier.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* slot = out;
    volatile int* written = out + 64;
    volatile int* taken = out + 65;
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        if (blockIdx.x == 0) {
            if (t == 0) {
                while (*taken < i) {
                }
                __threadfence();
            }
            __syncthreads();
            slot[t] = t + i;
            __syncthreads();
            if (t == 0) {
                __threadfence();
                *written = i + 1;
            }
        } else {
            if (t == 0) {
                while (*written < i + 1) {
                }
                __threadfence();
            }
            __syncthreads();
            sum += slot[63 - t] + slot[t];
            __syncthreads();
            if (t == 0) {
                __threadfence();
                *taken = i + 1;
            }
        }
    }
    if (blockIdx.x == 1) {
        out[66 + t] = sum;
    }
}

int main() {
    constexpr int n = 130;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 64 ? i + 3 : i < 66 ? 4 : 264)) {
            return EXIT_FAILURE;
        }
    }
}
