// SPDX-License-Identifier: MIT
// verdict: correct
// A producer and a consumer share two slots: each waits until the other one is done with it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* slots = out;
    volatile int* written = out + 2;
    volatile int* taken = out + 3;
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (blockIdx.x == 0) {
            while (*taken < i - 1) {
            }
            __threadfence();
            slots[i % 2] = i;
            __threadfence();
            *written = i + 1;
        } else {
            while (*written < i + 1) {
            }
            __threadfence();
            sum += slots[i % 2];
            __threadfence();
            *taken = i + 1;
        }
    }
    if (blockIdx.x == 1) {
        out[4] = sum;
    }
}

int main() {
    return run<5>([](int* out) { kernel<<<2, 1>>>(out); }, [](int i) { return i < 2 ? 8 + i : i < 4 ? 10 : 45; });
}
