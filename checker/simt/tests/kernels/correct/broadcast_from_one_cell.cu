// SPDX-License-Identifier: MIT
// verdict: correct
// All read what one wrote, before a barrier it is written again.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        if (t == i) {
            cells[0] = 10 * i;
        }
        __syncthreads();
        sum += cells[0];
        __syncthreads();
    }
    out[t] = sum;
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
        if (host[i] != 100) {
            return EXIT_FAILURE;
        }
    }
}
