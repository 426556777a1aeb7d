// SPDX-License-Identifier: MIT
// verdict: correct
// Each block counts in shared memory and adds its bins to those of all.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, int n) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n); i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[i % 8], 1);
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }
}

int main() { return run<8>([](int* out) { kernel<<<4, 64>>>(out, 800); }, [](int) { return 100; }); }
