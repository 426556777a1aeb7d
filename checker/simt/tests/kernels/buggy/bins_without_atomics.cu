// SPDX-License-Identifier: MIT
// verdict: race shared bins_without_atomics.cu:13 bins_without_atomics.cu:13
// A histogram in shared memory, counted without atomics.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t % 8]++;
    __syncthreads();
    out[t] = cells[t % 8];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
