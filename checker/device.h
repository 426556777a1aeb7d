// SPDX-License-Identifier: MIT
//
// What host code needs of CUDA: owners of device memory, pinned memory, streams and events, whose errors throw.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <limits>
#include <memory>
#include <source_location>
#include <string>

#include "checker/cuda_check.h"
#include "checker/resources.h"

namespace checker {

// A card's memory in bytes: what a program may still take, and all.
struct MemoryLeft {
    std::size_t free = 0;
    std::size_t all = 0;
};

// What the system could still give to a program, by its own estimate: memory that holds files counts as free.
inline std::size_t system_memory_available() {
    std::ifstream meminfo("/proc/meminfo");
    for (std::string name; meminfo >> name; meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        if (name == "MemAvailable:") {
            std::size_t kib = 0;
            meminfo >> kib;
            return kib << 10;
        }
    }
    return 0;
}

// Windows' driver, under WSL2 too, refuses nothing: what the card has no room for goes into the system's memory, where
// kernels reach it over PCIe. So what is free is asked for, and some of it is left to the desktop. Where the card has no
// memory of its own (Jetson), the driver's own number counts memory that holds files as taken.
inline MemoryLeft memory_left(std::source_location where = std::source_location::current()) {
    constexpr std::size_t kLeftToOthers = std::size_t{256} << 20;
    MemoryLeft left;
    check(cudaMemGetInfo(&left.free, &left.all), where);
    int device = 0;
    int integrated = 0;
    check(cudaGetDevice(&device), where);
    check(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device), where);
    if (integrated != 0) {
        left.free = std::max(left.free, std::min(system_memory_available(), left.all));
    }
    left.free -= std::min(left.free, kLeftToOthers);
    return left;
}

struct DeviceMemory {
    static cudaError_t allocate(void** to, std::size_t bytes) {
        return bytes > memory_left().free ? cudaErrorMemoryAllocation : cudaMalloc(to, bytes);
    }
    static cudaError_t release(void* p) { return cudaFree(p); }
};
struct PinnedMemory {
    static cudaError_t allocate(void** to, std::size_t bytes) { return cudaMallocHost(to, bytes); }
    static cudaError_t release(void* p) { return cudaFreeHost(p); }
};

// `size` elements of a kind of memory, freed at the end of its scope. Its content is undefined.
template <class T, class Memory>
class OwnedBuffer {
  public:
    explicit OwnedBuffer(std::size_t size, std::source_location where = std::source_location::current()) : size_(size) {
        void* data = nullptr;
        check(Memory::allocate(&data, size * sizeof(T)), where);
        data_.reset(static_cast<T*>(data));
    }
    T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

  private:
    struct Free {
        void operator()(T* data) const { static_cast<void>(Memory::release(data)); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

template <class T>
using DeviceBuffer = OwnedBuffer<T, DeviceMemory>;
// Host memory that stays in place, so that the device copies it without the processor's help.
template <class T>
using PinnedBuffer = OwnedBuffer<T, PinnedMemory>;

// The device's memory, for a Context's workspace.
class DeviceAllocator final : public Allocator {
  public:
    std::byte* allocate(std::size_t bytes) override {
        void* memory = nullptr;
        check(DeviceMemory::allocate(&memory, bytes));
        return static_cast<std::byte*>(memory);
    }
    void release(std::byte* memory) override { static_cast<void>(DeviceMemory::release(memory)); }
};

class Stream {
  public:
    explicit Stream(unsigned flags = cudaStreamDefault) {
        cudaStream_t stream = nullptr;
        check(cudaStreamCreateWithFlags(&stream, flags));
        stream_.reset(stream);
    }
    cudaStream_t get() const { return stream_.get(); }

  private:
    struct Destroy {
        void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
    };
    std::unique_ptr<CUstream_st, Destroy> stream_;
};

class Event {
  public:
    Event() {
        cudaEvent_t event = nullptr;
        check(cudaEventCreate(&event));
        event_.reset(event);
    }
    void record(cudaStream_t stream) const { check(cudaEventRecord(event_.get(), stream)); }
    void wait() const { check(cudaEventSynchronize(event_.get())); }

    // True once the device has come past the recorded moment.
    bool reached() const {
        const cudaError_t status = cudaEventQuery(event_.get());
        if (status == cudaErrorNotReady) {
            static_cast<void>(cudaGetLastError());  // an answer, not an error
            return false;
        }
        check(status);
        return true;
    }

    // Seconds from `begin` to this event; both must have been reached.
    double seconds_since(const Event& begin) const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin.event_.get(), event_.get()));
        return static_cast<double>(milliseconds) * 1e-3;
    }

  private:
    struct Destroy {
        void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
    };
    std::unique_ptr<CUevent_st, Destroy> event_;
};

}  // namespace checker
