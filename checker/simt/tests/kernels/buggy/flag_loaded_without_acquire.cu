// SPDX-License-Identifier: MIT
// verdict: race global flag_loaded_without_acquire.cu:10 flag_loaded_without_acquire.cu:14
// A flag that is stored with a release and loaded relaxed: the number that it announces may still be the old one.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void publish(int* number, int* flag, int* got) {
    if (blockIdx.x == 0) {
        *number = 42;
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {}
        *got = *number;
    }
}

int main() {
    int* ints = nullptr;
    cudaMalloc(&ints, 3 * sizeof(int));
    cudaMemset(ints, 0, 3 * sizeof(int));
    publish<<<2, 1>>>(ints, ints + 1, ints + 2);
    const bool fine = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(ints);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
