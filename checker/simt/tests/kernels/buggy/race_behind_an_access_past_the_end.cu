// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global race_behind_an_access_past_the_end.cu:12
// verdict: out_of_bounds global race_behind_an_access_past_the_end.cu:13
// verdict: race global race_behind_an_access_past_the_end.cu:15 race_behind_an_access_past_the_end.cu:15
// Some kilobytes past the end of the last buffer a GPU has memory: the kernel goes on there, and to its race.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sum(float* total, float* inp, int far) {
    const int i = static_cast<int>(threadIdx.x);
    inp[i + far] = 2.0F;
    const float value = inp[255 - i + far];  // not 2: nothing keeps what is written there
    if (!(value == 2.0F)) {
        *total += 1.0F;
    }
}

int main() {
    float host = 0;
    float *total = nullptr, *inp = nullptr;
    cudaMalloc(&total, sizeof(float));
    cudaMalloc(&inp, 256 * sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    sum<<<1, 256>>>(total, inp, 8192);
    cudaMemcpy(&host, total, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(total);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess && host > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
