// SPDX-License-Identifier: MIT
// verdict: correct
// Two halves of a warp shuffle with masks of their own, in different branches.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void halves(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    int value = 0;
    if (lane < 16) {
        value = __shfl_sync(0x0000ffffU, lane, 5);
    } else {
        value = __shfl_sync(0xffff0000U, lane, 20);
    }
    __syncwarp();
    out[lane] = value;
}

int main() { return run<32>([](int* out) { halves<<<1, 32>>>(out); }, [](int i) { return i < 16 ? 5 : 20; }); }
