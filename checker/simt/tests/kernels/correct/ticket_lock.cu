// SPDX-License-Identifier: MIT
// verdict: correct
// Tickets are drawn by an atomic, and served in order.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int ticket = atomicAdd(out, 1);
    volatile int* serving = out + 1;
    while (*serving != ticket) {
    }
    __threadfence();
    out[2] = out[2] + ticket;
    __threadfence();
    *serving = ticket + 1;
}

int main() {
    constexpr int n = 3;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<30, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 2 ? 30 : 435)) {
            return EXIT_FAILURE;
        }
    }
}
