// SPDX-License-Identifier: MIT
// verdict: device_memory host_function_reads_device.cu:14
// A host function, between two kernels of its stream, sums the device's array itself.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add_one(float* x) { x[threadIdx.x] += 1.0F; }

void print_sum(void* data) {
    const float* x = static_cast<const float*>(data);
    float sum = 0.0F;
    for (int i = 0; i < 32; i++) {
        sum += x[i];
    }
    std::printf("%g\n", sum);
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
    add_one<<<1, 32>>>(x);
    cudaLaunchHostFunc(nullptr, print_sum, x);
    add_one<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
