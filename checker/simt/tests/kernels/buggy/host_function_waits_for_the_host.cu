// SPDX-License-Identifier: MIT
// verdict: spin host_function_waits_for_the_host.cu:10
// The host waits for the stream, and a host function of the stream for the host.
#include <cuda_runtime.h>
#include <semaphore.h>

#include <cstdlib>

static void wait_for_the_host(void* ready) {
    sem_wait(static_cast<sem_t*>(ready));
}

int main() {
    sem_t ready;
    sem_init(&ready, 0, 0);
    cudaLaunchHostFunc(nullptr, wait_for_the_host, &ready);
    cudaDeviceSynchronize();
    sem_post(&ready);
    return EXIT_SUCCESS;
}
