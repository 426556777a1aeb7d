// SPDX-License-Identifier: MIT
//
// What host code needs of CUDA: owners of device memory, pinned memory, streams and events, whose errors throw.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <source_location>

#include "checker/cuda_check.h"

namespace checker {

// Device memory for `size` elements, freed at the end of its scope. Its content is undefined.
template <class T>
class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::size_t size, std::source_location where = std::source_location::current())
        : size_(size) {
        T* data = nullptr;
        check(cudaMalloc(&data, size * sizeof(T)), where);
        data_.reset(data);
    }
    T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

  private:
    struct Free {
        void operator()(T* data) const { static_cast<void>(cudaFree(data)); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

// Host memory that stays in place, so that the device copies it without the processor's help.
template <class T>
class PinnedBuffer {
  public:
    explicit PinnedBuffer(std::size_t size, std::source_location where = std::source_location::current())
        : size_(size) {
        T* data = nullptr;
        check(cudaMallocHost(&data, size * sizeof(T)), where);
        data_.reset(data);
    }
    T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

  private:
    struct Free {
        void operator()(T* data) const { static_cast<void>(cudaFreeHost(data)); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

class Stream {
  public:
    Stream() {
        cudaStream_t stream = nullptr;
        check(cudaStreamCreate(&stream));
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
