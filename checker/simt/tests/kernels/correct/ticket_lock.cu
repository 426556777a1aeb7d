// SPDX-License-Identifier: MIT
// verdict: correct
// Tickets are drawn by an atomic, and served in order.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int ticket = atomicAdd(out, 1);
    volatile int* serving = out + 1;
    while (*serving != ticket) {
    }
    __threadfence();
    out[2] = out[2] + ticket;
    __threadfence();
    *serving = ticket + 1;
}

int main() { return run<3>([](int* out) { kernel<<<30, 1>>>(out); }, [](int i) { return i < 2 ? 30 : 435; }); }
