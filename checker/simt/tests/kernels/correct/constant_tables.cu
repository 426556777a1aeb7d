// SPDX-License-Identifier: MIT
// verdict: correct
// constexpr and const tables, read by kernels where they lie.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ constexpr int kPrimes[5] = {2, 3, 5, 7, 11};
__device__ const int kSquares[3] = {1, 4, 9};

__global__ void look_up(int* out) {
    static constexpr int kOwn[2] = {100, 200};
    out[threadIdx.x] = kPrimes[threadIdx.x % 5] + kSquares[threadIdx.x % 3] + kOwn[threadIdx.x % 2];
}

int main() {
    constexpr int n = 30;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    look_up<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    constexpr int primes[5] = {2, 3, 5, 7, 11};
    for (int i = 0; i < n; i++) {
        if (host[i] != primes[i % 5] + (i % 3 + 1) * (i % 3 + 1) + (i % 2 + 1) * 100) {
            return EXIT_FAILURE;
        }
    }
}
