// SPDX-License-Identifier: MIT
// verdict: device_memory host_reads_device.cu:14
// The host sums the device's array itself.
#include <cuda_runtime.h>

#include <cstdio>

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
    float sum = 0.0F;
    for (int i = 0; i < 32; i++) {
        sum += x[i];
    }
    std::printf("%g\n", sum);
    cudaFree(x);
}
