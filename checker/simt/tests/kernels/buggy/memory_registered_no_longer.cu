// SPDX-License-Identifier: MIT
// verdict: host_pointer memory_registered_no_longer.cu:8
// A kernel uses the host's memory after cudaHostUnregister.
#include <cuda_runtime.h>

__global__ void fill(int* out) {
    const int i = static_cast<int>(threadIdx.x);
    out[i] = i;
}

int main() {
    static int values[32];
    cudaHostRegister(values, sizeof values, cudaHostRegisterDefault);
    fill<<<1, 32>>>(values);
    cudaDeviceSynchronize();
    cudaHostUnregister(values);
    fill<<<1, 32>>>(values);
    cudaDeviceSynchronize();
}
