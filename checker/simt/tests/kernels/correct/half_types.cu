// SPDX-License-Identifier: MIT
// verdict: correct
// __half and __nv_bfloat16 in kernels: loads of pairs, arithmetic, shuffles, atomics, shared memory, functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdlib>

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4);
static_assert(sizeof(__nv_bfloat16) == 2 && alignof(__nv_bfloat162) == 4);

template <class T, class Pair>
__global__ void twice(Pair* out, const Pair* inp, T* sum) {
    __shared__ Pair tile[32];
    tile[threadIdx.x] = inp[threadIdx.x];
    __syncthreads();
    Pair v = tile[31 - threadIdx.x];
    v = v + v;
    out[31 - threadIdx.x] = v;
    T x = v.x;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, lanes);
    }
    if (threadIdx.x == 0) {
        *sum = x;
    }
}

__global__ void accumulate(__half* half_sum, __half2* pair_sum, __nv_bfloat16* bfloat_sum) {
    atomicAdd(half_sum, __float2half(0.5F));
    atomicAdd(pair_sum, __floats2half2_rn(1.0F, -2.0F));
    atomicAdd(bfloat_sum, __float2bfloat16(0.25F));
}

__global__ void functions(float* out, const __half* h, const __nv_bfloat16* b) {
    const __half x = __ldg(h);
    const __nv_bfloat16 y = __ldg(b);
    out[0] = __half2float(__hfma(x, x, x));           // 2 * 2 + 2
    out[1] = __half2float(hsqrt(__hadd(x, x)));       // 2
    out[2] = __bfloat162float(__hdiv(y, __hadd(y, y)));
    out[3] = __low2float(__hmax2(__half2half2(x), __floats2half2_rn(1.0F, 3.0F)));
    out[4] = __high2float(__hmax2(__half2half2(x), __floats2half2_rn(1.0F, 3.0F)));
    out[5] = x > __float2half(1.5F) && !__hisnan(x) ? 1.0F : 0.0F;
    out[6] = static_cast<float>(__half2int_rn(__float2half(2.5F)));
    out[7] = __bfloat162float(hexp2(y));  // y = 3
}

int main() {
    __half2* memory = nullptr;
    float* out = nullptr;
    cudaMalloc(&memory, 68 * sizeof(__half2));
    cudaMalloc(&out, 8 * sizeof(float));
    __half2 host[64];
    for (int i = 0; i < 32; i++) {
        host[i] = __floats2half2_rn(static_cast<float>(i), 0.5F);
    }
    cudaMemcpy(memory, host, 32 * sizeof(__half2), cudaMemcpyHostToDevice);
    cudaMemset(memory + 64, 0, 4 * sizeof(__half2));
    __half* sum = reinterpret_cast<__half*>(memory + 64);
    twice<__half><<<1, 32>>>(memory + 32, memory, sum);
    cudaMemcpy(host + 32, memory + 32, 32 * sizeof(__half2), cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 32; i++) {
        right = right && __low2float(host[32 + i]) == 2.0F * i && __high2float(host[32 + i]) == 1.0F;
    }
    __half total;
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    right = right && __half2float(total) == 992.0F;

    cudaMemset(memory + 64, 0, 4 * sizeof(__half2));
    accumulate<<<2, 32>>>(sum, memory + 65, reinterpret_cast<__nv_bfloat16*>(memory + 66));
    struct {
        __half half_sum, unused;
        __half2 pair_sum;
        __nv_bfloat16 bfloat_sum, unused_too;
    } sums;
    cudaMemcpy(&sums, memory + 64, sizeof sums, cudaMemcpyDeviceToHost);
    right = right && static_cast<float>(sums.half_sum) == 32.0F && __low2float(sums.pair_sum) == 64.0F &&
            __high2float(sums.pair_sum) == -128.0F && static_cast<float>(sums.bfloat_sum) == 16.0F;

    const __half two = 2.0F;
    const __nv_bfloat16 three = 3;
    cudaMemcpy(memory, &two, sizeof two, cudaMemcpyHostToDevice);
    cudaMemcpy(memory + 1, &three, sizeof three, cudaMemcpyHostToDevice);
    functions<<<1, 1>>>(out, reinterpret_cast<const __half*>(memory),
                        reinterpret_cast<const __nv_bfloat16*>(memory + 1));
    float results[8];
    cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    const float expected[8] = {6, 2, 0.5F, 2, 3, 1, 2, 8};
    for (int i = 0; i < 8; i++) {
        right = right && results[i] == expected[i];
    }
    cudaFree(memory);
    cudaFree(out);
    return right && cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
