// SPDX-License-Identifier: MIT
//
// The sum of N whole numbers, added up within each block; out has a sum per block, or one in all where blocks add theirs to
// it by an atomic. Buffers of floats are read as whole numbers.
#include <cuda_runtime.h>

#include "checker/estimate/published/kernels.h"

namespace published {
namespace {

// How the sums of a block's threads are added up in shared memory.
enum class Tree {
    modulo,      // at distance 1, 2, 4, …: by the threads whose number is a multiple of twice that
    strided,     // the same by the first threads, each at twice its number times the distance
    sequential,  // at half the block, a quarter, …: by the first threads
    last_warp,   // the same, but the last 64 by one warp without barriers
    unrolled,    // the same with the distances written out
};

// By the lanes of one warp: what a lane reads is read before anybody writes there.
__device__ void add_last_64(int* sum, int thread) {
    int of_thread = sum[thread];
    for (int distance = 32; distance > 0; distance /= 2) {
        of_thread += sum[thread + distance];
        __syncwarp();
        sum[thread] = of_thread;
        __syncwarp();
    }
}

template <Tree kTree, int kThreads>
__device__ void add_up(int* sum, int thread) {
    if constexpr (kTree == Tree::modulo) {
        for (int distance = 1; distance < static_cast<int>(blockDim.x); distance *= 2) {
            if (thread % (2 * distance) == 0) {
                sum[thread] += sum[thread + distance];
            }
            __syncthreads();
        }
    } else if constexpr (kTree == Tree::strided) {
        for (int distance = 1; distance < static_cast<int>(blockDim.x); distance *= 2) {
            const int i = 2 * distance * thread;
            if (i < static_cast<int>(blockDim.x)) {
                sum[i] += sum[i + distance];
            }
            __syncthreads();
        }
    } else if constexpr (kTree == Tree::sequential) {
        for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
            if (thread < distance) {
                sum[thread] += sum[thread + distance];
            }
            __syncthreads();
        }
    } else if constexpr (kTree == Tree::last_warp) {
        for (int distance = blockDim.x / 2; distance > 32; distance /= 2) {
            if (thread < distance) {
                sum[thread] += sum[thread + distance];
            }
            __syncthreads();
        }
        if (thread < 32) {
            add_last_64(sum, thread);
        }
    } else {
#pragma unroll
        for (int distance = kThreads / 2; distance > 32; distance /= 2) {
            if (thread < distance) {
                sum[thread] += sum[thread + distance];
            }
            __syncthreads();
        }
        if (thread < 32) {
            add_last_64(sum, thread);
        }
    }
}

// kLoads neighbouring blocks' worth of elements per block, one of each per thread.
template <Tree kTree, int kThreads, int kLoads>
__global__ void block_sums(int* out, const int* a, unsigned N) {
    __shared__ int sum[kThreads];
    const int thread = threadIdx.x;
    const unsigned i = blockIdx.x * (kLoads * kThreads) + thread;
    int of_thread = 0;
    for (int load = 0; load < kLoads; load++) { of_thread += i + load * kThreads < N ? a[i + load * kThreads] : 0; }
    sum[thread] = of_thread;
    __syncthreads();
    add_up<kTree, kThreads>(sum, thread);
    if (thread == 0) {
        out[blockIdx.x] = sum[0];
    }
}

// All that is left to the grid is added up by its threads in turn.
template <Tree kTree, int kThreads, bool kAtomic>
__global__ void grid_stride_sums(int* out, const int* a, unsigned N) {
    __shared__ int sum[kThreads];
    const int thread = threadIdx.x;
    int of_thread = 0;
    for (unsigned i = blockIdx.x * kThreads + thread; i < N; i += gridDim.x * kThreads) { of_thread += a[i]; }
    sum[thread] = of_thread;
    __syncthreads();
    add_up<kTree, kThreads>(sum, thread);
    if (thread == 0) {
        if constexpr (kAtomic) {
            atomicAdd(out, sum[0]);
        } else {
            out[blockIdx.x] = sum[0];
        }
    }
}

__device__ int added(int x) {
    return x;
}
__device__ int added(int4 x) {
    return x.x + x.y + x.z + x.w;
}

// kLoads neighbouring T per thread, and an atomic per block.
template <typename T, int kThreads, int kLoads>
__global__ void sums_of_neighbours(int* out, const T* a, unsigned count) {
    __shared__ int sum[kThreads];
    const int thread = threadIdx.x;
    const unsigned i = (blockIdx.x * kThreads + thread) * kLoads;
    int of_thread = 0;
#pragma unroll
    for (int load = 0; load < kLoads; load++) {
        if (i + load < count) {
            of_thread += added(a[i + load]);
        }
    }
    sum[thread] = of_thread;
    __syncthreads();
    add_up<Tree::unrolled, kThreads>(sum, thread);
    if (thread == 0) {
        atomicAdd(out, sum[0]);
    }
}

unsigned blocks(long count, int block) {
    return static_cast<unsigned>((count + block - 1) / block);
}

template <Tree kTree, int kThreads, int kLoads>
void one_pass(const Problem& p) {
    block_sums<kTree, kThreads, kLoads><<<blocks(p.N, kThreads * kLoads), kThreads>>>(
        reinterpret_cast<int*>(p.out), reinterpret_cast<const int*>(p.a), static_cast<unsigned>(p.N));
}

// As many passes over what the one before has left as it takes: each divides by kThreads * kLoads. They write to b and to out
// in turn, the last one to out.
template <Tree kTree, int kThreads, int kLoads>
void passes(const Problem& p) {
    int left = 0;
    for (long n = p.N; n > 1; n = blocks(n, kThreads * kLoads)) { left++; }
    const float* from = p.a;
    for (long n = p.N; n > 1; n = blocks(n, kThreads * kLoads)) {
        float* to = --left % 2 == 0 ? p.out : const_cast<float*>(p.b);
        one_pass<kTree, kThreads, kLoads>({.N = n, .out = to, .a = from});
        from = to;
    }
}

// One element per thread, then all blocks' sums by one block.
void two_passes(const Problem& p) {
    const auto count = static_cast<unsigned>(p.N);
    int* of_blocks = reinterpret_cast<int*>(const_cast<float*>(p.b));
    grid_stride_sums<Tree::sequential, 512, false>
        <<<blocks(p.N, 512), 512>>>(of_blocks, reinterpret_cast<const int*>(p.a), count);
    grid_stride_sums<Tree::sequential, 512, false>
        <<<1, 512>>>(reinterpret_cast<int*>(p.out), of_blocks, blocks(p.N, 512));
}

void atomics(const Problem& p) {
    grid_stride_sums<Tree::sequential, 512, true><<<blocks(p.N, 512), 512>>>(
        reinterpret_cast<int*>(p.out), reinterpret_cast<const int*>(p.a), static_cast<unsigned>(p.N));
}

template <typename T, int kThreads, int kLoads>
void neighbours(const Problem& p) {
    const auto count = static_cast<unsigned>(p.N * sizeof(int) / sizeof(T));
    sums_of_neighbours<T, kThreads, kLoads><<<blocks(count, kThreads * kLoads), kThreads>>>(
        reinterpret_cast<int*>(p.out), reinterpret_cast<const T*>(p.a), count);
}

}  // namespace

const std::vector<Published> sums = {
    {"modulo, block 512", passes<Tree::modulo, 512, 1>},
    {"strided, block 512", passes<Tree::strided, 512, 1>},
    {"sequential, block 512", passes<Tree::sequential, 512, 1>},
    {"two loads, block 512", passes<Tree::sequential, 512, 2>},
    {"two loads, last warp, block 512", passes<Tree::last_warp, 512, 2>},
    {"two loads, unrolled, block 512", passes<Tree::unrolled, 512, 2>},
    {"one load, two passes, block 512", two_passes},
    {"one load, atomics, block 512", atomics},
    {"12 neighbours, block 512", neighbours<int, 512, 12>},
    {"3 int4, block 512", neighbours<int4, 512, 3>},
};

}  // namespace published
