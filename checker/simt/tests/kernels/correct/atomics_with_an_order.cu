// SPDX-License-Identifier: MIT
// verdict: correct
// Atomics that say their order and their scope, as CUDA's builtins and as cuda::atomic: a flag that publishes a number
// from block to block, and one of each operation.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

__global__ void publish(int* number, int* flag, int* got) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        *number = 42;
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
        *got = *number;
    }
}

__global__ void publish_by_type(int* number, cuda::atomic<int, cuda::thread_scope_device>* flag, int* got) {
    if (blockIdx.x == 0) {
        *number = 43;
        flag->store(1, cuda::memory_order_release);
    } else {
        flag->wait(0, cuda::memory_order_acquire);
        *got = *number;
    }
}

__global__ void count(unsigned* sum, float* total, double* wide, short* narrow, long long* large) {
    __nv_atomic_fetch_add(sum, 2U, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_sub(sum + 1, 1U, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_max(large, -static_cast<long long>(threadIdx.x) - 1, __NV_ATOMIC_RELAXED);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*total).fetch_add(0.5F, cuda::memory_order_relaxed);
    cuda::atomic_ref<double, cuda::thread_scope_block> ref(*wide);
    ref += 0.25;
    short expected = 0;
    cuda::atomic_ref<short, cuda::thread_scope_block> small(*narrow);
    while (!small.compare_exchange_weak(expected, static_cast<short>(expected + 1), cuda::memory_order_relaxed)) {}
}

int main() {
    int* ints = nullptr;
    cudaMalloc(&ints, 4 * sizeof(int));
    cudaMemset(ints, 0, 4 * sizeof(int));
    int got[4];
    publish<<<2, 32>>>(ints, ints + 1, ints + 2);
    cudaMemcpy(got, ints, sizeof got, cudaMemcpyDeviceToHost);
    bool right = got[2] == 42;
    cudaMemset(ints, 0, 4 * sizeof(int));
    publish_by_type<<<2, 1>>>(ints, reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(ints + 1),
                              ints + 2);
    cudaMemcpy(got, ints, sizeof got, cudaMemcpyDeviceToHost);
    right = right && got[2] == 43;

    struct All {
        double wide;
        long long large;
        unsigned sum[2];
        float total;
        short narrow, other;
    } all = {0, -1000, {0, 64}, 0, 0, 5};
    All* device = nullptr;
    cudaMalloc(&device, sizeof all);
    cudaMemcpy(device, &all, sizeof all, cudaMemcpyHostToDevice);
    count<<<1, 64>>>(device->sum, &device->total, &device->wide, &device->narrow, &device->large);
    cudaMemcpy(&all, device, sizeof all, cudaMemcpyDeviceToHost);
    right = right && all.sum[0] == 128 && all.sum[1] == 0 && all.total == 32 && all.wide == 16 && all.narrow == 64 &&
            all.large == -1;
    cudaFree(ints);
    cudaFree(device);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
