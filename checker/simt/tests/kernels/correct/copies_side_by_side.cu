// SPDX-License-Identifier: MIT
// verdict: correct
// Each thread copies its own 16 bytes with memcpy.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

__global__ void fill(int* x) {
    x[threadIdx.x] = static_cast<int>(threadIdx.x);
}

__global__ void kernel(int* out, const int* inp) {
    const unsigned t = threadIdx.x;
    memcpy(out + 4 * t, inp + 4 * t, 4 * sizeof(int));
}

int main() {
    constexpr int n = 256;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    fill<<<1, 128>>>(out);
    kernel<<<1, 32>>>(out + 128, out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i % 128) {
            return EXIT_FAILURE;
        }
    }
}
