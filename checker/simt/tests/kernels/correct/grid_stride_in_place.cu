// SPDX-License-Identifier: MIT
// verdict: correct
// Each element is updated by one thread, whatever the grid.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, int n) {
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
        out[i] += i;
        out[i] *= 2;
    }
}

int main() { return run<1000>([](int* out) { kernel<<<3, 64>>>(out, 1000); }, [](int i) { return 2 * i; }); }
