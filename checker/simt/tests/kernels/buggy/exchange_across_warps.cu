// SPDX-License-Identifier: MIT
// verdict: race shared exchange_across_warps.cu:13 exchange_across_warps.cu:15
// Between warps __syncwarp() orders nothing.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncwarp();
    out[t] = cells[(t + 1) % 64];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
