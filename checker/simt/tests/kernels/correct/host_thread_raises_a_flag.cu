// SPDX-License-Identifier: MIT
// verdict: correct
// A kernel waits for a flag in pinned memory that another thread of the host raises, once.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

__global__ void kernel(const volatile int* flag, int* out) {
    while (*flag == 0) {
    }
    __threadfence_system();
    out[threadIdx.x] = 7;
}

int main() {
    int host[32];
    int *flag = nullptr, *out = nullptr;
    cudaMallocHost(&flag, sizeof(int));
    cudaMalloc(&out, sizeof host);
    *flag = 0;
    kernel<<<1, 32>>>(flag, out);
    std::thread other([flag] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::atomic_ref<int>(*flag).store(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    });
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    other.join();
    cudaFreeHost(flag);
    cudaFree(out);
    for (const int value : host) {
        if (value != 7) {
            return EXIT_FAILURE;
        }
    }
}
