// SPDX-License-Identifier: MIT
// verdict: correct
// Structs of 4 and 8 bytes whose members need less alignment than that lie where their members may.
#include <cuda_runtime.h>

#include <cstdlib>

struct Pair {
    float x, y;
};
struct Halves {
    short a, b;
};
struct Bytes {
    char a, b, c, d;
};

__device__ Pair pairs[3];
__device__ float numbers[5] = {1, 2, 3, 4, 5};
__device__ short shorts[5] = {1, 2, 3, 4, 5};

__global__ void kernel(float* out) {
    __shared__ Bytes bytes[3];
    __shared__ Halves halves[3];
    __shared__ char room[16];
    bytes[1] = {1, 2, 3, 4};
    halves[1] = {5, 6};
    *reinterpret_cast<Halves*>(room + 6) = halves[1];
    pairs[1] = *reinterpret_cast<Pair*>(numbers + 1);
    const Halves two = *reinterpret_cast<Halves*>(shorts + 1);
    const Bytes four = bytes[1];
    *out = pairs[1].x + pairs[1].y + static_cast<float>(two.a + two.b + four.d + *reinterpret_cast<short*>(room + 8));
}

int main() {
    float host = 0;
    float* out = nullptr;
    cudaMalloc(&out, sizeof host);
    kernel<<<1, 1>>>(out);
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host == 2 + 3 + 2 + 3 + 4 + 6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
