// SPDX-License-Identifier: MIT
//
// The kernels of calibrate_gpu.cu. None is taught: each keeps one unit of the device busy and does nothing else.
// Those that only read or compute add up what they got and store the sum where it is at least `needle`: never while
// they are timed, always while they are verified. So the same machine code is verified and timed, and the compiler
// cannot leave the work out.
#pragma once

#include <cuda_bf16.h>

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

// The 16 bytes that write_kernel puts at index i: never the same at two indices of a buffer, and no zeros to speak of.
__host__ __device__ inline uint4 pattern(std::uint32_t i, std::uint32_t seed) {
    const std::uint32_t x = i * 0x9e3779b1U + seed;
    return {x, x ^ 0x5bd1e995U, x + 0x7f4a7c15U, ~x};
}

__host__ __device__ inline std::uint32_t sum_of(uint4 v) {
    return v.x + v.y + v.z + v.w;
}

// A load of 16 bytes from L2 or beyond: L1 keeps nothing of it, and the compiler neither merges nor hoists it.
__device__ inline uint4 load_past_l1(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
    return v;
}

// A load of 16 bytes from shared memory that is done as often as it is written.
__device__ inline uint4 load_shared(const uint4* p) {
    uint4 v;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(p)))
                 : "memory");
    return v;
}

__device__ inline std::uint64_t global_nanoseconds() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
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

__global__ void empty_kernel() {}

// Keeps the stream busy for `nanoseconds`, so that what follows is queued before its first kernel starts. One thread.
__global__ void delay_kernel(std::uint64_t nanoseconds) {
    const std::uint64_t begin = global_nanoseconds();
    while (global_nanoseconds() - begin < nanoseconds) {}
}

// out[i] = scramble(seed + i). Threads stride over all elements.
__global__ void fill_bits_kernel(std::uint32_t* out, std::size_t count, std::uint32_t seed) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        out[i] = scramble(seed + static_cast<std::uint32_t>(i));
    }
}

// out[i] = a number in [-1, 1], rounded to T. Threads stride over all elements.
template <class T>
__global__ void fill_uniform_kernel(T* out, std::size_t count, std::uint32_t seed) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        out[i] = static_cast<T>(uniform(seed + static_cast<std::uint32_t>(i)));
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

// out[i] = pattern(i, seed + pass). Blocks and threads go over out as in copy_kernel; each pass writes other values,
// so that no pass is left out.
template <int kLoads>
__global__ void __launch_bounds__(kBlock) write_kernel(uint4* out,  // (tiles, kLoads, kBlock)
                                                       std::size_t tiles, int passes, std::uint32_t seed) {
    for (int pass = 0; pass < passes; pass++) {
        const std::uint32_t pass_seed = seed + static_cast<std::uint32_t>(pass);
        for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const std::size_t first = tile * tile_size(kLoads) + threadIdx.x;
#pragma unroll
            for (int i = 0; i < kLoads; i++) {
                const std::size_t at = first + i * kBlock;
                out[at] = pattern(static_cast<std::uint32_t>(at), pass_seed);
            }
        }
    }
}

constexpr int kFmaPairs = 8;   // independent chains of a thread
constexpr int kFmaSteps = 32;  // steps in the loop's body: 512 multiply-adds to its 3 other instructions
constexpr double kFmaFlopPerRound = 2.0 * kFmaPairs * 2 * kFmaSteps;  // of one thread

// x += s y, then y -= s x: a turn on an ellipse, so that the numbers neither grow nor settle however long it runs.
// A thread turns eight points at once, which hides the latency of a multiply-add (4 cycles) many times over.
__global__ void __launch_bounds__(kBlock)
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

// The two tensor-core precisions of the course. Both multiply 32-bit registers (two bf16, or one TF32 number) into
// float accumulators, and need compute capability 8.0.
struct Bf16 {
    static constexpr int kDepth = 16;  // K of one mma.sync
    static __device__ std::uint32_t pack(float low, float high) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        return static_cast<std::uint32_t>(__bfloat16_as_ushort(pair.x)) |
               static_cast<std::uint32_t>(__bfloat16_as_ushort(pair.y)) << 16;
    }
};
struct Tf32 {
    static constexpr int kDepth = 8;
    static __device__ std::uint32_t pack(float value, float) {
        return __float_as_uint(value) & 0xffffe000U;  // 10 bits of mantissa
    }
};

