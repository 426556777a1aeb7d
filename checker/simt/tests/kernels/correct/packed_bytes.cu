// SPDX-License-Identifier: MIT
// verdict: correct
// Four bytes of a word by four threads, then the word by one: uchar4 and shifts agree.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void pack(unsigned int* out) {
    __shared__ __align__(4) unsigned char bytes[4 * 32];
    bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x < 32) {
        const uchar4 v = reinterpret_cast<const uchar4*>(bytes)[threadIdx.x];
        out[threadIdx.x] = v.x | v.y << 8 | v.z << 16 | static_cast<unsigned int>(v.w) << 24;
    }
}

static unsigned int expected(int i) {
    const unsigned int b = 4 * static_cast<unsigned int>(i);
    return b | (b + 1) << 8 | (b + 2) << 16 | (b + 3) << 24;
}

int main() {
    constexpr int n = 32;
    static unsigned int host[n];
    unsigned int* out = nullptr;
    cudaMalloc(&out, n * sizeof(unsigned int));
    pack<<<1, 128>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
