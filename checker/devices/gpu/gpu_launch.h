// SPDX-License-Identifier: MIT
//
// Launches of the kernels in gpu_kernels.cuh, for host code that a C++ compiler compiles. All go to `stream` and throw
// CudaError where the launch is refused.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace checker {

// Keeps the stream busy for about `nanoseconds`.
void launch_delay(std::uint64_t nanoseconds, cudaStream_t stream);

constexpr std::size_t kTileBytes = std::size_t{16} << 10;  // what memory kernels take at once

// How a copy is launched: 16-byte loads that a thread has in flight (1 or 4), and blocks.
struct CopyWay {
    int loads = 4;
    unsigned int blocks = 1;
};
unsigned int resident_copy_blocks(int loads);  // that fit on the device at once
// Copies `tiles` tiles of kTileBytes bytes.
void launch_copy(void* to, const void* from, std::size_t tiles, CopyWay way, cudaStream_t stream);

// Reads `tiles` tiles of kTileBytes bytes; `sum` is written by nobody.
void launch_read(std::uint32_t* sum, const void* from, std::size_t tiles, cudaStream_t stream);

// Multiply-adds in registers on the whole device, `rounds` of them. `out` and `clock` are written to, and hold
// fma_threads() floats and 16 bytes.
std::size_t fma_threads();
double fma_flop(int rounds);
void launch_fma(float* out, void* clock, int rounds, cudaStream_t stream);

}  // namespace checker
