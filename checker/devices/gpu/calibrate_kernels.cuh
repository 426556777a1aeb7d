// SPDX-License-Identifier: MIT
//
// The kernels that calibrate_gpu.cu alone needs; those of gpu_kernels.cuh it shares with the timing of lessons.
#pragma once

#include <cuda_bf16.h>

#include "checker/devices/gpu/gpu_kernels.cuh"

namespace checker {

// The 16 bytes that write_kernel puts at index i: never the same at two indices of a buffer, and no zeros to speak of.
__host__ __device__ inline uint4 pattern(std::uint32_t i, std::uint32_t seed) {
    const std::uint32_t x = i * 0x9e3779b1U + seed;
    return {x, x ^ 0x5bd1e995U, x + 0x7f4a7c15U, ~x};
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

__global__ void empty_kernel() {}

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
