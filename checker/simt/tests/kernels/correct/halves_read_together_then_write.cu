// SPDX-License-Identifier: MIT
// verdict: correct
// All lanes of a half read its first cell, wait for each other, and then one of them writes it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    cells[t] = t;
    __syncwarp(half);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        sum += cells[t & 16];
        __syncwarp(half);
        if (t % 16 == round) {
            cells[t & 16] += 1;
        }
        __syncwarp(half);
    }
    out[t] = sum;
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int i) { return i < 16 ? 3 : 51; }); }
