// SPDX-License-Identifier: MIT
// verdict: race global copies_overlap.cu:11 copies_overlap.cu:11
// Each thread copies 16 bytes to places that are 12 bytes apart.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

__global__ void kernel(int* out, const int* inp) {
    const int t = static_cast<int>(threadIdx.x);
    memcpy(out + 3 * t, inp + 4 * t, 4 * sizeof(int));
}

__global__ void fill(int* inp) {
    inp[threadIdx.x] = static_cast<int>(threadIdx.x);
}

int main() {
    constexpr int n = 256;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    fill<<<1, 128>>>(out + 128);
    kernel<<<1, 32>>>(out, out + 128);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
