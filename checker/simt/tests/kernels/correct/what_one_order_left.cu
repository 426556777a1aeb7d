// SPDX-License-Identifier: MIT
// verdict: correct
// A launch that runs in several orders is one launch to its program: each adds once, and prints once.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__device__ int locked, launches;
__managed__ int blocks;

__global__ void kernel(int* sum, int* managed, int* who) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(&locked, 0, 1) != 0) {
    }
    __threadfence();
    *sum += 1;
    *managed += 2;
    blocks += 3;
    who[blockIdx.x] = *sum;
    if (*sum % 4 == 1) {
        launches++;
        printf("launch %d\n", launches);
    }
    __threadfence();
    atomicExch(&locked, 0);
}

int main() {
    int host[4], total = 0;
    int *sum = nullptr, *managed = nullptr, *who = nullptr;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    cudaMalloc(&who, sizeof host);
    cudaMallocManaged(&managed, sizeof(int));
    *managed = 0;
    bool right = true;
    for (int launch = 1; launch <= 3; launch++) {
        kernel<<<4, 32>>>(sum, managed, who);
        cudaMemcpy(host, who, sizeof host, cudaMemcpyDeviceToHost);
        cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
        right = right && total == 4 * launch && *managed == 8 * launch && blocks == 12 * launch &&
                host[0] + host[1] + host[2] + host[3] == 4 * (4 * launch - 4) + 10;
    }
    cudaFree(sum);
    cudaFree(who);
    cudaFree(managed);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
