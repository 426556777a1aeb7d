// SPDX-License-Identifier: MIT
// verdict: correct
// Threads write the two halves of each word, and other threads' halves are not theirs.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ unsigned words[64];
    const int t = static_cast<int>(threadIdx.x);
    auto* halves = reinterpret_cast<unsigned short*>(words);
    halves[t] = static_cast<unsigned short>(t);
    halves[127 - t] = static_cast<unsigned short>(1);
    __syncthreads();
    out[t] = halves[t] + halves[64 + t];
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i + 1) {
            return EXIT_FAILURE;
        }
    }
}
