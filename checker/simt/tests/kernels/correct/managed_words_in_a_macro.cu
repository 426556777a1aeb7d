// SPDX-License-Identifier: MIT
// verdict: correct
// The words before a variable, in any order and from a macro.
#include <cuda_runtime.h>

#include <cstdlib>

#define UNIFIED __managed__
#define BOTH __device__ __managed__
#define TABLE __constant__

__managed__ __device__ int a = 1;
UNIFIED int b = 2;
__device__ UNIFIED int c = 3;
BOTH int d = 4;
TABLE int table[2] = {5, 6};

__global__ void sum(int* out) {
    *out = a + b + c + d + table[1];
    a = 7;
}

int main() {
    int host = 0;
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    b += 10;
    d += 20;
    sum<<<1, 1>>>(out);
    cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host == 46 && a == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
