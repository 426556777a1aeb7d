// SPDX-License-Identifier: MIT
//
// Kernels whose floating-point operations can be counted by hand. The file is compiled with --arithmetic, and once more
// without it.
#include "checker/simt/tests/objects/arithmetic.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

namespace {

__global__ void dot_kernel(float* out, const float* a, const float* b, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += a[threadIdx.x] * b[i];  // a line: dot
    }
    out[threadIdx.x] = sum;
}

__global__ void naive_kernel(float* out, const float* a, const float* b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) { sum += a[y * n + k] * b[k * n + x]; }
    out[y * n + x] = sum;
}

__global__ void tiled_kernel(float* out, const float* a, const float* b, int n) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int from = 0; from < n; from += 16) {
        tile_a[threadIdx.y][threadIdx.x] = a[y * n + from + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(from + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) { sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x]; }
        __syncthreads();
    }
    out[y * n + x] = sum;
}

__global__ void register_tiled_kernel(float* out, const float* a, const float* b, int n) {
    const int x = (blockIdx.x * 8 + threadIdx.x) * 4, y = (blockIdx.y * 8 + threadIdx.y) * 4;
    float sums[4][4] = {};
    for (int k = 0; k < n; k++) {
        float of_a[4], of_b[4];
        for (int i = 0; i < 4; i++) { of_a[i] = a[(y + i) * n + k]; }
        for (int j = 0; j < 4; j++) { of_b[j] = b[k * n + x + j]; }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) { sums[i][j] += of_a[i] * of_b[j]; }
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) { out[(y + i) * n + x + j] = sums[i][j]; }
    }
}

// One thread per row. Mean: C sums, a quotient. Variance: a difference and a multiply-add each, a quotient, a sum
// before the root. The row: a difference, a product and a multiply-add each.
__global__ void normalise_kernel(float* out, const float* inp, const float* weight, const float* bias, int rows,
                                 int C) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x = inp + row * C;
    float mean = 0.0f;
    for (int c = 0; c < C; c++) { mean += x[c]; }
    mean /= static_cast<float>(C);
    float variance = 0.0f;
    for (int c = 0; c < C; c++) {
        const float shifted = x[c] - mean;
        variance += shifted * shifted;
    }
    const float rstd = rsqrtf(variance / static_cast<float>(C) + 1e-5f);
    for (int c = 0; c < C; c++) { out[row * C + c] = (x[c] - mean) * rstd * weight[c] + bias[c]; }
}

// x³ takes two products, the sum of x and 0.044715 x³ a multiply-add; a product with sqrt(2/pi); 0.5 x, 1 + tanh and
// their product.
__global__ void gelu_kernel(float* out, const float* inp, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = inp[i];
        const float cube = x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * cube)));
    }
}

__global__ void add_raggedly_kernel(float* out, const float* inp, int times) {
    float sum = 0.0f;
    for (int i = 0; i < static_cast<int>(threadIdx.x) * times; i++) { sum += inp[i]; }
    out[threadIdx.x] = sum;
}

__global__ void square_raggedly_kernel(float* out, const float* inp, int times) {
    float x = inp[threadIdx.x];
    for (int i = 0; i < static_cast<int>(threadIdx.x) * times; i++) { x = x * x; }
    out[threadIdx.x] = x;
}

__global__ void either_way_kernel(float* out, const float* inp) {
    float x = inp[threadIdx.x];
    if (threadIdx.x % 2 == 0) {
        x = x * x + 1.0f;
    } else {
        x = x + 3.0f;
    }
    out[threadIdx.x] = x;
}

template <int kTimes>
__device__ float squared(float x) {
    float y = x;
    for (int i = 0; i < kTimes; i++) { y = y * x; }  // a line: squared
    return y;
}

__global__ void two_sizes_kernel(float* out, const float* inp, int n) {
    const int i = threadIdx.x;
    for (int k = 0; k < n; k++) { out[i] = k % 2 == 0 ? squared<1>(inp[i]) : squared<3>(inp[i]); }
}

