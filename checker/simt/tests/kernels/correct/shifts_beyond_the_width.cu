// SPDX-License-Identifier: MIT
// verdict: correct
// A bit packer's shifts: where a code ends with its word, the rest is shifted by all 32 bits, and a GPU gives 0.
#include <cuda_runtime.h>

#include <cstdlib>

struct Field {
    unsigned int bits : 5;
};

struct Sum {
    int value;
    __device__ Sum& operator<<(int more) {
        value += more;
        return *this;
    }
};

template <class T>
__device__ T moved(T value, int bits) {
    value <<= bits;
    return value;
}
__host__ __device__ unsigned int high(unsigned int value, int bits) {
    return value >> bits;
}

__global__ void shift(unsigned int* out, int bits, int negative) {
    int i = 0;
    out[i++] = 5U << (32 - bits);
    out[i++] = 5U >> (32 - bits);
    out[i++] = static_cast<unsigned int>(negative >> (32 - bits));
    unsigned int word = 7;
    word <<= 40 - bits;
    out[i++] = word;
    word = 7;
    word >>= 32 + bits;
    out[i++] = word;
    out[i++] = static_cast<unsigned int>(1ULL << (32 + bits) >> (31 + bits));
    out[i++] = static_cast<unsigned int>(moved(1ULL, 64 + bits));
    out[i++] = moved(3U, 4 + bits);
    out[i++] = high(5, 32 + bits);
    Field field{31};
    const int two = 2 + bits;
    out[i++] = 1U << field.bits;
    field.bits <<= two;
    out[i++] = field.bits;
    Sum sum{0};
    sum << 3 << two;
    out[i++] = static_cast<unsigned int>(sum.value);
    constexpr int kLog = 3;
    int power[1 << kLog] = {1};
    out[i++] = static_cast<unsigned int>(power[bits] << kLog >> bits);
    out[i] = i < 1 << kLog ? 1 : 2;
}

int main() {
    constexpr int kCount = 14;
    const unsigned int expected[kCount] = {0, 0, ~0U, 0, 0, 2, 0, 48, 0, 1U << 31, 28, 5, 8, 2};
    unsigned int* out = nullptr;
    cudaMalloc(&out, sizeof expected);
    shift<<<1, 1>>>(out, 0, -3);
    unsigned int got[kCount];
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < kCount; i++) {
        if (got[i] != expected[i]) {
            return i + 1;
        }
    }
    return EXIT_SUCCESS;
}
