// SPDX-License-Identifier: MIT
// verdict: correct
// Two tiles take turns, with one barrier a step.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void steps(int* out) {
    __shared__ int tile[2][64];
    const int i = static_cast<int>(threadIdx.x);
    int sum = 0;
    tile[0][i] = i;
    for (int step = 0; step < 10; step++) {
        __syncthreads();
        const int value = tile[step % 2][63 - i];
        sum += value;
        tile[(step + 1) % 2][i] = value;
    }
    out[i] = sum;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    steps<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 5 * (63 - i) + 5 * i) {
            return EXIT_FAILURE;
        }
    }
}
