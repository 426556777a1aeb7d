// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <new>

struct CUstream_st;  // cudaStream_t is a pointer to it

// What an op needs beside its arguments: on a CPU the threads that it may use and a workspace; on a device also the
// stream and the library handles.
class Context {
  public:
    int threads = 1;
    CUstream_st* stream = nullptr;  // what a device's ops launch on; null: the default stream

    // At least `floats` floats, aligned to 64 bytes, unset; they belong to the op until it returns. Grows when needed
    // and is kept, so that an op that is called often does not pay for fresh memory each time.
    float* workspace(std::size_t floats) {
        if (floats > floats_) {
            memory_.reset();  // first, so that old and new are never there at once
            floats_ = 0;
            memory_.reset(static_cast<float*>(::operator new(floats * sizeof(float), kAlignment)));
            floats_ = floats;
        }
        return memory_.get();
    }

  private:
    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(float* p) const { ::operator delete(p, kAlignment); }
    };
    std::unique_ptr<float, Free> memory_;
    std::size_t floats_ = 0;
};
