// SPDX-License-Identifier: MIT
// verdict: correct
// The two halves of a pair are taken by a union and by a cast.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdlib>

union Both {
    __half2 pair;
    unsigned int bits;
};

__global__ void swap(unsigned int* out) {
    Both both;
    both.pair = __floats2half2_rn(1.0F, static_cast<float>(threadIdx.x));
    Both swapped;
    swapped.bits = both.bits >> 16 | both.bits << 16;
    const __half2 again = __lowhigh2highlow(swapped.pair);
    out[threadIdx.x] = __hbeq2(again, both.pair) ? swapped.bits & 0xffff0000U : 0U;
}

static unsigned int expected(int i) {
    return i >= 0 ? 0x3c000000U : 0U;
}

int main() {
    constexpr int n = 32;
    static unsigned int host[n];
    unsigned int* out = nullptr;
    cudaMalloc(&out, n * sizeof(unsigned int));
    swap<<<1, n>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
