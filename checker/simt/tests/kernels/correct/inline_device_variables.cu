// SPDX-License-Identifier: MIT
// verdict: correct
// Device variables as headers have them: inline ones and templates, and a host variable of the same kind.
#include <cuda_runtime.h>

#include <cstdlib>

static inline __device__ int counter;
static inline __constant__ float scales[3] = {1.0F, 2.0F, 3.0F};
template <int N>
__device__ float table[N];
template <class T>
__constant__ T unit = T(1);
inline int launches = 0;

namespace tables {
template <class T, int N>
__device__ T rows[N][2];
}

__global__ void fill(float* out) {
    table<4>[threadIdx.x] = scales[threadIdx.x % 3] + unit<float>;
    tables::rows<int, 4>[threadIdx.x][1] = static_cast<int>(threadIdx.x);
    atomicAdd(&counter, 1);
    out[threadIdx.x] = table<4>[threadIdx.x] + static_cast<float>(tables::rows<int, 4>[threadIdx.x][1]);
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 4 * sizeof(float));
    const float new_scales[3] = {4.0F, 5.0F, 6.0F};
    cudaMemcpyToSymbol(scales, new_scales, sizeof new_scales);
    fill<<<1, 4>>>(out);
    launches++;
    float host[4];
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    int count = 0;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    cudaFree(out);
    return host[0] == 5 && host[1] == 7 && host[2] == 9 && host[3] == 8 && count == 4 && launches == 1 ? EXIT_SUCCESS
                                                                                                   : EXIT_FAILURE;
}
