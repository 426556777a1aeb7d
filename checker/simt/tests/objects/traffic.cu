// SPDX-License-Identifier: MIT
//
// Kernels whose traffic can be counted by hand.
#include <mma.h>

#include "checker/ptx.h"
#include "checker/simt/tests/objects/traffic.h"

namespace {

__device__ float device_value = 2.0f;
__constant__ float constant_value = 3.0f;

__global__ void load_kernel(float* out, const float* inp, int stride, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = inp[i * stride + offset];
    out[i] = value;
}

__global__ void store_kernel(float* out, int stride, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * stride + offset] = 1.0f;
}

template <class T>
__global__ void copy_kernel(T* out, const T* inp) {
    out[threadIdx.x] = inp[threadIdx.x];
}

__global__ void gather_kernel(float* out, const float* inp, const int* at) {
    const int from = at[threadIdx.x];
    const float value = inp[from];
    out[threadIdx.x] = value;
}

__global__ void sum_rows_kernel(float* out, const float* inp, int C) {
    float sum = 0.0f;
    for (int c = 0; c < C; c++) { sum += inp[threadIdx.x * C + c]; }
    out[threadIdx.x] = sum;
}

__global__ void transpose_kernel(float* out, const float* inp, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * n + y] = inp[y * n + x];
}

template <int kRow>
__global__ void transpose_tiles_kernel(float* out, const float* inp, int n) {
    __shared__ float tile[32 * kRow];
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8) { tile[j * kRow + threadIdx.x] = inp[(y + j) * n + x + threadIdx.x]; }
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8) { out[(x + j) * n + y + threadIdx.x] = tile[threadIdx.x * kRow + j]; }
}

// Of all that was loaded: nvcc would not load what is not used.
__device__ float sum_of(float v) {
    return v;
}
__device__ float sum_of(float2 v) {
    return v.x + v.y;
}
__device__ float sum_of(float4 v) {
    return v.x + v.y + v.z + v.w;
}
__device__ float sum_of(unsigned char v) {
    return v;
}

template <class T, int kElements>
__global__ void load_shared_kernel(float* out, int stride) {
    __shared__ __align__(128) T array[kElements];
    for (int i = threadIdx.x; i < kElements; i += 32) { array[i] = T{}; }
    __syncwarp();
    const T value = array[threadIdx.x * stride % kElements];
    out[threadIdx.x] = sum_of(value);
}

__global__ void ragged_kernel(float* out, const float* inp, int times) {
    float sum = 0.0f;
    for (int k = 0; k < times * static_cast<int>(threadIdx.x); k++) { sum += inp[k % 8 * 32 + threadIdx.x]; }
    out[threadIdx.x] = sum;
}

// Row r of lane i has (i + r) % 4 elements.
__global__ void ragged_rows_kernel(float* out, const float* inp) {
    for (int r = 0; r < 3; r++) {
        float sum = 0.0f;
        const int many = (threadIdx.x + r) % 4;
        for (int k = 0; k < many; k++) { sum += inp[k * 32 + threadIdx.x]; }
        out[r * 32 + threadIdx.x] = sum;
    }
}

__global__ void leave_early_kernel(float* out, const float* inp, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float value = inp[i];
    out[i] = value;
}

__global__ void break_early_kernel(float* out, const float* inp) {
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) {
        sum += inp[k * 32 + threadIdx.x];
        if (k == static_cast<int>(threadIdx.x) / 4) {
            break;
        }
    }
    out[threadIdx.x] = sum;
}

__global__ void both_ways_kernel(float* out, const float* inp) {
    float value = 0.0f;
    if (threadIdx.x % 2 == 0) {
        value = inp[threadIdx.x];
    } else {
        value = 2.0f * inp[threadIdx.x + 32];
    }
    out[threadIdx.x] = value;
}

__global__ void switch_kernel(float* out, const float* inp) {
    float value = 0.0f;
    switch (threadIdx.x % 4) {
        case 0:
            value = inp[threadIdx.x];
            break;
        case 1:
            value = inp[threadIdx.x + 32] * 2.0f;
            break;
        case 2:
            value = inp[threadIdx.x + 64] * 3.0f;
            break;
        default:
            break;
    }
    out[threadIdx.x] = value;
}

