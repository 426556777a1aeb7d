// SPDX-License-Identifier: MIT
// verdict: correct
// Four threads of two blocks write the bytes of each word.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(i / 4);
}

int main() { return run<64>([](int* out) { kernel<<<2, 128>>>(out); }, [](int i) { return i * 0x01010101; }); }
