// SPDX-License-Identifier: MIT
//
// logits[b, :] = forward's logits at position T - 1 of sequence b
//
// Given. The tokens are copied to the device, forward launches its kernels one after the other, and of each sequence one row
// of its logits is copied back. Lesson 17 replaces it.
#include <optional>

#include "checker/device.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/tensors.h"

void predict(float* logits,             // (B, V), on the host
             Activations& acts,         // with room for acts.B >= B sequences of acts.T >= T tokens
             const Parameters& params,  //
             const int* tokens,         // (B, T), each in [0, V), on the host
             int B, int T, Context& ctx) {
    const std::size_t V = acts.config.V, Vp = acts.config.Vp, rows = static_cast<std::size_t>(B) * T;
    auto& on_device = ctx.handle<std::optional<checker::DeviceBuffer<int>>>();  // (B, T), kept for the next call
    if (!on_device || on_device->size() < rows) {
        on_device = checker::DeviceBuffer<int>(rows);
    }
    check(cudaMemcpyAsync(on_device->data(), tokens, rows * sizeof(int), cudaMemcpyHostToDevice, ctx.stream));

    const Narrowed narrowed(acts, B, T);
    forward(acts, params, on_device->data(), nullptr, ctx);

    const float* last = acts.logits + (T - 1) * Vp;  // logits[0, T - 1, :]
    check(cudaMemcpy2DAsync(logits, V * sizeof(float), last, T * Vp * sizeof(float), V * sizeof(float), B,
                            cudaMemcpyDeviceToHost, ctx.stream));
    check(cudaStreamSynchronize(ctx.stream));
}
