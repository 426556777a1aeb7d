// SPDX-License-Identifier: MIT
// verdict: collective mask_without_caller.cu:7
// All lanes call, and the mask names half of them.
#include <cuda_runtime.h>

__global__ void vote(int* out) {
    out[threadIdx.x] = __any_sync(0x0000ffffU, threadIdx.x == 3);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    vote<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
