// SPDX-License-Identifier: MIT
// verdict: correct
// Two barriers for each tile: one when it is there, one when it has been read.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        cells[t] = 10 * tile + t;
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            sum += cells[k];
        }
        __syncthreads();
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 4 * 2016 + 64 * 60; }); }
