// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/resources.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

// What an op needs beside its arguments: the threads that it may use on a CPU, the stream on a device, a workspace, and
// the handles of libraries. Who runs the ops makes it: the gpt2 program's placement, or the check.
class Context {
  public:
    int threads = 1;
    CUstream_st* stream = nullptr;  // what a device's ops launch on; null: the default stream

    // The workspace comes from `memory`, which outlives the Context, as the stream does: the device's, on a device. Null:
    // the host's.
    explicit Context(checker::Allocator* memory = nullptr, CUstream_st* ops_launch_on = nullptr)
        : stream(ops_launch_on), workspace_(memory) {}

    // At least `bytes` bytes that start at a multiple of `alignment`, unset; they belong to the op until it returns. Grows
    // when needed and is kept, so that an op that is called often does not pay for fresh memory each time.
    void* workspace(std::size_t bytes, std::size_t alignment = 64) {
        bytes += alignment > kAlignment ? alignment - kAlignment : 0;  // an aligned address is among these
        if (bytes > bytes_) {
            bytes_ = 0;
            workspace_.allocate(bytes);
            bytes_ = bytes;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(workspace_.get());
        return workspace_.get() + (alignment - address % alignment) % alignment;
    }

    // The same for `count` elements.
    template <class T>
    T* workspace(std::size_t count) {
        return static_cast<T*>(workspace(count * sizeof(T)));
    }

    // The one H of this Context: made by H() when it is first asked for, and kept. It owns a library's handle, say:
    //   struct Cublas {
    //       cublasHandle_t handle = nullptr;
    //       Cublas() { check(cublasCreate(&handle)); }
    //       ~Cublas() { cublasDestroy(handle); }
    //   };
    //   … cublasSgemm(ctx.handle<Cublas>().handle, …)
    template <class H>
    H& handle() {
        return handles_.get<H>();
    }

  private:
    static constexpr std::size_t kAlignment = checker::Allocator::kAlignment;

    checker::OwnedMemory workspace_;
    std::size_t bytes_ = 0;
    checker::OnePerType handles_;  // destroyed before the workspace: a library may work in it
};
