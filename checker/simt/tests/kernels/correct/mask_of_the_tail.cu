// SPDX-License-Identifier: MIT
// verdict: correct
// The mask of a short last warp is computed before its lanes part.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void sum(int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    const unsigned mask = __ballot_sync(0xffffffffU, i < n);
    if (i < n) {
        int value = 1;
        for (int offset = 4; offset > 0; offset /= 2) {
            value += __shfl_xor_sync(mask, value, offset);
        }
        out[i] = value;
    }
}

int main() { return run<8>([](int* out) { sum<<<1, 32>>>(out, 8); }, [](int) { return 8; }); }
