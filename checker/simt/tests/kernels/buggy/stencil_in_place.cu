// SPDX-License-Identifier: MIT
// verdict: race shared stencil_in_place.cu:14 stencil_in_place.cu:14
// The neighbours are read while they are replaced.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t > 0 && t < 63) {
        cells[t] = (cells[t - 1] + cells[t + 1] + t) / 2;
    }
    __syncthreads();
    out[t] = cells[t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
