// SPDX-License-Identifier: MIT
// verdict: race shared only_halves_are_synchronised.cu:13 only_halves_are_synchronised.cu:15
// Each half of the warp waits for itself, and lanes read the other half.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncwarp(t < 16 ? 0x0000ffffU : 0xffff0000U);
    out[t] = cells[31 - t];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
