// SPDX-License-Identifier: MIT
// verdict: correct
// The programming guide's own atomic: a plain read, and then compare-and-swap until it holds.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ void add(unsigned long long* address, double value) {
    unsigned long long old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, static_cast<unsigned long long>(__double_as_longlong(value + __longlong_as_double(static_cast<long long>(assumed)))));
    } while (assumed != old);
}

__global__ void kernel(int* out) {
    add(reinterpret_cast<unsigned long long*>(out), 0.5);
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 64>>>(out);
    double sum = 0;
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return sum == 128.0 && host[0] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
