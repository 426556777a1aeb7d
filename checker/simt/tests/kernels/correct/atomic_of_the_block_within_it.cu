// SPDX-License-Identifier: MIT
// verdict: correct
// Each block counts in cells of its own with atomics of its scope.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    atomicAdd_block(out + blockIdx.x, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[4 + blockIdx.x] = out[blockIdx.x];
    }
}

int main() { return run<8>([](int* out) { kernel<<<4, 96>>>(out); }, [](int) { return 96; }); }
