// SPDX-License-Identifier: MIT
// verdict: correct
// Every atomic, by what 64 threads of two blocks leave behind.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

struct Cells {
    int add, sub, min, max, exchange;
    unsigned increment, decrement, bit_and, bit_or, bit_xor, swap;
    unsigned long long add64, min64, max64, or64, swap64;
    float add_float;
    double add_double;
};

__global__ void update(Cells* c) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&c->add, i);
    atomicSub(&c->sub, 2);
    atomicMin(&c->min, i - 10);
    atomicMax(&c->max, i);
    atomicExch(&c->exchange, 5);
    atomicInc(&c->increment, 9U);
    atomicDec(&c->decrement, 9U);
    atomicAnd(&c->bit_and, ~(1U << (i % 32)));
    atomicOr(&c->bit_or, 1U << (i % 32));
    atomicXor_block(&c->bit_xor, 1U << (i % 32));
    for (unsigned old = c->swap, expected = old + 1; expected != old; old = atomicCAS(&c->swap, expected, expected + 1)) {
        expected = old;
    }
    atomicAdd(&c->add64, 1ULL << 33);
    atomicMin(&c->min64, 100ULL + i);
    atomicMax(&c->max64, 100ULL + i);
    atomicOr(&c->or64, 1ULL << i);
    atomicCAS(&c->swap64, 0ULL, 42ULL);
    atomicAdd_system(&c->add_float, 0.5F);
    atomicAdd(&c->add_double, 0.25);
}

int main() {
    Cells host = {};
    host.bit_and = 0xffffffffU;
    host.min64 = ~0ULL;
    Cells* cells = nullptr;
    cudaMalloc(&cells, sizeof host);
    cudaMemcpy(cells, &host, sizeof host, cudaMemcpyHostToDevice);
    update<<<1, 64>>>(cells);
    cudaMemcpy(&host, cells, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(cells);
    // 64 = 6 * 10 + 4: increments modulo 10 end at 4; the first decrement wraps 0 to 9, and 64 of them end at 6.
    const bool right = host.add == 2016 && host.sub == -128 && host.min == -10 && host.max == 63 && host.exchange == 5 && host.increment == 4 &&
                       host.decrement == 6 && host.bit_and == 0 && host.bit_or == 0xffffffffU && host.bit_xor == 0 && host.swap == 64 &&
                       host.add64 == 64ULL << 33 && host.min64 == 100 && host.max64 == 163 && host.or64 == ~0ULL && host.swap64 == 42 &&
                       host.add_float == 32.0F && host.add_double == 16.0;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
