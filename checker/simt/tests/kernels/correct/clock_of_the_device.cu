// SPDX-License-Identifier: MIT
// verdict: correct
// A kernel waits for some millions of its clock's cycles, which take milliseconds, not hours.
#include <cuda_runtime.h>

#include <cstdlib>
#include <ctime>

__global__ void kernel(int* out) {
    const clock_t begin = clock();
    while (clock() - begin < 3'000'000) {
    }
    out[threadIdx.x] = 1;
}

int main() {
    int host[32];
    int* out = nullptr;
    cudaMalloc(&out, sizeof host);
    const std::clock_t begin = std::clock();
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;  // the host's is the library's
    return host[31] == 1 && seconds < 1000 ? EXIT_SUCCESS : EXIT_FAILURE;
}
