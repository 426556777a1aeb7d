// SPDX-License-Identifier: MIT
// verdict: correct
// Groups of four lanes, each with its own mask; all of a group read what one of them writes next.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned quad = 0xfU << (t & ~3);
    cells[t] = t;
    __syncwarp(quad);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += cells[(t & ~3) + i];
    }
    __syncwarp(quad);
    if (t % 4 == 0) {
        cells[t] = sum;
    }
    __syncwarp(quad);
    out[t] = cells[t & ~3];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int i) { return 4 * (i & ~3) + 6; }); }
