// SPDX-License-Identifier: MIT
// verdict: correct
// The lanes of a warp take the lock one after another.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    for (int lane = 0; lane < 32; lane++) {
        if (static_cast<int>(threadIdx.x) % 32 == lane) {
            while (atomicCAS(out, 0, 1) != 0) {
            }
            __threadfence();
            out[1] += lane;
            __threadfence();
            atomicExch(out, 0);
        }
        __syncwarp();
    }
}

int main() { return run<2>([](int* out) { kernel<<<3, 64>>>(out); }, [](int i) { return 6 * 496 * i; }); }
