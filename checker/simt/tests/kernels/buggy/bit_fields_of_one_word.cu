// SPDX-License-Identifier: MIT
// verdict: race shared bit_fields_of_one_word.cu:21 bit_fields_of_one_word.cu:21
// Two threads change two bit-fields: each writes the whole word.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

struct Flags {
    unsigned low : 16;
    unsigned high : 16;
};

__global__ void kernel(int* out) {
    __shared__ Flags flags;
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        flags = {0, 0};
    }
    __syncthreads();
    // clang-format off
    if (t == 0) { flags.low = flags.low + 3; } else if (t == 32) { flags.low = flags.low + 5; }
    // clang-format on
    __syncthreads();
    out[t] = static_cast<int>(flags.low + flags.high);
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
