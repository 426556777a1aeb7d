// SPDX-License-Identifier: MIT
// verdict: correct
// Each half of the warp waits for itself, and exchanges within itself.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    int value = t;
    for (int step = 1; step < 16; step *= 2) {
        cells[t] = value;
        __syncwarp(half);
        const int other = cells[t ^ step];
        __syncwarp(half);
        value += other;
    }
    out[t] = value;
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int i) { return i < 16 ? 120 : 376; }); }
