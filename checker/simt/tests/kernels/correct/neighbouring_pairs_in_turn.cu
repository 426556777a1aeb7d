// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes wait in pairs, and then in the pairs between.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp(3U << (t & ~1));
    const int first = cells[t ^ 1];
    __syncwarp();
    cells[t] = first;
    __syncwarp(t == 0 || t == 31 ? 0x80000001U : 3U << ((t - 1) & ~1) << 1);
    out[t] = cells[((t + 1) ^ 1) - 1 < 0 ? 31 : (((t + 1) ^ 1) - 1) % 32];
}

int main() {
    return run<32>([](int* out) { kernel<<<1, 32>>>(out); },
                   [](int i) { return (((i + 1) ^ 1) - 1 < 0 ? 31 : (((i + 1) ^ 1) - 1) % 32) ^ 1; });
}
