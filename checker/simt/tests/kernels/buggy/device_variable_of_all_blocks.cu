// SPDX-License-Identifier: MIT
// verdict: race global device_variable_of_all_blocks.cu:12 device_variable_of_all_blocks.cu:15
// Each block uses one device variable as its own.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ int scratch;

__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        scratch = static_cast<int>(blockIdx.x) + 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = scratch;
}

int main() { return run<128>([](int* out) { kernel<<<4, 32>>>(out); }); }
