// SPDX-License-Identifier: MIT
// verdict: race global edge_of_the_next_block.cu:10 edge_of_the_next_block.cu:12
// A barrier orders one block; the last thread reads the first cell of the next.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int next = out[(i + 1) % 128];
    __syncthreads();
    out[i] = next + 1;
}

int main() { return run<128>([](int* out) { kernel<<<4, 32>>>(out); }); }
