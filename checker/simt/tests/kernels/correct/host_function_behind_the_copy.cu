// SPDX-License-Identifier: MIT
// verdict: correct
// A host function of the stream reads what the copy before it has brought.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

struct Sum {
    const int* values;
    int result;
};

void add_up(void* data) {
    auto* sum = static_cast<Sum*>(data);
    for (int i = 0; i < 32; i++) {
        sum->result += sum->values[i];
    }
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    Sum sum = {host, 0};
    fill<<<1, 32, 0, stream>>>(x, 2);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, add_up, &sum);
    cudaStreamSynchronize(stream);
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
    return sum.result == 64 ? EXIT_SUCCESS : EXIT_FAILURE;
}
