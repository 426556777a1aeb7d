// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_for_some_sizes.cu:14 barrier_missing_for_some_sizes.cu:20
// With more than 32 threads the sum of the warps needs a barrier.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t % 32 == 0) {
        cells[t / 32] = t + 1;
    }
    if (blockDim.x <= 32) {
        __syncthreads();
    }
    if (t == 0) {
        out[0] = cells[0] + cells[1];
    }
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
