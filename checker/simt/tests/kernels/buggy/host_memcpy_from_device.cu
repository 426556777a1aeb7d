// SPDX-License-Identifier: MIT
// verdict: device_memory host_memcpy_from_device.cu:14
// memcpy where cudaMemcpy was meant.
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

int main() {
    std::vector<float> host(1 << 16);
    float* x = nullptr;
    cudaMalloc(&x, host.size() * sizeof(float));
    cudaMemset(x, 0, host.size() * sizeof(float));
    std::memcpy(host.data(), x, host.size() * sizeof(float));
    cudaFree(x);
}
