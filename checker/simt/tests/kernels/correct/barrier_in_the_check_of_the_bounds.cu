// SPDX-License-Identifier: MIT
// verdict: correct
// The barrier stands in the check of the bounds, and threads beyond them only end: as with an early return, the barrier
// waits for the others. One that writes in the else branch has not gone round it either.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, const int* inp, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) {
        tile[i] = inp[i];
        __syncthreads();
        out[i] = tile[n - 1 - i];
    } else if (i < 60) {
        out[i] = -1;
    }
}

int main() {
    constexpr int n = 50;
    int host[64] = {};
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 60 * sizeof(int));
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, host, n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(out, inp, n);
    cudaMemcpy(host, out, 60 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    for (int i = 0; i < 60; i++) {
        if (host[i] != (i < n ? n - 1 - i : -1)) {
            return EXIT_FAILURE;
        }
    }
}
