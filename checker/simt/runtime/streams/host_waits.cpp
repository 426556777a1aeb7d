// SPDX-License-Identifier: MIT
//
// The C library's functions in which a thread of the host begins, or sleeps until somebody wakes it. If that is a
// host function of a stream, it runs before the host goes to sleep: nobody else would run it. C++'s own threads,
// condition variables, semaphores, latches and futures end here too.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <optional>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/faults.h"

#define SIMT_SITE __builtin_return_address(0)

namespace simt {
namespace {

// The library's function behind ours of the same name.
template <class Function>
Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The host functions that wait run first. A host function itself may sleep for another thread, but not for the host, in
// whose thread it runs: it is watched.
class BeforeSleep {
  public:
    explicit BeforeSleep(const void* site) {
        Streams::instance().run_host_functions();
        if (Streams::instance().in_host_function()) {
            watch_.emplace(site);
        }
    }

  private:
    std::optional<HostFunctionWatch> watch_;
};

// A condition variable's wait may end without a cause; the host then looks itself at what it waits for.
template <class Wait>
int wait_for_condition(pthread_mutex_t* mutex, const void* site, Wait wait) {
    if (Streams::instance().has_host_functions()) {
        pthread_mutex_unlock(mutex);  // they may lock it
        Streams::instance().run_host_functions();
        pthread_mutex_lock(mutex);
        return 0;
    }
    const BeforeSleep before(site);
    return wait();
}

}  // namespace
}  // namespace simt

extern "C" {

int sem_wait(sem_t* semaphore) {
    static auto* const real = simt::next(&sem_wait, "sem_wait");
    const simt::BeforeSleep before(SIMT_SITE);
    return real(semaphore);
}

int sem_timedwait(sem_t* semaphore, const timespec* until) {
    static auto* const real = simt::next(&sem_timedwait, "sem_timedwait");
    const simt::BeforeSleep before(SIMT_SITE);
    return real(semaphore, until);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    static auto* const real = simt::next(&pthread_cond_wait, "pthread_cond_wait");
    return simt::wait_for_condition(mutex, SIMT_SITE, [&] { return real(condition, mutex); });
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
    static auto* const real = simt::next(&pthread_cond_timedwait, "pthread_cond_timedwait");
    return simt::wait_for_condition(mutex, SIMT_SITE, [&] { return real(condition, mutex, until); });
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    static auto* const real = simt::next(&pthread_cond_clockwait, "pthread_cond_clockwait");
    return simt::wait_for_condition(mutex, SIMT_SITE, [&] { return real(condition, mutex, clock, until); });
}

int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
    static auto* const real = simt::next(&pthread_barrier_wait, "pthread_barrier_wait");
    const simt::BeforeSleep before(SIMT_SITE);
    return real(barrier);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* data) noexcept {
    static auto* const real = simt::next(&pthread_create, "pthread_create");
    simt::hot.one_host_thread = false;
    return real(thread, attributes, run, data);
}

int pthread_join(pthread_t thread, void** result) {
    static auto* const real = simt::next(&pthread_join, "pthread_join");
    const simt::BeforeSleep before(SIMT_SITE);
    return real(thread, result);
}

// std::latch, std::barrier, semaphores and atomics that wait call it for a futex.
long syscall(long number, ...) noexcept {
    static auto* const real = simt::next(&syscall, "syscall");
    va_list list;
    va_start(list, number);
    long a[6];
    for (long& argument : a) { argument = va_arg(list, long); }
    va_end(list);
    const long command = a[1] & FUTEX_CMD_MASK;
    std::optional<simt::BeforeSleep> before;
    if (number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)) {
        before.emplace(SIMT_SITE);
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
