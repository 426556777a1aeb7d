// SPDX-License-Identifier: MIT
// verdict: correct
// Elements that pass are packed by a vote: each lane counts those before it, one lane takes the place.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void keep_even(int* out, const int* inp, int n) {
    __shared__ int kept;
    if (threadIdx.x == 0) {
        kept = 0;
    }
    __syncthreads();
    for (int begin = 0; begin < n; begin += 32) {
        const int i = begin + static_cast<int>(threadIdx.x);
        const bool keep = i < n && inp[i] % 2 == 0;
        const unsigned int votes = __ballot_sync(0xffffffffU, keep);
        const int place = kept + __popc(votes & ((1U << threadIdx.x) - 1U));
        __syncwarp();
        if (keep) {
            out[place] = inp[i];
        }
        if (threadIdx.x == 0) {
            kept += __popc(votes);
        }
        __syncwarp();
    }
    for (int i = kept + static_cast<int>(threadIdx.x); i < n; i += 32) {
        out[i] = -1;
    }
}

static int expected(int i) {
    return i < 38 ? 2 * i : -1;
}

int main() {
    constexpr int n = 75;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    static int numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = i;
    }
    int* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    keep_even<<<1, 32>>>(out, inp, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
