// SPDX-License-Identifier: MIT
// verdict: correct
// A block waits for the flag of the one before it; places in the chain are drawn as tickets.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned next_place;

__global__ void chain(int* out) {
    __shared__ unsigned place;
    if (threadIdx.x == 0) {
        place = atomicAdd(&next_place, 1);
        volatile int* flags = out;
        int before = 0;
        if (place > 0) {
            while ((before = flags[place - 1]) == 0) {
            }
        }
        __threadfence();
        flags[place] = before + 1;
    }
}

int main() { return run<100>([](int* out) { chain<<<100, 32>>>(out); }, [](int i) { return i + 1; }); }
