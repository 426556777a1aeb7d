// SPDX-License-Identifier: MIT
// verdict: misaligned shared int_written_into_shared_bytes.cu:9
// Room for bytes, and an int at an odd one of them.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    __shared__ char bytes[64];
    if (threadIdx.x == 0) {
        *reinterpret_cast<int*>(bytes + 5) = 1;
        out[0] = bytes[5];
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
