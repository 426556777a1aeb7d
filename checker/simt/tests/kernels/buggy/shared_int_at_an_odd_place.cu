// SPDX-License-Identifier: MIT
// verdict: misaligned shared shared_int_at_an_odd_place.cu:10
// The compiler knows that the address is odd.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    cells[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = *reinterpret_cast<int*>(reinterpret_cast<char*>(cells) + 1);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
