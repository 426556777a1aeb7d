// SPDX-License-Identifier: MIT
// verdict: correct
// Blocks add to a sum by atomics; the last one reads it plainly, behind its fence.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(out, static_cast<int>(blockIdx.x));
        __threadfence();
        const bool last = atomicAdd(&tickets, 1U) == gridDim.x - 1;
        __threadfence();
        if (last) {
            out[1] = out[0];
            out[0] = 0;
        }
    }
}

int main() { return run<2>([](int* out) { kernel<<<20, 32>>>(out); }, [](int i) { return 190 * i; }); }
