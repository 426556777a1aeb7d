// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_in_the_second_iteration.cu:16 barrier_missing_in_the_second_iteration.cu:20
// The barrier lies in a condition that holds in all iterations but one.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        __syncthreads();
        cells[t] = i + t;
        if (i != 1) {
            __syncthreads();
        }
        sum += cells[63 - t];
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
