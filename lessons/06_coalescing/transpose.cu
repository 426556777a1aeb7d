// SPDX-License-Identifier: MIT
//
// No exercise. Five kernels move a (T, C) tensor once: T * C floats in, T * C floats out. What differs is which
// addresses the 32 lanes of a warp ask for together.
//
//   SIMT_TRAFFIC=1 make run FILE=lessons/06_coalescing/transpose.cu     counts requests and sectors, kernel by kernel
//   nvcc -O3 lessons/06_coalescing/transpose.cu -o transpose && ./transpose 65536      on a GPU: GB/s
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int C = 768;       // channels
constexpr int kBlock = 256;  // threads in a block, along the index that neighbouring lanes share

// A lane copies one float: the warp's 128 bytes lie side by side.
__global__ void copy_kernel(float* out, const float* inp, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        out[i] = inp[i];
    }
}

// The same from the second float on: the 128 bytes start 4 bytes into a sector and end in a fifth one.
__global__ void copy_shifted_kernel(float* out, const float* inp, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < N) {
        out[i] = inp[i];
    }
}

// A lane copies four floats: 512 bytes side by side.
__global__ void copy_float4_kernel(float4* out, const float4* inp, int N4) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N4) {
        out[i] = inp[i];
    }
}

// out[c, t] = inp[t, c], the lanes along c: they read side by side, and store T floats apart.
__global__ void transpose_reading_rows_kernel(float* out, const float* inp, int T) {
    const long t = blockIdx.x;
    const long c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < C) {
        out[c * T + t] = inp[t * C + c];
    }
}

// The same with the lanes along t: they read C floats apart, and store side by side.
__global__ void transpose_writing_rows_kernel(float* out, const float* inp, int T) {
    const long t = blockIdx.x * blockDim.x + threadIdx.x;
    const long c = blockIdx.y;
    if (t < T) {
        out[c * T + t] = inp[t * C + c];
    }
}

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "transpose: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

// Launches a kernel that moves 2 N floats, and prints its rate; the CPU device has no times.
template <class Launch>
void run(const char* name, long N, const Launch& launch) {
    launch();
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
#ifdef __SIMT__
    std::printf("  %s\n", name);
#else
    constexpr int kTimes = 20;
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    check(cudaEventRecord(begin));
    for (int i = 0; i < kTimes; i++) { launch(); }
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0.0f;
    check(cudaEventElapsedTime(&ms, begin, end));
    std::printf("  %-24s %7.0f GB/s\n", name, 1e-6 * kTimes * 2 * sizeof(float) * N / ms);
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
#endif
}

// Whether out (C, T), in the device's memory, is the transpose of inp (T, C).
bool is_transpose(const float* out, const std::vector<float>& inp, long T) {
    std::vector<float> host(inp.size());
    check(cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (long t = 0; t < T; t++) {
        for (long c = 0; c < C; c++) {
            if (host[c * T + t] != inp[t * C + c]) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const int T = argc > 1 ? std::atoi(argv[1]) : 1024;
    if (T < 1 || T > 1 << 20) {
        std::fprintf(stderr, "transpose: T is a number of rows from 1 to 1048576; T=%s\n", argv[1]);
        return 2;
    }
    const int N = T * C;
    std::vector<float> host(N);
    for (int i = 0; i < N; i++) { host[i] = static_cast<float>(i % 8191); }
    float *inp = nullptr, *out = nullptr;
    check(cudaMalloc(&inp, N * sizeof(float)));
    check(cudaMalloc(&out, N * sizeof(float)));
    check(cudaMemcpy(inp, host.data(), N * sizeof(float), cudaMemcpyHostToDevice));

    std::printf("a (T, C) tensor, T=%d C=%d, moved once\n", T, C);
    const int blocks = (N + kBlock - 1) / kBlock;
    run("copy", N, [&] { copy_kernel<<<blocks, kBlock>>>(out, inp, N); });
    run("copy_shifted", N, [&] { copy_shifted_kernel<<<blocks, kBlock>>>(out, inp, N); });
    run("copy_float4", N, [&] {
        copy_float4_kernel<<<(blocks + 3) / 4, kBlock>>>(reinterpret_cast<float4*>(out),
                                                         reinterpret_cast<const float4*>(inp), N / 4);
    });
    run("transpose_reading_rows", N, [&] {
        const dim3 grid(T, (C + kBlock - 1) / kBlock);
        transpose_reading_rows_kernel<<<grid, kBlock>>>(out, inp, T);
    });
    const bool right = is_transpose(out, host, T);
    check(cudaMemset(out, 0, N * sizeof(float)));
    run("transpose_writing_rows", N, [&] {
        const dim3 grid((T + kBlock - 1) / kBlock, C);
        transpose_writing_rows_kernel<<<grid, kBlock>>>(out, inp, T);
    });
    const bool both_right = right && is_transpose(out, host, T);
    std::printf("%s\n", both_right ? "both transposes are right" : "WRONG: not the transpose");
    check(cudaFree(inp));
    check(cudaFree(out));
    return both_right ? 0 : 1;
}
