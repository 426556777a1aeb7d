// SPDX-License-Identifier: MIT
// verdict: correct
// The active lanes elect one that adds for all.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void count_even(int* out) {
    if (threadIdx.x % 2 == 0) {
        const unsigned mask = __activemask();
        const int leader = __ffs(mask) - 1;
        int before = 0;
        if (static_cast<int>(threadIdx.x % 32) == leader) {
            before = atomicAdd(out, __popc(mask));
        }
        __shfl_sync(mask, before, leader);
    }
}

int main() { return run<1>([](int* out) { count_even<<<4, 256>>>(out); }, [](int) { return 512; }); }
