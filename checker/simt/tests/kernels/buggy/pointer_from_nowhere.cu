// SPDX-License-Identifier: MIT
// verdict: host_pointer pointer_from_nowhere.cu:9
// A pointer that was computed from the wrong thing: no memory is there, of nobody.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    out[threadIdx.x] = 1;
}

int main() {
    kernel<<<1, 32>>>(reinterpret_cast<int*>(0x123456789000));
    cudaDeviceSynchronize();
    cudaGetLastError();
    return EXIT_SUCCESS;
}
