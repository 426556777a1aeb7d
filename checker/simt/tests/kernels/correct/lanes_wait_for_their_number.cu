// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes of one warp pass a number on through a volatile word: each looks at it until its own has come.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int turn, answers[32];
    const int t = static_cast<int>(threadIdx.x);
    volatile int* word = &turn;
    volatile int* answer = answers;
    answer[t] = 0;
    if (t == 0) {
        *word = 0;
    }
    __syncwarp();
    while (*word != t) {
    }
    out[t] = 100 * *word;
    *word = t + 1;
    // And back: the last lane asks each one in turn.
    if (t == 31) {
        for (int lane = 0; lane < 31; lane++) {
            *word = 1000 + lane;
            while (answer[lane] == 0) {
            }
        }
    } else {
        while (*word != 1000 + t) {
        }
        answer[t] = 1;
    }
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    kernel<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 100 * i) {
            return EXIT_FAILURE;
        }
    }
}
