// SPDX-License-Identifier: MIT
// verdict: correct
// Integer functions against values worked out by hand.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d: got %lld, wanted %lld\n", line, got, wanted);
        atomicAdd(&wrong, 1);
    }
}

__global__ void check() {
    expect(__LINE__, __popc(0xf0f0f0f0U), 16);
    expect(__LINE__, __popcll(0xffffffffffffffffULL), 64);
    expect(__LINE__, __clz(1), 31);
    expect(__LINE__, __clz(0), 32);
    expect(__LINE__, __clzll(1), 63);
    expect(__LINE__, __ffs(0), 0);
    expect(__LINE__, __ffs(8), 4);
    expect(__LINE__, __ffsll(1LL << 40), 41);
    expect(__LINE__, __brev(1U), 0x80000000LL);
    expect(__LINE__, static_cast<long long>(__brevll(2ULL)), 1LL << 62);
    expect(__LINE__, __byte_perm(0x33221100U, 0x77665544U, 0x7520U), 0x77552200LL);
    expect(__LINE__, __byte_perm(0x00008000U, 0U, 0x0009U), 0x000000ffLL);
    expect(__LINE__, __funnelshift_l(0x80000000U, 1U, 1U), 3);
    expect(__LINE__, __funnelshift_r(0x80000000U, 1U, 31U), 3);
    expect(__LINE__, __funnelshift_lc(5U, 6U, 40U), 5);
    expect(__LINE__, __funnelshift_rc(5U, 6U, 40U), 6);
    expect(__LINE__, __mulhi(0x40000000, 8), 2);
    expect(__LINE__, __umulhi(0x80000000U, 4U), 2);
    expect(__LINE__, __mul64hi(1LL << 62, 8LL), 2);
    expect(__LINE__, static_cast<long long>(__umul64hi(1ULL << 63, 4ULL)), 2);
    expect(__LINE__, __mul24(-3, 5), -15);
    expect(__LINE__, __umul24(0x01000002U, 3U), 6);
    expect(__LINE__, __sad(-4, 6, 1U), 11);
    expect(__LINE__, __usad(4U, 6U, 1U), 3);
    expect(__LINE__, __hadd(-3, 0), -2);
    expect(__LINE__, __rhadd(-3, 0), -1);
    expect(__LINE__, __uhadd(0xffffffffU, 1U), 0x80000000LL);
    expect(__LINE__, __urhadd(1U, 2U), 2);
    expect(__LINE__, __float_as_int(1.0F), 0x3f800000);
    expect(__LINE__, __double_as_longlong(-0.0), static_cast<long long>(0x8000000000000000ULL));
    expect(__LINE__, __double2hiint(1.0), 0x3ff00000);
    expect(__LINE__, __float2int_rn(2.5F), 2);
    expect(__LINE__, __float2int_rn(3.5F), 4);
    expect(__LINE__, __float2int_rz(-2.7F), -2);
    expect(__LINE__, __float2int_ru(2.1F), 3);
    expect(__LINE__, __float2int_rd(-2.1F), -3);
    expect(__LINE__, __float2int_rz(3e9F), 2147483647);
    expect(__LINE__, __float2uint_rz(-1.0F), 0);
    expect(__LINE__, min(3, -2), -2);
    expect(__LINE__, max(3U, 7U), 7);
    expect(__LINE__, static_cast<long long>(__int_as_float(0x40490fdb) * 1000.0F), 3141);
}

int main() {
    check<<<1, 1>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
