// SPDX-License-Identifier: MIT
// verdict: correct
// The first lane waits for the flag and fences; __syncwarp() hands that on to the others.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int data[32];
    volatile int* flag = cells;
    if (t == 0) {
        *flag = 0;
    }
    __syncthreads();
    if (t < 32) {
        data[t] = 2 * t;
        __syncwarp();
        if (t == 0) {
            __threadfence_block();
            *flag = 1;
        }
        out[t] = 2 * t;
    } else {
        if (t == 32) {
            while (*flag == 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
        out[t] = data[t - 32] + 64;
    }
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return 2 * i; }); }
