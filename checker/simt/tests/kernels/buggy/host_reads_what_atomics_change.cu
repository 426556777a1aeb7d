// SPDX-License-Identifier: MIT
// verdict: race host host_reads_what_atomics_change.cu:9 host_reads_what_atomics_change.cu:18
// The host's plain read is no guess that a compare-and-swap puts right.
#include <cuda_runtime.h>

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
    const int early = *sum;
    cudaDeviceSynchronize();
    const bool right = *sum == 4 * 64 && early <= 4 * 64;
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
