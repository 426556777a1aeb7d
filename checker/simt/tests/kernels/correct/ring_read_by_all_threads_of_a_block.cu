// SPDX-License-Identifier: MIT
// verdict: correct
// The slots are read by many threads, and given back by one behind their barrier.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* slot = out;
    volatile int* written = out + 64;
    volatile int* taken = out + 65;
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        if (blockIdx.x == 0) {
            if (t == 0) {
                while (*taken < i) {
                }
                __threadfence();
            }
            __syncthreads();
            slot[t] = t + i;
            __syncthreads();
            if (t == 0) {
                __threadfence();
                *written = i + 1;
            }
        } else {
            if (t == 0) {
                while (*written < i + 1) {
                }
                __threadfence();
            }
            __syncthreads();
            sum += slot[63 - t] + slot[t];
            __syncthreads();
            if (t == 0) {
                __threadfence();
                *taken = i + 1;
            }
        }
    }
    if (blockIdx.x == 1) {
        out[66 + t] = sum;
    }
}

int main() {
    return run<130>([](int* out) { kernel<<<2, 64>>>(out); }, [](int i) { return i < 64 ? i + 3 : i < 66 ? 4 : 264; });
}
