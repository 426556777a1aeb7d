// SPDX-License-Identifier: MIT
// verdict: correct
// A struct is written member by member and copied whole: nobody writes its padding.
#include <cuda_runtime.h>

#include <cstdlib>

struct Item {
    char tag;
    float value;
};

__global__ void write(Item* items) {
    items[threadIdx.x].tag = 'a';
    items[threadIdx.x].value = 2.0F;
}

__global__ void copy(Item* to, const Item* from) {
    to[threadIdx.x] = from[threadIdx.x];
}

int main() {
    Item *a = nullptr, *b = nullptr;
    cudaMalloc(&a, 32 * sizeof(Item));
    cudaMalloc(&b, 32 * sizeof(Item));
    write<<<1, 32>>>(a);
    copy<<<1, 32>>>(b, a);
    Item last = {};
    cudaMemcpy(&last, b + 31, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    return last.tag == 'a' && last.value == 2.0F ? EXIT_SUCCESS : EXIT_FAILURE;
}
