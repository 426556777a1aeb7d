// SPDX-License-Identifier: MIT
// verdict: race shared branches_of_one_warp.cu:14 branches_of_one_warp.cu:16
// One branch writes what the other one reads.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t % 2 == 0) {
        cells[t] = t;
    } else {
        out[t] = cells[t - 1];
    }
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
