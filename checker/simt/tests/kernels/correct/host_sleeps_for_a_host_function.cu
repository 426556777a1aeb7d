// SPDX-License-Identifier: MIT
// verdict: correct
// The host sleeps until a host function wakes it, in each of the ways that there are.
#include <cuda_runtime.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

__global__ void add(int* sum, int term) {
    *sum += term;
}

struct Signals {
    sem_t posix;
    std::mutex mutex;
    std::condition_variable condition;
    bool done = false;
    std::binary_semaphore semaphore{0};
    std::latch latch{1};
    std::promise<int> promise;
    std::atomic<int> waited{0}, polled{0};
    sem_t of_a_thread;
};

template <class Wake, class Sleep>
bool wakes(int* sum, Signals& signals, int term, Wake, Sleep sleep) {
    add<<<1, 1>>>(sum, term);
    cudaLaunchHostFunc(nullptr, [](void* data) { Wake()(*static_cast<Signals*>(data)); }, &signals);
    sleep(signals);
    return *sum == term * (term + 1) / 2;  // the sleep has waited for the kernel
}

int main() {
    Signals s;
    sem_init(&s.posix, 0, 0);
    sem_init(&s.of_a_thread, 0, 0);
    int* sum = nullptr;
    cudaMallocManaged(&sum, sizeof(int));
    *sum = 0;
    cudaDeviceSynchronize();
    bool right = wakes(sum, s, 1, [](Signals& by) { sem_post(&by.posix); }, [](Signals& by) { sem_wait(&by.posix); });
    right = right && wakes(
                         sum, s, 2,
                         [](Signals& by) {
                             const std::lock_guard lock(by.mutex);
                             by.done = true;
                             by.condition.notify_one();
                         },
                         [](Signals& by) {
                             std::unique_lock lock(by.mutex);
                             by.condition.wait(lock, [&] { return by.done; });
                         });
    right = right && wakes(
                         sum, s, 3, [](Signals& by) { by.semaphore.release(); },
                         [](Signals& by) { by.semaphore.acquire(); });
    right = right && wakes(
                         sum, s, 4, [](Signals& by) { by.latch.count_down(); }, [](Signals& by) { by.latch.wait(); });
    right = right && wakes(
                         sum, s, 5, [](Signals& by) { by.promise.set_value(5); },
                         [](Signals& by) { by.promise.get_future().get(); });
    right = right && wakes(
                         sum, s, 6,
                         [](Signals& by) {
                             by.waited = 1;
                             by.waited.notify_one();
                         },
                         [](Signals& by) { by.waited.wait(0); });
    right = right && wakes(
                         sum, s, 7, [](Signals& by) { by.polled = 1; },
                         [](Signals& by) {
                             while (by.polled.load() == 0) {
                             }
                         });
    right = right && wakes(
                         sum, s, 8, [](Signals& by) { sem_post(&by.of_a_thread); },
                         [](Signals& by) { std::thread([&] { sem_wait(&by.of_a_thread); }).join(); });
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