__global__ void add_kernel(float* sums, int addresses) {
    atomicAdd(&sums[threadIdx.x % addresses], 1.0f);
}

__global__ void add_shared_kernel(float* out, int addresses) {
    __shared__ float sums[32];
    sums[threadIdx.x] = 0.0f;
    __syncwarp();
    atomicAdd(&sums[threadIdx.x % addresses], 1.0f);
    __syncwarp();
    out[threadIdx.x] = sums[threadIdx.x];
}

__global__ void meet_kernel(float* out, int times) {
    for (int k = 0; k < times; k++) { __syncthreads(); }
    out[threadIdx.x] = 1.0f;
}

// noinline, and more than a tail call: a call on a GPU too.
__device__ __noinline__ float tree(const float* inp, int depth) {
    const float here = inp[depth];
    if (depth == 0) {
        return here;
    }
    const float left = tree(inp, depth - 1);
    return here + left * tree(inp + 8, depth - 1);
}

__global__ void recurse_kernel(float* out, const float* inp, int uneven) {
    out[threadIdx.x] = tree(inp, uneven != 0 ? static_cast<int>(threadIdx.x) % 3 : 2);
}

using Function = float (*)(const float*, int);
__device__ __noinline__ float one_way(const float* inp, int i) {
    return inp[i];
}
__device__ __noinline__ float other_way(const float* inp, int i) {
    return 2.0f * inp[i + 32];
}
__global__ void pointer_kernel(float* out, const float* inp) {
    const Function functions[] = {one_way, other_way};
    const volatile int which = threadIdx.x < 8 ? 0 : 1;
    out[threadIdx.x] = functions[which](inp, threadIdx.x);
}

struct Eight {
    float values[8];
};
__global__ void structs_kernel(Eight* out, const Eight* inp) {
    out[threadIdx.x] = inp[threadIdx.x];
}

__global__ void variables_kernel(float* out, float parameter) {
    float local[4];
    for (int k = 0; k < 4; k++) { local[(k + threadIdx.x) % 4] = parameter; }
    out[threadIdx.x] = device_value + constant_value + local[threadIdx.x % 4];
}

__global__ void read_all_kernel(float* out, const float* inp, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) { sum += inp[k]; }
    out[threadIdx.x] = sum;
}

__global__ void read_twice_kernel(float* out, const float* inp) {
    const float first = inp[threadIdx.x];
    const float second = inp[threadIdx.x + 16];
    out[threadIdx.x] = first + second;
}

// Each half of a warp meets by itself, eight times, and the upper one loads once more each time.
__global__ void half_warps_kernel(float* out, const float* inp) {
    const bool upper = threadIdx.x >= 16;
    const unsigned mask = upper ? 0xffff0000U : 0x0000ffffU;
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        sum += inp[k * 32 + threadIdx.x];
        __syncwarp(mask);
        if (upper) {
            sum += inp[256 + k * 32 + threadIdx.x];
        }
    }
    out[threadIdx.x] = sum;
}

__global__ void shuffles_kernel(float* out, const float* inp) {
    float sum = 0.0f;
    for (int k = threadIdx.x; k < 80; k += 32) { sum += inp[k]; }
    for (int lanes = 16; lanes > 0; lanes /= 2) { sum += __shfl_down_sync(0xffffffffU, sum, lanes); }
    if (threadIdx.x == 0) {
        out[0] = sum;
    }
}

// What is read in two words of 4 bytes; and meetings that exchange nothing.
__global__ void shuffle_doubles_kernel(double* out) {
    double value = 1.0;
    for (int lanes = 16; lanes > 0; lanes /= 2) { value += __shfl_xor_sync(0xffffffffU, value, lanes); }
    out[threadIdx.x] = value;
}

__global__ void vote_kernel(int* out) {
    const unsigned some = __ballot_sync(0xffffffffU, threadIdx.x < 8);
    __syncwarp();
    const int all = __all_sync(0xffffffffU, threadIdx.x < 40);
    out[threadIdx.x] = __popc(some) + all;
}

