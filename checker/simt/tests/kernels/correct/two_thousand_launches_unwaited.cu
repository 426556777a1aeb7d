// SPDX-License-Identifier: MIT
// verdict: correct
// More launches than a queue holds, and one wait at the end.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* x) {
    x[threadIdx.x] += 1;
}

int main() {
    int *x = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    cudaMemset(x, 0, sizeof host);
    for (int i = 0; i < 2000; i++) {
        count<<<1, 32>>>(x);
    }
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    return host[0] == 2000 && host[31] == 2000 ? EXIT_SUCCESS : EXIT_FAILURE;
}