__global__ void of_doubles_kernel(float* out, const float* inp, int n) {
    double sum = 0.0;
    const double x = inp[threadIdx.x];
    for (int i = 0; i < n; i++) { sum = (sum + x) * x; }
    out[threadIdx.x] = static_cast<float>(sum < 0.0 ? -sum : sum);
}

__global__ void conversions_kernel(float* out, const float* inp) {
    const int whole = static_cast<int>(inp[threadIdx.x]);
    const double wide = inp[threadIdx.x];
    out[threadIdx.x] = static_cast<float>(whole);
    out[threadIdx.x + 32] = -static_cast<float>(fabs(wide));
    out[threadIdx.x + 64] = static_cast<float>(__float2int_rn(inp[threadIdx.x]));
}

__global__ void unfused_kernel(float* out, const float* inp) {
    const float x = inp[threadIdx.x];
    out[threadIdx.x] = __fadd_rn(__fmul_rn(x, x), 1.0f);
}

__global__ void fused_kernel(float* out, const float* inp) {
    const float x = inp[threadIdx.x];
    out[threadIdx.x] = fmaf(x, x, 1.0f);
    out[threadIdx.x + 32] = 2.0f - x * x;
    out[threadIdx.x + 64] = __fmaf_rn(x, 3.0f, x);
}

__global__ void comparisons_kernel(float* out, const float* inp) {
    const float x = inp[threadIdx.x];
    out[threadIdx.x] = fmaxf(x, 1.0f);
    out[threadIdx.x + 32] = min(x, 2.0f);
    out[threadIdx.x + 64] = 1.0f / x;
    if (x > 5.0f) {
        out[threadIdx.x + 96] = x;
    }
}

__global__ void halves_kernel(float* out, const float* inp) {
    const __half x = __float2half(inp[threadIdx.x]);
    const __half y = __hfma(x, x, x) + x;
    out[threadIdx.x] = __half2float(y) * 2.0f;
}

__global__ void special_kernel(float* out, const float* inp) {
    const float x = inp[threadIdx.x];
    out[threadIdx.x] = rsqrtf(x);
    out[threadIdx.x + 32] = expf(x);
    out[threadIdx.x + 64] = sqrtf(x);
}

__global__ void reduced_kernel(float* out, const float* inp) {
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(warp, inp[threadIdx.x], cg::plus<float>());
}

__device__ __noinline__ float raised(float x, int depth) {
    if (depth == 0) {
        return 1.0f;
    }
    const float rest = raised(x, depth - 1);
    return rest * x;
}

__global__ void recursion_kernel(float* out, const float* inp, int depth) {
    out[threadIdx.x] = raised(inp[threadIdx.x], depth + static_cast<int>(threadIdx.x) % 2);
}

__device__ __noinline__ float moved(float x) {
    return x + 1.0f;
}

__global__ void called_kernel(float* out, const float* inp) {
    float x = inp[threadIdx.x];
    for (int i = 0; i < 300; i++) { x = moved(x); }
    out[threadIdx.x] = x;
}

__global__ void copied_kernel(float* out, const float* inp) {
    out[threadIdx.x] = inp[threadIdx.x];
}

// Each index of a thread's own array is checked, which the compiler does by branches in the middle of the statement.
__global__ void indices_kernel(float* out, const float* inp, int n) {
    float kept[8];
    for (int i = 0; i < 8; i++) { kept[i] = inp[i]; }
    for (int i = 0; i < n; i++) { kept[i % 8] = kept[(i + 3) % 8] * kept[(i + 5) % 8] + kept[i % 8]; }
    out[threadIdx.x] = kept[n % 8];
}

