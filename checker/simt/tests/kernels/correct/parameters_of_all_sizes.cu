// SPDX-License-Identifier: MIT
// verdict: correct
// Parameters may have 32,764 bytes in all.
#include <cuda_runtime.h>

#include <cstdlib>

template <int n>
struct Table {
    int entries[n];
};

template <int n>
__global__ void kernel(int* out, Table<n> table, int scale) {
    const int t = static_cast<int>(threadIdx.x);
    out[t] = scale * (table.entries[t] + table.entries[n - 1 - t]);
}

template <int n>
bool is_right(bool by_address) {
    static Table<n> table;
    for (int i = 0; i < n; i++) {
        table.entries[i] = i;
    }
    int host[32], scale = 3;
    int* out = nullptr;
    cudaMalloc(&out, sizeof host);
    if (by_address) {
        void* arguments[] = {&out, &table, &scale};
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel<n>), 1, 32, arguments, 0, nullptr);
    } else {
        kernel<n><<<1, 32>>>(out, table, scale);
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (const int value : host) {
        if (value != scale * (n - 1)) {
            return false;
        }
    }
    return true;
}

int main() {
    bool right = true;
    for (const bool by_address : {false, true}) {
        right = right && is_right<40>(by_address) && is_right<1000>(by_address) && is_right<2100>(by_address) &&
                is_right<8188>(by_address);
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
