// SPDX-License-Identifier: MIT
// verdict: correct
// One warp writes, fences and raises a flag; another one waits, fences and reads.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

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

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 42; }); }
