// SPDX-License-Identifier: MIT
// verdict: correct
// Four threads of two blocks write the bytes of each word.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(i / 4);
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 128>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i * 0x01010101) {
            return EXIT_FAILURE;
        }
    }
}
