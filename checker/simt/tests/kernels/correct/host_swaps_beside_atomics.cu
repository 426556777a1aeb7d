// SPDX-License-Identifier: MIT
// verdict: correct
// The host adds to managed memory by compare-and-swap while a kernel adds to it.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdlib>

__global__ void kernel(int* sum) {
    atomicAdd_system(sum, 1);
}

int main() {
    int* sum = nullptr;
    cudaMallocManaged(&sum, sizeof(int));
    *sum = 0;
    cudaDeviceSynchronize();
    kernel<<<4, 64>>>(sum);
    for (int i = 0; i < 10; i++) {
        int old = *sum;
        while (!std::atomic_ref<int>(*sum).compare_exchange_weak(old, old + 1)) {
        }
    }
    cudaDeviceSynchronize();
    const bool right = *sum == 4 * 64 + 10;
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
