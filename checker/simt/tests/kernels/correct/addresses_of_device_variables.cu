// SPDX-License-Identifier: MIT
// verdict: correct
// The host has the addresses of __device__ variables from the device: from cudaGetSymbolAddress and from kernels. Those
// of __managed__ ones it may take itself.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int asked, stored, shown;
__device__ int* kept;
__managed__ int managed;

__global__ void give(int** to_copy, int** to_read) {
    *to_copy = &stored;
    *to_read = &shown;
    kept = &stored;
}
__global__ void count(int* n) {
    ++*n;
}
__global__ void refer(int& n) {
    n += 2;
}

int main() {
    int **to_copy = nullptr, **to_read = nullptr, *address = nullptr, *copied = nullptr;
    cudaMalloc(&to_copy, sizeof(int*));
    cudaMallocManaged(&to_read, sizeof(int*));
    give<<<1, 1>>>(to_copy, to_read);
    cudaMemcpy(&copied, to_copy, sizeof(int*), cudaMemcpyDeviceToHost);
    int* const read = *to_read;
    cudaFree(to_copy);
    cudaFree(to_read);
    cudaGetSymbolAddress(reinterpret_cast<void**>(&address), asked);
    for (int* n : {address, copied, read, &managed}) {
        count<<<1, 1>>>(n);
        refer<<<1, 1>>>(*n);
    }
    int host[4] = {};
    cudaMemcpy(&host[0], address, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&host[1], copied, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&host[2], read, sizeof(int), cudaMemcpyDeviceToHost);
    host[3] = managed;
    return host[0] == 3 && host[1] == 3 && host[2] == 3 && host[3] == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
