// SPDX-License-Identifier: MIT
// verdict: leak heap_of_the_device_misused.cu:15
// verdict: double_free heap_of_the_device_misused.cu:18
// verdict: out_of_bounds global heap_of_the_device_misused.cu:20
// verdict: use_after_free global heap_of_the_device_misused.cu:26
// verdict: invalid_free heap_of_the_device_misused.cu:22
// verdict: invalid_free heap_of_the_device_misused.cu:38
// What a kernel allocates and forgets, frees twice, or uses beyond its end.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int** kept) {
    // Nobody frees the first one.
    kept[0] = new int(3);
    kept[1] = static_cast<int*>(malloc(16));
    free(kept[1]);
    free(kept[1]);
    kept[2] = new int[4];
    kept[2][4] = 5;
    delete[] kept[2];
    free(out);
}

__global__ void later(int* out, int** kept) {
    out[0] = kept[2][0];
}

int main() {
    int* out = nullptr;
    int** kept = nullptr;
    int* pointer = nullptr;
    cudaMalloc(&out, sizeof(int));
    cudaMalloc(&kept, 3 * sizeof(int*));
    kernel<<<1, 1>>>(out, kept);
    later<<<1, 1>>>(out, kept);
    cudaMemcpy(&pointer, kept, sizeof pointer, cudaMemcpyDeviceToHost);
    cudaFree(pointer);
    cudaFree(out);
    cudaFree(kept);
    return EXIT_SUCCESS;
}
