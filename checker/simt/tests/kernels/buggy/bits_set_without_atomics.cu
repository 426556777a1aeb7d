// SPDX-License-Identifier: MIT
// verdict: race shared bits_set_without_atomics.cu:13 bits_set_without_atomics.cu:13
// Each thread sets its own bit of one word.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[0] |= 1 << t % 32;
    __syncthreads();
    out[t] = cells[0];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
