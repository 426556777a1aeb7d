// SPDX-License-Identifier: MIT
// verdict: correct
// The third block waits for the second one, which waited for the first.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    volatile int* flags = out + 4;
    if (blockIdx.x == 0) {
        out[0] = 1;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0) {
        }
        __threadfence();
        flags[1] = 1;
    } else {
        while (flags[1] == 0) {
        }
        __threadfence();
        out[1] = out[0];
        out[0] = 2;
    }
}

int main() {
    constexpr int n = 6;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i == 0 ? 2 : i == 2 || i == 3 ? 0 : 1)) {
            return EXIT_FAILURE;
        }
    }
}