// c (16, 8) += a (16, kDepth) b (kDepth, 8), spread over the warp's registers. Nothing before sm_80.
template <class Precision>
__device__ inline void multiply_accumulate([[maybe_unused]] float (&c)[4], [[maybe_unused]] const std::uint32_t (&a)[4],
                                           [[maybe_unused]] const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    if constexpr (Precision::kDepth == 16) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#endif
}

constexpr int kMmaRows = 2;                           // fragments of A in a warp's registers
constexpr int kMmaCols = 4;                           // fragments of B
constexpr int kMmaSteps = 4;                          // steps in the loop's body: 32 products
constexpr int kMmaOutputs = kMmaRows * kMmaCols * 4;  // accumulators of a thread
template <class Precision>
constexpr double kMmaFlopPerRound = 2.0 * 16 * 8 * Precision::kDepth* kMmaRows* kMmaCols* kMmaSteps;  // of one warp

// c[i][j] += a[i] b[j] over and over, all in registers: eight independent accumulator tiles a warp. The operands are
// middle + spread * (a number in [-1, 1]).
template <class Precision>
__global__ void __launch_bounds__(kBlock)
    mma_kernel(float* out,  // (threads)
               ClockReading* clock, int rounds, float needle, float middle, float spread, std::uint32_t seed) {
    const int thread = blockIdx.x * kBlock + threadIdx.x;
    std::uint32_t next = seed + static_cast<std::uint32_t>(thread) * (2 * (4 * kMmaRows + 2 * kMmaCols));
    const auto operand = [&] {
        const float low = middle + spread * uniform(next);
        const float high = middle + spread * uniform(next + 1);
        next += 2;
        return Precision::pack(low, high);
    };
    std::uint32_t a[kMmaRows][4], b[kMmaCols][2];
    float c[kMmaRows][kMmaCols][4] = {};
#pragma unroll
    for (int i = 0; i < kMmaRows; i++) {
#pragma unroll
        for (int r = 0; r < 4; r++) { a[i][r] = operand(); }
    }
#pragma unroll
    for (int j = 0; j < kMmaCols; j++) {
#pragma unroll
        for (int r = 0; r < 2; r++) { b[j][r] = operand(); }
    }
    const ClockReading begin = read_clock();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < kMmaSteps; step++) {
#pragma unroll
            for (int i = 0; i < kMmaRows; i++) {
#pragma unroll
                for (int j = 0; j < kMmaCols; j++) { multiply_accumulate<Precision>(c[i][j], a[i], b[j]); }
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kMmaRows; i++) {
#pragma unroll
        for (int j = 0; j < kMmaCols; j++) { sum += (c[i][j][0] + c[i][j][1]) + (c[i][j][2] + c[i][j][3]); }
    }
    if (sum >= needle) {
        out[thread] = sum;
    }
    report_clock(clock, begin);
}

constexpr int kSharedLoads = 4;
constexpr std::size_t kSharedBytes = tile_size(kSharedLoads) * sizeof(uint4);  // 16 KiB

// total += the sum of the words of a tile of shared memory, `rounds` times, where a thread's share is at least
// `needle`. Eight neighbouring lanes read 128 bytes, all 32 banks once: no conflict. Word w of
// block b is scramble(seed + b words of a tile + w).
__global__ void __launch_bounds__(kBlock) shared_read_kernel(std::uint32_t* total, ClockReading* clock, int rounds,
                                                             std::uint32_t needle, std::uint32_t seed) {
    constexpr int kTile = static_cast<int>(tile_size(kSharedLoads));
    __shared__ uint4 tile[kTile];
    for (int i = threadIdx.x; i < kTile; i += kBlock) {
        const std::uint32_t first = seed + 4U * (blockIdx.x * kTile + static_cast<std::uint32_t>(i));
        tile[i] = {scramble(first), scramble(first + 1), scramble(first + 2), scramble(first + 3)};
    }
    __syncthreads();  // a thread reads only what it wrote itself; this starts the warps together
    std::uint32_t sum = 0;
    const ClockReading begin = read_clock();
#pragma unroll 4
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < kSharedLoads; i++) { sum += sum_of(load_shared(tile + i * kBlock + threadIdx.x)); }
    }
    if (sum >= needle) {
        atomicAdd(total, sum);
    }
    report_clock(clock, begin);
}

}  // namespace checker
