// SPDX-License-Identifier: MIT
// verdict: race global rows_overlap.cu:10 rows_overlap.cu:10
// Each block writes one row more than it owns.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    for (int row = 0; row < 5; row++) {
        out[(4 * blockIdx.x + row) * 32 + threadIdx.x] = static_cast<int>(blockIdx.x) + 1;
    }
}

int main() { return run<416>([](int* out) { kernel<<<3, 32>>>(out); }); }
