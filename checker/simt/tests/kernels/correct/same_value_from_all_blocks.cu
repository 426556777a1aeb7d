// SPDX-License-Identifier: MIT
// verdict: correct
// All blocks write the same result to the same place.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    out[threadIdx.x] = 7;
}

int main() { return run<64>([](int* out) { kernel<<<6, 64>>>(out); }, [](int) { return 7; }); }
