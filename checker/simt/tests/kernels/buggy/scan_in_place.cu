// SPDX-License-Identifier: MIT
// verdict: race shared scan_in_place.cu:17 scan_in_place.cu:17
// Each thread adds what another one is changing in the same step.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = 1;
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        if (t >= step) {
            cells[t] += cells[t - step];
        }
        __syncthreads();
    }
    out[t] = cells[t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
