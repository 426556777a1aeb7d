// SPDX-License-Identifier: MIT
// verdict: correct
// A thread that uses only what it has copied itself needs its wait and no barrier.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void sums(int* out, const int* in, int steps) {
    __shared__ int cells[2][64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&cells[0][i], &in[i]);
    ptx::cp_async_commit();
    int sum = 0;
    for (int s = 0; s < steps; s++) {
        if (s + 1 < steps) {
            ptx::cp_async<4>(&cells[(s + 1) % 2][i], &in[(s + 1) * 64 + i]);
        }
        ptx::cp_async_commit();
        ptx::cp_async_wait<1>();
        sum += cells[s % 2][i];
        cells[s % 2][i] = sum;
    }
    out[i] = sum;
}

int main() {
    constexpr int n = 320;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    sums<<<1, 64>>>(out, in, 5);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 64 ? 5 * i + 640 : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
