// SPDX-License-Identifier: MIT
// verdict: race shared reduction_by_lockstep.cu:17 reduction_by_lockstep.cu:17
// The last steps of a reduction, written for warps in lockstep.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        if (half > 16) {
            __syncthreads();
        }
    }
    __syncthreads();
    out[t] = cells[0];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
