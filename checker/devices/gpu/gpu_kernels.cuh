// SPDX-License-Identifier: MIT
//
// Kernels that find a GPU's roof: copies, reads, multiply-adds. None is taught: each keeps one unit of the device busy
// and does nothing else. Those that only read or compute add up what they got and store the sum where it is at least
// `needle`: never while they are timed, always while they are verified. So the same machine code is verified and timed,
// and the compiler cannot leave the work out. They also compile for the CPU device, where the GPU's side of the checker
// is rehearsed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/device.h"

namespace checker {

constexpr int kBlock = 256;  // threads of a block, in every kernel but the empty one

// A tile is what a block of a memory kernel takes at once: `kLoads` 16-byte accesses of each thread.
__host__ __device__ constexpr std::size_t tile_size(int loads) {  // in uint4
    return static_cast<std::size_t>(kBlock * loads);
}

// A different 32-bit number for each i (the finaliser of MurmurHash3: a bijection).
__host__ __device__ inline std::uint32_t scramble(std::uint32_t i) {
    i = (i ^ (i >> 16)) * 0x85ebca6bU;
    i = (i ^ (i >> 13)) * 0xc2b2ae35U;
    return i ^ (i >> 16);
}

// Uniform in [-1, 1].
__host__ __device__ inline float uniform(std::uint32_t i) {
    return static_cast<float>(static_cast<std::int32_t>(scramble(i))) * 0x1p-31F;
}

__host__ __device__ inline std::uint32_t sum_of(uint4 v) {
    return v.x + v.y + v.z + v.w;
}

// A load of 16 bytes from L2 or beyond: L1 keeps nothing of it, and the compiler neither merges nor hoists it.
__device__ inline uint4 load_past_l1(const uint4* p) {
#ifdef __SIMT__
    return __ldcg(p);
#else
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
    return v;
#endif
}

__device__ inline std::uint64_t global_nanoseconds() {
#ifdef __SIMT__
    return static_cast<std::uint64_t>(clock64());  // it counts nanoseconds there
#else
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
#endif
}

// Cycles of a multiprocessor and nanoseconds between the same two moments: its clock while it worked.
struct ClockReading {
    std::int64_t cycles;
    std::uint64_t nanoseconds;
};

__device__ inline ClockReading read_clock() {
    return {clock64(), global_nanoseconds()};
}

// One thread of the grid reports; all blocks are resident and work equally long.
__device__ inline void report_clock(ClockReading* clock, ClockReading begin) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const ClockReading end = read_clock();
        *clock = {end.cycles - begin.cycles, end.nanoseconds - begin.nanoseconds};
    }
}

// out = inp, `passes` times. A block takes every gridDim.x-th tile; a thread has kLoads 16-byte loads in flight before
// its first store, and the 32 lanes of a warp touch 512 neighbouring bytes each time.
template <int kLoads>
__global__ void __launch_bounds__(kBlock) copy_kernel(uint4* out,        // (tiles, kLoads, kBlock)
                                                      const uint4* inp,  // (tiles, kLoads, kBlock)
                                                      std::size_t tiles, int passes) {
    for (int pass = 0; pass < passes; pass++) {
        for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const std::size_t first = tile * tile_size(kLoads) + threadIdx.x;
            uint4 v[kLoads];
#pragma unroll
            for (int i = 0; i < kLoads; i++) { v[i] = load_past_l1(inp + first + i * kBlock); }
#pragma unroll
            for (int i = 0; i < kLoads; i++) { out[first + i * kBlock] = v[i]; }
        }
    }
}

// total += the sum of all 32-bit words of inp, `passes` times, where a thread's share is at least `needle`.
// Blocks and threads go over inp as in copy_kernel.
template <int kLoads>
__global__ void __launch_bounds__(kBlock) read_kernel(std::uint32_t* total,
                                                      const uint4* inp,  // (tiles, kLoads, kBlock)
                                                      std::size_t tiles, int passes, std::uint32_t needle) {
    std::uint32_t sum = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const std::size_t first = tile * tile_size(kLoads) + threadIdx.x;
            uint4 v[kLoads];
#pragma unroll
            for (int i = 0; i < kLoads; i++) { v[i] = load_past_l1(inp + first + i * kBlock); }
#pragma unroll
            for (int i = 0; i < kLoads; i++) { sum += sum_of(v[i]); }
        }
    }
    if (sum >= needle) {
        atomicAdd(total, sum);
    }
}

constexpr int kFmaPairs = 8;   // independent chains of a thread
constexpr int kFmaSteps = 32;  // steps in the loop's body: 512 multiply-adds to its 3 other instructions
constexpr double kFmaFlopPerRound = 2.0 * kFmaPairs * 2 * kFmaSteps;  // of one thread

// x += s y, then y -= s x: a turn on an ellipse, so that the numbers neither grow nor settle however long it runs.
// A thread turns eight points at once, which hides the latency of a multiply-add (4 cycles) many times over.
static __global__ void __launch_bounds__(kBlock)
    fma_kernel(float* out,  // (threads)
               ClockReading* clock, int rounds, float needle, std::uint32_t seed) {
    const int thread = blockIdx.x * kBlock + threadIdx.x;
    const std::uint32_t first = seed + static_cast<std::uint32_t>(thread) * (2 * kFmaPairs + 1);
    const float s = 0.5F + 0.25F * uniform(first);
    float x[kFmaPairs], y[kFmaPairs];
#pragma unroll
    for (int i = 0; i < kFmaPairs; i++) {
        x[i] = uniform(first + 1 + 2 * i);
        y[i] = uniform(first + 2 + 2 * i);
    }
    const ClockReading begin = read_clock();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < kFmaSteps; step++) {
#pragma unroll
            for (int i = 0; i < kFmaPairs; i++) { x[i] = fmaf(s, y[i], x[i]); }
#pragma unroll
            for (int i = 0; i < kFmaPairs; i++) { y[i] = fmaf(-s, x[i], y[i]); }
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kFmaPairs; i++) { sum += x[i] + y[i]; }
    if (sum >= needle) {
        out[thread] = sum;
    }
    report_clock(clock, begin);
}

}  // namespace checker
