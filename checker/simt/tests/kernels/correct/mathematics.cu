// SPDX-License-Identifier: MIT
// verdict: correct
// Fast and special functions, within two parts in a million of values known to seven digits.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

__device__ int wrong;

__device__ void expect(int line, double got, double wanted) {
    if (!(fabs(got - wanted) <= 2e-6 * fabs(wanted))) {
        printf("line %d: got %.9g, wanted %.9g\n", line, got, wanted);
        atomicAdd(&wrong, 1);
    }
}

__global__ void check() {
    const float one = 1.0F, two = 2.0F;
    expect(__LINE__, __expf(one), 2.7182818);
    expect(__LINE__, __logf(two), 0.69314718);
    expect(__LINE__, __log2f(8.0F), 3.0);
    expect(__LINE__, __log10f(1000.0F), 3.0);
    expect(__LINE__, __powf(two, 10.0F), 1024.0);
    expect(__LINE__, __sinf(one), 0.84147098);
    expect(__LINE__, __cosf(one), 0.54030231);
    expect(__LINE__, __fdividef(one, 3.0F), 0.33333333);
    expect(__LINE__, __frcp_rn(4.0F), 0.25);
    expect(__LINE__, __saturatef(1.5F), 1.0);
    expect(__LINE__, __fmaf_rn(two, 3.0F, one), 7.0);
    expect(__LINE__, rsqrtf(16.0F), 0.25);
    expect(__LINE__, rsqrt(16.0), 0.25);
    expect(__LINE__, erff(one), 0.84270079);
    expect(__LINE__, tanhf(one), 0.76159416);
    expect(__LINE__, exp2f(0.5F), 1.4142136);
    expect(__LINE__, fmaf(0.5F, 4.0F, one), 3.0);
    expect(__LINE__, normcdff(one), 0.84134475);
    expect(__LINE__, cospif(one), -1.0);
    expect(__LINE__, sinpif(0.5F), 1.0);
    expect(__LINE__, fmaxf(NAN, 3.0F), 3.0);
    expect(__LINE__, max(1.0F, two), 2.0);
    const float4 v = make_float4(1.0F, 2.0F, 3.0F, 4.0F);
    expect(__LINE__, v.x + v.y + v.z + v.w, 10.0);
    expect(__LINE__, sizeof(float3) + alignof(float4) + alignof(int2) + alignof(uchar4), 12 + 16 + 8 + 4);
}

int main() {
    check<<<1, 1>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
