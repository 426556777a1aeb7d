// SPDX-License-Identifier: MIT
//
// What host code needs of CUDA: owners of device memory, pinned memory, streams and events, whose errors throw.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <source_location>

#include "checker/cuda_check.h"
#include "checker/resources.h"

namespace checker {

struct DeviceMemory {
    static cudaError_t allocate(void** to, std::size_t bytes) { return cudaMalloc(to, bytes); }
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
