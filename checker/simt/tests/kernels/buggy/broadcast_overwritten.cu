// SPDX-License-Identifier: MIT
// verdict: race shared broadcast_overwritten.cu:16 broadcast_overwritten.cu:19
// Thread 0 puts the next value where others still read the last one.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        if (t == 0) {
            cells[0] = i;
        }
        __syncthreads();
        sum += cells[0];
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
