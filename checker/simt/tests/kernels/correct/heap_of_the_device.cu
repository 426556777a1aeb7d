// SPDX-License-Identifier: MIT
// verdict: correct
// Kernels allocate with malloc and new; one frees what another has allocated, and who asks for too much gets null.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void build(int** lists, int* refused) {
    const int t = static_cast<int>(threadIdx.x);
    int* const list = t % 2 == 0 ? static_cast<int*>(malloc(4 * sizeof(int))) : new int[4];
    for (int i = 0; i < 4; i++) {
        list[i] = 10 * t + i;
    }
    lists[t] = list;
    if (t == 0) {
        *refused = malloc(std::size_t{1} << 30) == nullptr;
    }
}

__global__ void take(int** lists, int* out) {
    const int t = static_cast<int>(threadIdx.x);
    int* const list = lists[31 - t];
    out[31 - t] = list[3];
    if ((31 - t) % 2 == 0) {
        free(list);
    } else {
        delete[] list;
    }
    int* const one = new int(t);
    out[31 - t] += *one - t;
    delete one;
}

int main() {
    int host[32], refused = 0;
    int** lists = nullptr;
    int *out = nullptr, *flag = nullptr;
    cudaMalloc(&lists, 32 * sizeof(int*));
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&flag, sizeof(int));
    build<<<1, 32>>>(lists, flag);
    take<<<1, 32>>>(lists, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&refused, flag, sizeof refused, cudaMemcpyDeviceToHost);
    cudaFree(lists);
    cudaFree(out);
    cudaFree(flag);
    for (int i = 0; i < 32; i++) {
        if (host[i] != 10 * i + 3) {
            return EXIT_FAILURE;
        }
    }
    int* const mine = new int(refused);
    const bool right = *mine == 1;
    delete mine;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
