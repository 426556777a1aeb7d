// SPDX-License-Identifier: MIT
// verdict: race shared shift_in_lockstep.cu:14 shift_in_lockstep.cu:14
// Each lane reads its neighbour and overwrites its own cell in one statement.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t < 31) {
        cells[t] = cells[t + 1] + 1;
    }
    __syncthreads();
    out[t] = cells[t];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
