// SPDX-License-Identifier: MIT
// verdict: correct
// Each warp owns a row: it reads its maximum, meets, and writes the row in place.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* row = out + 32 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    row[lane] = lane;
    __syncwarp();
    int most = 0;
    for (int k = 0; k < 32; k++) {
        most = row[k] > most ? row[k] : most;
    }
    __syncwarp();
    row[lane] -= most;
}

int main() { return run<192>([](int* out) { kernel<<<3, 64>>>(out); }, [](int i) { return i % 32 - 31; }); }
