// SPDX-License-Identifier: MIT
// verdict: correct
// A lock for each of four buckets.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int bucket = static_cast<int>(blockIdx.x) % 4;
    int* lock = out + bucket;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[4 + bucket] += 2;
    __threadfence();
    atomicExch(lock, 0);
}

int main() { return run<8>([](int* out) { kernel<<<40, 1>>>(out); }, [](int i) { return i < 4 ? 0 : 20; }); }
