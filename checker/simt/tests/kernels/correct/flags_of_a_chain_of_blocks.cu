// SPDX-License-Identifier: MIT
// verdict: correct
// Each block waits for the number of the one before; what the first one wrote comes to the last through all.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned places;

__global__ void kernel(int* out, int n) {
    const int place = static_cast<int>(atomicAdd(&places, 1U));
    volatile int* flags = out + n;
    if (place == 0) {
        out[0] = 5;
    } else {
        while (flags[place - 1] == 0) {
        }
        __threadfence();
        out[place] = out[0] + place;
    }
    __threadfence();
    flags[place] = 1;
}

int main() { return run<40>([](int* out) { kernel<<<20, 1>>>(out, 20); }, [](int i) { return i < 20 ? 5 + i : 1; }); }
