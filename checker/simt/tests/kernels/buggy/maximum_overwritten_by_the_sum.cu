// SPDX-License-Identifier: MIT
// verdict: race shared maximum_overwritten_by_the_sum.cu:17 maximum_overwritten_by_the_sum.cu:19
// The cells of the first reduction are used again while some threads still read its outcome.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t == 0) {
        cells[0] = 7;
    }
    __syncthreads();
    const int most = cells[0];
    if (t == 63) {
        cells[0] = most + 1;
    }
    __syncthreads();
    out[t] = cells[0] + most;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
