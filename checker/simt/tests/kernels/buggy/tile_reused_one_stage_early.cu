// SPDX-License-Identifier: MIT
// verdict: race shared tile_reused_one_stage_early.cu:15 tile_reused_one_stage_early.cu:18
// The next tile is loaded while others still read this one.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        cells[t] = 10 * tile + t;
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            sum += cells[k];
        }
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
