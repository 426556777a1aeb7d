// SPDX-License-Identifier: MIT
// verdict: correct
// The host sleeps before there is work that could wake it: threads of its own issue that, and end. A callback of each
// starts one more thread, which frees what the first one allocated and wakes the host.
#include <cuda_runtime.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

constexpr int kWork = 8, kElements = 1000;

__global__ void increment(int* data) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kElements) {
        data[i]++;
    }
}

struct AllDone {
    std::mutex mutex;
    std::condition_variable condition;
    int done = 0;
};

struct Work {
    int id = 0;
    AllDone* all = nullptr;
    int *host = nullptr, *device = nullptr;
    cudaStream_t stream = nullptr;
    bool right = true;
};

static void finish(Work* work) {
    for (int i = 0; i < kElements; i++) { work->right = work->right && work->host[i] == work->id + i + 1; }
    cudaFree(work->device);
    cudaFreeHost(work->host);
    cudaStreamDestroy(work->stream);
    const std::lock_guard lock(work->all->mutex);
    work->all->done++;
    work->all->condition.notify_one();
}

static void start(Work* work) {
    {
        // Until here the host sleeps.
        const std::lock_guard lock(work->all->mutex);
    }
    cudaStreamCreate(&work->stream);
    cudaMalloc(&work->device, kElements * sizeof(int));
    cudaMallocHost(&work->host, kElements * sizeof(int));
    for (int i = 0; i < kElements; i++) { work->host[i] = work->id + i; }
    cudaMemcpyAsync(work->device, work->host, kElements * sizeof(int), cudaMemcpyDefault, work->stream);
    increment<<<(kElements + 127) / 128, 128, 0, work->stream>>>(work->device);
    cudaMemcpyAsync(work->host, work->device, kElements * sizeof(int), cudaMemcpyDefault, work->stream);
    cudaStreamAddCallback(
        work->stream,
        [](cudaStream_t, cudaError_t, void* data) { std::thread(finish, static_cast<Work*>(data)).detach(); }, work, 0);
}

int main() {
    AllDone all;
    std::array<Work, kWork> works;
    std::unique_lock lock(all.mutex);
    for (int i = 0; i < kWork; i++) {
        works[i].id = i;
        works[i].all = &all;
        std::thread(start, &works[i]).detach();
    }
    all.condition.wait(lock, [&] { return all.done == kWork; });
    for (const Work& work : works) {
        if (!work.right) {
            return EXIT_FAILURE;
        }
    }
}