// As RRZE's gpu-benches measure strides: eight loads of a thread, 4 floats apart.
__global__ void eight_strided_loads_kernel(float* out, const float* inp, int stride) {
    const float* from = inp + threadIdx.x * stride;
    float sum = 0.0f;
    for (int k = 0; k < 32; k += 4) { sum += from[k]; }
    out[threadIdx.x] = sum;
}

__global__ void two_arrays_kernel(float* out) {
    __shared__ float fixed[96];
    extern __shared__ float rest[];
    fixed[threadIdx.x] = rest[threadIdx.x] = 1.0f;
    out[threadIdx.x] = static_cast<volatile float*>(fixed)[threadIdx.x];
}

__global__ void product_kernel(float* out, const float* inp, const float* weight, int C) {
    const int o = blockIdx.x * 32 + threadIdx.x, n = blockIdx.y;
    const int OC = gridDim.x * 32;
    float sum = 0.0f;
    for (int c = 0; c < C; c++) { sum += inp[n * C + c] * weight[c * OC + o]; }
    out[n * OC + o] = sum;
}

__global__ void stencil_kernel(float* out, const float* inp) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + inp[i + 1] + inp[i + 2];
}

// Each block waits for the one after it.
__global__ void last_block_first_kernel(float* out, const float* inp, int* flags) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x) {
        while (atomicAdd(&flags[blockIdx.x + 1], 0) == 0) {}
    }
    __syncthreads();
    out[i] = inp[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicExch(&flags[blockIdx.x], 1);
    }
}

__global__ void rows_kernel(float* out, const float* inp) {
    const float value = inp[threadIdx.x] + inp[threadIdx.y * 64 + 64];
    out[threadIdx.y * blockDim.x + threadIdx.x] = value;
}

__global__ void two_shared_loads_kernel(float* out, const float* inp) {
    __shared__ float tile[32];
    tile[threadIdx.x] = inp[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[5] * tile[31 - threadIdx.x];
}

__global__ void either_kernel(float* out, const float* inp) {
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncwarp();
    const float* from = threadIdx.x < 16 ? inp : tile;
    out[threadIdx.x] = from[threadIdx.x];
}

// The second warp looks at the flag, all lanes together, until the first has raised it.
__global__ void wait_kernel(float* out, int* flag) {
    if (threadIdx.x < 32) {
        atomicExch(flag, 1);
    } else {
        while (__any_sync(0xffffffffU, atomicAdd(flag, 0) != 0) == 0) {}
    }
    out[threadIdx.x] = 1.0f;
}

__global__ void beside_copies_kernel(float* out, const float* inp, int lanes) {
    __shared__ float here[32], copied[2][32];
    const int lane = threadIdx.x;
    here[lane] = inp[lane];
    copied[0][lane] = copied[1][lane] = 0.0f;
    float sum = static_cast<volatile float*>(here)[lane];
    if (lane < lanes) {
        ptx::cp_async<4>(&copied[0][lane], &inp[lane]);
        ptx::cp_async_commit();
        ptx::cp_async<4>(&copied[1][lane], &inp[lane]);
        ptx::cp_async_commit();
    }
    sum += static_cast<volatile float*>(here)[lane];
    ptx::cp_async_wait<1>();
    sum += copied[0][lane];
    ptx::cp_async_wait<0>();
    sum += copied[1][lane];
    sum += static_cast<volatile float*>(here)[lane];
    out[lane] = sum;
}

template <int kMatrices>
__global__ void matrices_kernel(float* out, int pitch) {
    extern __shared__ float rows[];
    for (int i = threadIdx.x; i < 32 * pitch; i += 32) { rows[i] = 0.0f; }
    __syncwarp();
    std::uint32_t matrices[kMatrices];
    ptx::ldmatrix(matrices, &rows[threadIdx.x % (8 * kMatrices) * pitch]);
    for (const std::uint32_t word : matrices) { out[threadIdx.x] += static_cast<float>(word); }
}

__global__ void tensor_kernel(float* out, const float* inp) {
    const std::uint32_t raw = __float_as_uint(inp[0] + 1.0f + 1.0f / 4096);
    const std::uint32_t rounded = ptx::to_tf32(1.0f);
    ptx::Accumulators d{};
    ptx::HalfAccumulators halves{};
    for (int i = 0; i < 3; i++) {
        ptx::mma_m16n8k8(d, ptx::Tf32A{{rounded, raw, rounded, raw}}, ptx::Tf32B{{rounded, rounded}});
    }
    ptx::mma_m16n8k4(d, ptx::Tf32A4{{rounded, rounded}}, ptx::Tf32B4{{rounded}});
    ptx::mma_m16n8k16(d, ptx::Bf16A{}, ptx::Bf16B{});
    ptx::mma_m16n8k8(d, ptx::Bf16A8{}, ptx::Bf16B8{});
    ptx::mma_m16n8k16(d, ptx::HalfA{}, ptx::HalfB{});
    ptx::mma_m16n8k8(d, ptx::HalfA8{}, ptx::HalfB8{});
    ptx::mma_m16n8k16(halves, ptx::HalfA{}, ptx::HalfB{});
    ptx::mma_m16n8k8(halves, ptx::HalfA8{}, ptx::HalfB8{});
    out[threadIdx.x] = d.x[0] + static_cast<float>(halves.x[0]);
}

__global__ void wmma_kernel(float* out, const __half* inp) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(a, inp, 16);
    wmma::load_matrix_sync(b, inp, 16);
    wmma::mma_sync(sums, a, b, sums);
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

__global__ void constants_kernel(float* out) {
    reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(0, 0, 0, 0);
    reinterpret_cast<float2*>(out + 128)[threadIdx.x] = make_float2(1, 2);
}

}  // namespace

