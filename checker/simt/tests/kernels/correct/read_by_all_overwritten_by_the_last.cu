// SPDX-License-Identifier: MIT
// verdict: correct
// All blocks read a number; the last one that is done with it replaces it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned done;

__global__ void kernel(int* out) {
    __shared__ bool last;
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[1 + i] = out[0] + i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&done, 1U) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        out[0] = -1;
    }
}

int main() { return run<577>([](int* out) { kernel<<<9, 64>>>(out); }, [](int i) { return i - 1; }); }
