// SPDX-License-Identifier: MIT
// verdict: correct
// Every block in turn adds to one number, each waiting for the one before.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    volatile int* turn = out + 1;
    if (threadIdx.x == 0) {
        while (*turn != static_cast<int>(blockIdx.x)) {
        }
        __threadfence();
    }
    __syncthreads();
    const int before = out[0];
    __syncthreads();
    if (threadIdx.x == 31) {
        out[0] = before + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *turn = static_cast<int>(blockIdx.x) + 1;
    }
}

int main() { return run<2>([](int* out) { kernel<<<12, 32>>>(out); }, [](int) { return 12; }); }
