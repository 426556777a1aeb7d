// SPDX-License-Identifier: MIT
// verdict: host_pointer host_pointer_beside_strings.cu:9
// The program's own copies of std::string's functions are compiled with hooks, and the runtime may be given them.
#include <cuda_runtime.h>

#include <string>

__global__ void set_kernel(float* x) {
    x[threadIdx.x] = 1.0f;
}

int main(int argc, char**) {
    float* host = new float[256];
    const std::string text = "abc" + std::to_string(argc) + ": " + "def";
    set_kernel<<<1, 256>>>(host);
    const bool failed = cudaDeviceSynchronize() != cudaSuccess;
    delete[] host;
    return failed && text.size() > 3 ? 0 : 1;
}
