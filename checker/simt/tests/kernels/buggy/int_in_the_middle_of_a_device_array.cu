// SPDX-License-Identifier: MIT
// verdict: misaligned int_in_the_middle_of_a_device_array.cu:11
// The compiler knows that the address is no multiple of 4.
#include <cuda_runtime.h>

namespace weights {
__device__ int table[64];
}

__global__ void kernel(int* out) {
    out[threadIdx.x] = *reinterpret_cast<int*>(reinterpret_cast<char*>(weights::table) + 2);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
