// SPDX-License-Identifier: MIT
// verdict: correct
// The first lane of each warp hands the warp's sum on.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[128];
    const int t = static_cast<int>(threadIdx.x);
    int sum = t;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
    }
    if (t % 32 == 0) {
        cells[t / 32] = sum;
    }
    __syncthreads();
    int all = 0;
    for (int w = 0; w < 4; w++) {
        all += cells[w];
    }
    out[t] = all;
}

int main() { return run<128>([](int* out) { kernel<<<1, 128>>>(out); }, [](int) { return 127 * 64; }); }
