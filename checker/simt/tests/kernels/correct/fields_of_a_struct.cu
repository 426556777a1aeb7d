// SPDX-License-Identifier: MIT
// verdict: correct
// Two blocks write two fields of the same elements.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

struct Pair {
    int first;
    int second;
};

__global__ void kernel(int* out) {
    auto* pairs = reinterpret_cast<Pair*>(out);
    if (blockIdx.x == 0) {
        pairs[threadIdx.x].first = 1;
    } else {
        pairs[threadIdx.x].second = 2;
    }
}

int main() { return run<128>([](int* out) { kernel<<<2, 64>>>(out); }, [](int i) { return 1 + i % 2; }); }
