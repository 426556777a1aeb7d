// SPDX-License-Identifier: MIT
// verdict: correct
// Who needs no more than the volatile number itself needs no fence.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *static_cast<volatile int*>(data) = 42;
        __threadfence();
        *flag = 1;
    } else {
        int value = 0;
        while ((value = *static_cast<volatile int*>(data)) == 0) {
        }
        out[2] = value;
    }
}

int main() {
    constexpr int n = 4;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[2] == 42 ? EXIT_SUCCESS : EXIT_FAILURE;
}
