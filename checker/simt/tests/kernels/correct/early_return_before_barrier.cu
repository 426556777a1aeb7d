// SPDX-License-Identifier: MIT
// verdict: correct
// Threads without an element leave; the barrier waits for the others only.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void reverse(int* out, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) {
        return;
    }
    tile[i] = i;
    __syncthreads();
    out[i] = tile[n - 1 - i];
}

int main() { return run<50>([](int* out) { reverse<<<1, 64>>>(out, 50); }, [](int i) { return 50 - 1 - i; }); }
