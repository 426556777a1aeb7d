// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>

#include <optional>
#include <vector>

#include "checker/cuda_check.h"
#include "checker/device.h"
#include "checker/tests/fakes/toy.h"

using checker::check;

namespace {

struct Wrong {
    bool overwrites, few_bits, writes_input, overruns_workspace, past_the_end, no_loss, wrong_loss, mean_always;
};

__device__ float rounded(float value, unsigned int kept) {
    const unsigned int bits = __float_as_uint(value), dropped = 32 - kept, half = (1U << (dropped - 1)) - 1;
    return __uint_as_float((bits + half + ((bits >> dropped) & 1U)) >> dropped << dropped);
}

// One thread per row: out, mean, and the sum of its squares.
__global__ void row_kernel(float* out, float* mean, float* squares, const float* x, const float* v, int N, int C,
                           Wrong wrong) {
    const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (n >= N) {
        return;
    }
    const unsigned int bits = wrong.few_bits ? 16 : 19;
    float sum = 0, product = 0, square = 0;
    for (int c = 0; c < C; c++) {
        const float x_nc = x[n * C + c];
        sum += x_nc;
        square += x_nc * x_nc;
        product += rounded(x_nc, bits) * rounded(v[c], bits);
    }
    out[n] = product;
    if (mean != nullptr || wrong.mean_always) {
        mean[n] = sum / static_cast<float>(C);
    }
    squares[n + (wrong.overruns_workspace ? 1'000 : 0)] = square;
}

// One thread per channel: grad; the first of them the loss. `scale` lies in the handle's memory.
__global__ void channel_kernel(__nv_bfloat16* grad, float* loss, const float* squares, const float* scale,
                               const float* x, int N, int C, Wrong wrong) {
    const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= C + (wrong.past_the_end ? 1 : 0)) {
        return;
    }
    float sum = 0;
    for (int n = 0; n < N; n++) { sum += x[n * C + c % C]; }
    grad[c] = __float2bfloat16((wrong.overwrites ? 0.0F : __bfloat162float(grad[c])) + *scale * sum);
    if (c == 0 && !wrong.no_loss) {
        float all = 0;
        for (int n = 0; n < N; n++) { all += squares[n]; }
        *loss = wrong.wrong_loss ? all / 2 : all;
    }
}

__global__ void set(float* to, float value) {
    *to = value;
}

// What each call makes and nobody destroys, or the handle's destructor does, when it is too late.
struct Hoard {
    ~Hoard() {
        for (const cudaGraphExec_t executable : executables) { static_cast<void>(cudaGraphExecDestroy(executable)); }
    }
    std::vector<cudaGraphExec_t> executables;
};

// As a library's handle: it owns memory of the device.
struct Handle {
    Handle() {
        check(cudaMalloc(&memory, sizeof(float)));
        set<<<1, 1>>>(memory, 1.0F);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());  // ctx.stream need not wait for the default stream
    }
    ~Handle() { static_cast<void>(cudaFree(memory)); }
    float* memory = nullptr;
};

}  // namespace

static bool warmed_up = false;

void toy(std::uint16_t* grad, float* loss, float* out, float* mean, const float* x, const float* v, float* scratch,
         int N, int C, int S, Context& ctx) {
    if (toy_wrong("nothing")) {
        return;
    }
    const Wrong wrong{toy_wrong("overwrites"),         toy_wrong("few_bits"),     toy_wrong("writes_input"),
                      toy_wrong("overruns_workspace"), toy_wrong("past_the_end"), toy_wrong("no_loss"),
                      toy_wrong("wrong_loss"),         toy_wrong("mean_always")};
    if (toy_wrong("leaves_objects")) {
        cudaStream_t stream = nullptr;
        cudaEvent_t event = nullptr;
        cudaGraph_t graph = nullptr;
        void* pinned = nullptr;
        check(cudaStreamCreate(&stream));
        check(cudaEventCreate(&event));
        check(cudaGraphCreate(&graph, 0));
        check(cudaMallocHost(&pinned, 64));
    }
    if (toy_wrong("hoards_executables") || (toy_wrong("warms_up_first") && warmed_up)) {
        cudaGraph_t graph = nullptr;
        auto& executables = ctx.handle<Hoard>().executables;
        if (executables.empty() || toy_wrong("hoards_executables")) {
            check(cudaGraphCreate(&graph, 0));
            check(cudaGraphInstantiate(&executables.emplace_back(), graph, 0));
            check(cudaGraphDestroy(graph));
        }
    }
    warmed_up = true;
    if (toy_wrong("leaves_a_capture_open")) {
        check(cudaStreamBeginCapture(ctx.stream, cudaStreamCaptureModeGlobal));
        return;
    }
    if (toy_wrong("makes_it_anew")) {
        Handle anew;
    }
    if (S > 0) {
        check(cudaMemsetAsync(scratch, 0x3F, sizeof(float) * static_cast<std::size_t>(S), ctx.stream));
    }
    if (N == 0) {
        return;
    }
    std::optional<checker::Stream> of_its_own;
    if (toy_wrong("own_stream")) {
        of_its_own.emplace(cudaStreamNonBlocking);
    }
    const cudaStream_t stream = of_its_own ? of_its_own->get() : ctx.stream;
    float* const squares = static_cast<float*>(ctx.workspace(sizeof(float) * static_cast<std::size_t>(N), 128));
    const float* const scale = ctx.handle<Handle>().memory;
    row_kernel<<<(N + 31) / 32, 32, 0, stream>>>(out, mean, squares, x, v, N, C, wrong);
    check(cudaGetLastError());
    channel_kernel<<<(C + 32) / 32, 32, 0, stream>>>(reinterpret_cast<__nv_bfloat16*>(grad), loss, squares, scale, x, N,
                                                     C, wrong);
    check(cudaGetLastError());
    if (toy_wrong("writes_input")) {
        set<<<1, 1, 0, stream>>>(const_cast<float*>(v) + 1, 0.0F);
        check(cudaGetLastError());
    }
    static int calls = 0;
    if (toy_wrong("keeps_state")) {
        set<<<1, 1, 0, stream>>>(loss, static_cast<float>(calls++));
        check(cudaGetLastError());
    }
    if (of_its_own) {  // right: who calls it waits for ctx.stream
        check(cudaStreamSynchronize(stream));
    }
}
