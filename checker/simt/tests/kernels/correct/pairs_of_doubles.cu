// SPDX-License-Identifier: MIT
// verdict: correct
// Structs of 16 bytes that need 8 bytes of alignment only, copied whole from odd places.
#include <cuda_runtime.h>

#include <cstdlib>

struct Pair {
    double first, second;
};

__global__ void copy(Pair* to, const Pair* from) {
    to[threadIdx.x] = from[threadIdx.x];
}

int main() {
    double host[16];
    for (int i = 0; i < 16; i++) {
        host[i] = i;
    }
    double *to = nullptr, *from = nullptr;
    cudaMalloc(&to, sizeof host);
    cudaMalloc(&from, sizeof host);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    copy<<<1, 7>>>(reinterpret_cast<Pair*>(to + 1), reinterpret_cast<const Pair*>(from + 1));
    double last = 0.0;
    cudaMemcpy(&last, to + 14, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(to);
    cudaFree(from);
    return last == 14.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
