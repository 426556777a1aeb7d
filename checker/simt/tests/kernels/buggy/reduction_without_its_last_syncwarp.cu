// SPDX-License-Identifier: MIT
// verdict: race shared reduction_without_its_last_syncwarp.cu:17 reduction_without_its_last_syncwarp.cu:23
// All lanes read the sum, which the first one has just written.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        if (half > 1) {
            __syncwarp();
        }
    }
    out[t] = cells[0];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
