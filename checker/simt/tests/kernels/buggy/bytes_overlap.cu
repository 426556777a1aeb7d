// SPDX-License-Identifier: MIT
// verdict: race shared bytes_overlap.cu:11 bytes_overlap.cu:12
// Each thread writes its own byte and the next one.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ unsigned char bytes[65];
    const int t = static_cast<int>(threadIdx.x);
    bytes[t] = static_cast<unsigned char>(t);
    bytes[t + 1] = static_cast<unsigned char>(t + 100);
    __syncthreads();
    out[t] = bytes[t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
