// SPDX-License-Identifier: MIT
// verdict: correct
// A thread waits for time to pass, and sleeps until another has written.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void wait(volatile int* out) {
    if (threadIdx.x == 0) {
        const long long begin = clock64();
        while (clock64() - begin < 1000000) {
        }
        out[0] = 1;
    } else {
        while (out[0] == 0) {
            __nanosleep(100);
        }
        out[1] = 2;
    }
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    wait<<<1, 2>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i + 1) {
            return EXIT_FAILURE;
        }
    }
}
