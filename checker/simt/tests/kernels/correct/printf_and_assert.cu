// SPDX-License-Identifier: MIT
// verdict: correct
// Kernels may print, and assertions may hold.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"
#include <cassert>
#include <cstdio>
__global__ void speak(int* out) {
    assert(blockDim.x == 2);
    printf("thread %d says %s\n", static_cast<int>(threadIdx.x), "hello");
    out[threadIdx.x] = 1;
}

int main() { return run<2>([](int* out) { speak<<<1, 2>>>(out); }, [](int) { return 1; }); }