void load_strided(float* out, const float* inp, int blocks, int threads, int stride, int offset) {
    load_kernel<<<blocks, threads>>>(out, inp, stride, offset);
}
void store_strided(float* out, int blocks, int threads, int stride, int offset) {
    store_kernel<<<blocks, threads>>>(out, stride, offset);
}
void copy_wide(void* out, const void* inp, int threads, int bytes) {
    switch (bytes) {
        case 1:
            return copy_kernel<<<1, threads>>>(static_cast<char*>(out), static_cast<const char*>(inp));
        case 2:
            return copy_kernel<<<1, threads>>>(static_cast<short*>(out), static_cast<const short*>(inp));
        case 4:
            return copy_kernel<<<1, threads>>>(static_cast<int*>(out), static_cast<const int*>(inp));
        case 8:
            return copy_kernel<<<1, threads>>>(static_cast<float2*>(out), static_cast<const float2*>(inp));
        default:
            return copy_kernel<<<1, threads>>>(static_cast<float4*>(out), static_cast<const float4*>(inp));
    }
}
void gather(float* out, const float* inp, const int* at, int threads) {
    gather_kernel<<<1, threads>>>(out, inp, at);
}
void sum_rows(float* out, const float* inp, int C) {
    sum_rows_kernel<<<1, 32>>>(out, inp, C);
}
void transpose_directly(float* out, const float* inp, int n) {
    transpose_kernel<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, inp, n);
}
void transpose_by_tiles(float* out, const float* inp, int n, int padded) {
    if (padded != 0) {
        transpose_tiles_kernel<33><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, inp, n);
    } else {
        transpose_tiles_kernel<32><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, inp, n);
    }
}
void load_shared(float* out, int bytes, int stride) {
    switch (bytes) {
        case 4:
            return load_shared_kernel<float, 2048><<<1, 32>>>(out, stride);
        case 8:
            return load_shared_kernel<float2, 1024><<<1, 32>>>(out, stride);
        default:
            return load_shared_kernel<float4, 512><<<1, 32>>>(out, stride);
    }
}
void load_shared_bytes(float* out, int stride) {
    load_shared_kernel<unsigned char, 1024><<<1, 32>>>(out, stride);
}
void ragged_loop(float* out, const float* inp, int times) {
    ragged_kernel<<<1, 32>>>(out, inp, times);
}
void ragged_loops(float* out, const float* inp) {
    ragged_rows_kernel<<<1, 32>>>(out, inp);
}
void leave_early(float* out, const float* inp, int n) {
    leave_early_kernel<<<2, 64>>>(out, inp, n);
}
void break_early(float* out, const float* inp) {
    break_early_kernel<<<1, 32>>>(out, inp);
}
void both_ways(float* out, const float* inp) {
    both_ways_kernel<<<1, 32>>>(out, inp);
}
void by_switch(float* out, const float* inp) {
    switch_kernel<<<1, 32>>>(out, inp);
}
void add_atomically(float* sums, int addresses) {
    add_kernel<<<1, 32>>>(sums, addresses);
}
void add_atomically_shared(float* out, int addresses) {
    add_shared_kernel<<<1, 32>>>(out, addresses);
}
void meet(float* out, int threads, int times) {
    meet_kernel<<<1, threads>>>(out, times);
}
void recurse(float* out, const float* inp, int uneven) {
    recurse_kernel<<<1, 32>>>(out, inp, uneven);
}
void call_by_pointer(float* out, const float* inp) {
    pointer_kernel<<<1, 32>>>(out, inp);
}
void copy_structs(float* out, const float* inp) {
    structs_kernel<<<1, 32>>>(reinterpret_cast<Eight*>(out), reinterpret_cast<const Eight*>(inp));
}
void store_constants(float* out) {
    constants_kernel<<<1, 32>>>(out);
}
void use_variables(float* out, float parameter) {
    variables_kernel<<<1, 32>>>(out, parameter);
}
void read_all(float* out, const float* inp, int n, int threads) {
    read_all_kernel<<<1, threads>>>(out, inp, n);
}
void read_twice(float* out, const float* inp) {
    read_twice_kernel<<<1, 32>>>(out, inp);
}
void half_warps(float* out, const float* inp) {
    half_warps_kernel<<<1, 32>>>(out, inp);
}
void sum_by_shuffles(float* out, const float* inp) {
    shuffles_kernel<<<1, 32>>>(out, inp);
}
void shuffle_doubles(double* out) {
    shuffle_doubles_kernel<<<1, 32>>>(out);
}
void vote(int* out) {
    vote_kernel<<<1, 32>>>(out);
}
void load_eight_strided(float* out, const float* inp, int stride) {
    eight_strided_loads_kernel<<<1, 64>>>(out, inp, stride);
}
void use_two_arrays(float* out, int dynamic_floats) {
    two_arrays_kernel<<<1, 32, dynamic_floats * sizeof(float)>>>(out);
}
void multiply(float* out, const float* inp, const float* weight, int N, int C, int OC) {
    product_kernel<<<dim3(OC / 32, N), 32>>>(out, inp, weight, C);
}
void stencil(float* out, const float* inp, int blocks) {
    stencil_kernel<<<blocks, 64>>>(out, inp);
}
void last_block_first(float* out, const float* inp, int* flags, int blocks) {
    last_block_first_kernel<<<blocks, 32>>>(out, inp, flags);
}
void tile_rows(float* out, const float* inp, int width) {
    rows_kernel<<<1, dim3(width, 256 / width)>>>(out, inp);
}
void through_either(float* out, const float* inp) {
    either_kernel<<<1, 32>>>(out, inp);
}
void wait_for_a_warp(float* out, int* flag) {
    wait_kernel<<<1, 64>>>(out, flag);
}
void two_shared_loads(float* out, const float* inp) {
    two_shared_loads_kernel<<<1, 32>>>(out, inp);
}
void load_beside_copies(float* out, const float* inp, int lanes) {
    beside_copies_kernel<<<1, 32>>>(out, inp, lanes);
}
void load_matrices(float* out, int matrices, int pitch) {
    const auto kernel = matrices == 1 ? matrices_kernel<1> : matrices == 2 ? matrices_kernel<2> : matrices_kernel<4>;
    kernel<<<1, 32, 32 * pitch * sizeof(float)>>>(out, pitch);
}
void use_tensor_cores(float* out, const float* inp) {
    tensor_kernel<<<1, 32>>>(out, inp);
}
void use_wmma(float* out, const float* inp) {
    wmma_kernel<<<1, 32>>>(out, reinterpret_cast<const __half*>(inp));
}
void read_unwritten(float* out, const float* inp) {
    load_kernel<<<1, 32>>>(out, inp, 1, 0);
}
