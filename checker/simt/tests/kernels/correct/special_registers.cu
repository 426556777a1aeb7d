// SPDX-License-Identifier: MIT
// verdict: correct
// Inline PTX that reads special registers, as CUB, NVIDIA's inlinePTX and others write it, and a few instructions of bits.
#include <cstdio>

template <class T>
__device__ T lane() {
    T ret;
    asm("mov.u32 %0, %%laneid;" : "=r"(ret));
    return ret;
}

#define LANE_MASK_EQ(x) asm volatile("mov.u32 %0, %lanemask_eq;" : "=r"(x)::"memory")

__device__ unsigned differences(const uint3& block, unsigned laneid) {
    const unsigned self = threadIdx.x + block.x * threadIdx.y;
    unsigned x, y, z, wrong = laneid == self % 32 ? 0 : 1;
    asm("{\n\tmov.u32 %0, %%warpid;\n\t}" : "=r"(x));
    wrong += x != self / 32;
    asm("mov.u32 %0, %%tid.x; mov.u32 %2, %%ntid.y;"
        "mov.s32 %1, %%ctaid.x; // the block"
        : "=r"(x), "=r"(y), "=r"(z));
    wrong += x != threadIdx.x || y != blockIdx.x || z != blockDim.y;
    asm("{ .reg .u32 t;\n mov.u32 t, %%nctaid.x; mov.b32 %0, t; }" : "=r"(x) :);
    wrong += x != gridDim.x;
    asm("mov.u32 %0, %%lanemask_lt;" : "=&r"(x) : :);
    asm("mov.u32 %0, %lanemask_ge;" : "=r"(y));
    LANE_MASK_EQ(z);
    wrong += x != (1u << laneid) - 1 || y != ~x || z != 1u << laneid;
    __asm__ __volatile__("mov.u32 %0, %lanemask_le;" : "=r"(y));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(z));
    wrong += y != (x | 1u << laneid) || z != ~y;
    asm("mov.u32 %0, %%smid;" : "=r"(x));
    asm("mov.u32 %0, %%nsmid;" : "=r"(y));
    asm("mov.u32 %0, WARP_SZ;" : "=r"(z));
    wrong += x >= y || z != 32;
    asm volatile("" ::: "memory");
    return wrong;
}

__device__ unsigned wrong_bits(unsigned x, unsigned long long wide) {
    unsigned a, b, c;
    asm("bfind.u32 %0, %1;" : "=r"(a) : "r"(x));
    asm("bfind.u64 %0, %1;" : "=r"(b) : "l"(wide));
    asm("bfind.s32 %0, %1;" : "=r"(c) : "r"(-1));
    unsigned wrong = a != 4 || b != 40 || c != ~0u;
    asm("bfe.u32 %0, %1, 3, %2;" : "=r"(a) : "r"(x), "r"(2));
    asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(b) : "r"(0xabcu), "r"(~0u));
    asm("popc.b32 %0, %1;" : "=r"(c) : "r"(x));
    wrong += a != 2 || b != 0xfffffbcf || c != 3;
    asm("vabsdiff4.u32.u32.u32.add"
        " %0, %1, %2, %3;"
        : "=r"(a)
        : "r"(0x01020304u), "r"(0x04030201u), "r"(100u));
    asm("brev.b32 %0, %1;" : "=r"(b) : "r"(1u));
    asm("clz.b32 %0, %1;" : "=r"(c) : "r"(1u));
    return wrong + (a != 108 || b != 0x80000000 || c != 31);
}

__global__ void k(unsigned* wrong, unsigned long long* times) {
    atomicAdd(wrong, differences(blockDim, lane<unsigned>()) + wrong_bits(0b10110, 1ull << 40));
    if (threadIdx.x + threadIdx.y + blockIdx.x == 0) {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(times[0]));
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(times[1])::"memory");
        asm volatile("mov.u64 %0, %%gridid;" : "=l"(times[2]));
        unsigned clock = 0;
        asm volatile("mov.u32 %0, %clock;" : "=r"(clock));
        times[3] = clock;
    }
}

int main() {
    unsigned *wrong, wrongs;
    unsigned long long *times, first[4], second[4];
    cudaMalloc(&wrong, sizeof *wrong);
    cudaMalloc(&times, sizeof first);
    cudaMemset(wrong, 0, sizeof *wrong);
    k<<<3, dim3(8, 6)>>>(wrong, times);
    cudaMemcpy(first, times, sizeof first, cudaMemcpyDeviceToHost);
    k<<<3, dim3(8, 6)>>>(wrong, times);
    cudaMemcpy(second, times, sizeof second, cudaMemcpyDeviceToHost);
    cudaMemcpy(&wrongs, wrong, sizeof wrongs, cudaMemcpyDeviceToHost);
    cudaFree(wrong);
    cudaFree(times);
    const bool later = second[0] > first[0] && second[1] > first[1] && second[2] != first[2];
    std::printf("%u wrong, %s\n", wrongs, later ? "later" : "not later");
    return wrongs == 0 && later ? 0 : 1;
}
