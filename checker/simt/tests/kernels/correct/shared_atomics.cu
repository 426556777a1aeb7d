// SPDX-License-Identifier: MIT
// verdict: correct
// Atomics on 64-bit and float cells in shared memory.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void add(int* out) {
    __shared__ unsigned long long wide;
    __shared__ float real;
    if (threadIdx.x == 0) {
        wide = 0;
        real = 0.0F;
    }
    __syncthreads();
    atomicAdd(&wide, 1ULL << 32);
    atomicAdd(&real, 0.5F);
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(wide >> 32) + static_cast<int>(real);
}

int main() { return run<100>([](int* out) { add<<<1, 100>>>(out); }, [](int) { return 150; }); }
