// SPDX-License-Identifier: MIT
//
// The imaginary device. It has the limits of compute capability 9.0, one multiprocessor, and takes no time.
#pragma once

#include <cstddef>

namespace simt {

inline constexpr int kMajor = 9;
inline constexpr int kMinor = 0;
inline constexpr std::size_t kMaxThreads = 1024;  // a block
inline constexpr unsigned kMaxBlockZ = 64;
inline constexpr unsigned kMaxGridX = 2147483647;
inline constexpr unsigned kMaxGridYZ = 65535;
inline constexpr std::size_t kMaxThreadsPerMultiprocessor = 2048;
inline constexpr std::size_t kMaxBlocksPerMultiprocessor = 16;  // Scheduler: kResidentBlocks
inline constexpr std::size_t kSharedPerMultiprocessor = 228 * 1024;
inline constexpr std::size_t kReservedSharedPerBlock = 1024;
inline constexpr int kRegistersPerMultiprocessor = 65536;
inline constexpr int kRegistersPerThread = 32;            // stated, not counted: it does not limit occupancy
inline constexpr std::size_t kConstantBytes = 64 * 1024;  // limit for the variables of a source file

}  // namespace simt
