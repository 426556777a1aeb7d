// SPDX-License-Identifier: MIT
// verdict: race global exchange_in_global_memory.cu:10 exchange_in_global_memory.cu:11
// Lanes of a warp exchange through global memory, and nothing orders them.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    out[t] = t;
    out[32 + t] = out[(t + 1) % 32];
}

int main() { return run<64>([](int* out) { kernel<<<1, 32>>>(out); }); }
