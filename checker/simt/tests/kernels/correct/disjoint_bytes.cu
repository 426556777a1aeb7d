// SPDX-License-Identifier: MIT
// verdict: correct
// Four threads write the four bytes of a word.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void bytes(unsigned* out) {
    auto* byte = reinterpret_cast<unsigned char*>(out);
    byte[threadIdx.x] = static_cast<unsigned char>(threadIdx.x % 4 + 1);
}

int main() {
    constexpr int n = 32;
    unsigned host[n];
    unsigned* out = nullptr;
    cudaMalloc(&out, n * sizeof(unsigned));
    cudaMemset(out, 0, n * sizeof(unsigned));
    bytes<<<1, 4 * n>>>(out);
    cudaMemcpy(host, out, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 0x04030201U) {
            return EXIT_FAILURE;
        }
    }
}
