// SPDX-License-Identifier: MIT
// verdict: race host sleep_that_waits_for_less.cu:10 sleep_that_waits_for_less.cu:29
// The host sleeps until a host function wakes it, and reads what another stream has yet to write.
#include <cuda_runtime.h>
#include <semaphore.h>

#include <cstdlib>

__global__ void set(int* out, int value) {
    *out = value;
}

int main() {
    sem_t done;
    sem_init(&done, 0, 0);
    cudaStream_t one = nullptr, other = nullptr;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    int* values = nullptr;
    cudaMallocManaged(&values, 2 * sizeof(int));
    values[0] = values[1] = 0;
    cudaDeviceSynchronize();
    set<<<1, 1, 0, one>>>(&values[0], 1);
    set<<<1, 1, 0, other>>>(&values[1], 2);
    cudaLaunchHostFunc(one, [](void* data) { sem_post(static_cast<sem_t*>(data)); }, &done);
    sem_wait(&done);
    const int right = values[0];
    // Nothing has waited for the other stream.
    const int early = values[1];
    cudaDeviceSynchronize();
    cudaFree(values);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    return right == 1 && early <= 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
