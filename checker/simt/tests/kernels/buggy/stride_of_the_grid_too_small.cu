// SPDX-License-Identifier: MIT
// verdict: race global stride_of_the_grid_too_small.cu:11 stride_of_the_grid_too_small.cu:11
// The stride forgets the last block, and some elements are updated twice.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, int n) {
    const int stride = static_cast<int>((gridDim.x - 1) * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
        out[i] += 1;
    }
}

int main() { return run<512>([](int* out) { kernel<<<4, 32>>>(out, 512); }); }