// 24 numbers in registers, of which each turn changes all.
__global__ void alive_kernel(float* out, const float* inp, int n) {
    float a[12];
    int b[12];
#define ALL(statement)                                                                                            \
    { constexpr int i = 0; statement } { constexpr int i = 1; statement } { constexpr int i = 2; statement }      \
    { constexpr int i = 3; statement } { constexpr int i = 4; statement } { constexpr int i = 5; statement }      \
    { constexpr int i = 6; statement } { constexpr int i = 7; statement } { constexpr int i = 8; statement }      \
    { constexpr int i = 9; statement } { constexpr int i = 10; statement } { constexpr int i = 11; statement }
    ALL(a[i] = inp[i]; b[i] = static_cast<int>(inp[i]) + 7 * i;)
    for (int k = 0; k < n; k++) {
        ALL(if ((b[i] ^ k) % 3 == 0) { a[i] = a[i] * 0.5f + 1.0f; } else { b[i] += k; })
    }
    float sum = 0.0f;
    ALL(sum = sum + a[i]; sum = sum + static_cast<float>(b[i]);)
#undef ALL
    out[threadIdx.x] = sum;
}

__global__ void once_kernel(float* out, const float* inp) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + 1.0f;
}

}  // namespace

void dot(float* out, const float* inp, int n) {
    dot_kernel<<<1, 64>>>(out, inp, inp, n);
}
void naive_product(float* out, const float* a, const float* b, int n) {
    naive_kernel<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, a, b, n);
}
void tiled_product(float* out, const float* a, const float* b, int n) {
    tiled_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(out, a, b, n);
}
void register_tiled_product(float* out, const float* a, const float* b, int n) {
    register_tiled_kernel<<<dim3(n / 32, n / 32), dim3(8, 8)>>>(out, a, b, n);
}
void normalise_rows(float* out, const float* inp, const float* weight, const float* bias, int rows, int C) {
    normalise_kernel<<<(rows + 63) / 64, 64>>>(out, inp, weight, bias, rows, C);
}
void gelu_with_literals(float* out, const float* inp, int n) {
    gelu_kernel<<<(n + 127) / 128, 128>>>(out, inp, n);
}
void add_raggedly(float* out, const float* inp, int times) {
    add_raggedly_kernel<<<1, 32>>>(out, inp, times);
}
void square_raggedly(float* out, const float* inp, int times) {
    square_raggedly_kernel<<<1, 32>>>(out, inp, times);
}
void go_either_way(float* out, const float* inp) {
    either_way_kernel<<<1, 32>>>(out, inp);
}
void two_sizes_on_one_line(float* out, const float* inp, int n) {
    two_sizes_kernel<<<1, 32>>>(out, inp, n);
}
void of_doubles(float* out, const float* inp, int n) {
    of_doubles_kernel<<<1, 32>>>(out, inp, n);
}
void conversions_alone(float* out, const float* inp) {
    conversions_kernel<<<1, 32>>>(out, inp);
}
void unfused(float* out, const float* inp) {
    unfused_kernel<<<1, 32>>>(out, inp);
}
void fused_in_three_ways(float* out, const float* inp) {
    fused_kernel<<<1, 32>>>(out, inp);
}
void comparisons_and_quotients(float* out, const float* inp) {
    comparisons_kernel<<<1, 32>>>(out, inp);
}
void of_halves(float* out, const float* inp) {
    halves_kernel<<<1, 32>>>(out, inp);
}
void special_functions_alone(float* out, const float* inp) {
    special_kernel<<<1, 32>>>(out, inp);
}
void reduced_by_a_tile(float* out, const float* inp) {
    reduced_kernel<<<1, 32>>>(out, inp);
}
void by_recursion(float* out, const float* inp, int depth) {
    recursion_kernel<<<1, 32>>>(out, inp, depth);
}
void by_a_function_that_is_called(float* out, const float* inp) {
    called_kernel<<<1, 32>>>(out, inp);
}
void copied(float* out, const float* inp) {
    copied_kernel<<<1, 32>>>(out, inp);
}
void checked_indices(float* out, const float* inp, int n) {
    indices_kernel<<<1, 32>>>(out, inp, n);
}
void with_many_values_alive(float* out, const float* inp, int n) {
    alive_kernel<<<1, 32>>>(out, inp, n);
}
float beside_the_host(float* out, const float* inp, int blocks) {
    const float before = static_cast<float>(blocks) * 1.5f + 2.0f;
    once_kernel<<<blocks, 64>>>(out, inp);
    cudaDeviceSynchronize();
    return before * before;
}
