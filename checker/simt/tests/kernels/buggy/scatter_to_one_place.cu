// SPDX-License-Identifier: MIT
// verdict: race global scatter_to_one_place.cu:10 scatter_to_one_place.cu:10
// Two threads scatter to each place.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i / 2] = i + 1;
}

int main() { return run<64>([](int* out) { kernel<<<4, 32>>>(out); }); }
