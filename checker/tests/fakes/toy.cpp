// SPDX-License-Identifier: MIT
#include "checker/tests/fakes/toy.h"

#include <cstring>
#include <vector>

namespace {

float float_of(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

// The nearest float of `kept` bits, of two the even one.
float rounded(float value, unsigned int kept) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t dropped = 32 - kept, half = (1U << (dropped - 1)) - 1;
    return std::bit_cast<float>((bits + half + ((bits >> dropped) & 1U)) >> dropped << dropped);
}
constexpr unsigned int kBfloat16 = 16, kTf32 = 19, kNearlyAll = 31;

std::uint16_t bfloat16_of(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded(value, kBfloat16)) >> 16U);
}

// As a library's handle: it remembers, which an op may not rely on.
struct Handle {
    std::vector<float> sums;
};

}  // namespace

void toy(std::uint16_t* grad, float* loss, float* out, float* mean, const float* x, const float* v, float* scratch,
         int N, int C, int S, Context& ctx) {
    if (toy_wrong("nothing")) {
        return;
    }
    std::memset(scratch, 0x3F, sizeof(float) * static_cast<std::size_t>(S));
    static std::vector<float> kept;
    kept.resize(static_cast<std::size_t>(C));
    float* const sums = static_cast<float*>(ctx.workspace(sizeof(float) * static_cast<std::size_t>(C), 128));
    for (int c = 0; c < C; c++) { sums[c] = toy_wrong("keeps_state") ? kept[static_cast<std::size_t>(c)] : 0.0F; }
    if (toy_wrong("overruns_workspace")) {
        sums[C + 64] = 1.0F;
    }
    float squares = 0;
    const unsigned int bits = toy_wrong("few_bits") ? kBfloat16 : toy_wrong("all_bits") ? kNearlyAll : kTf32;
    for (int n = 0; n < N; n++) {
        float sum = 0, product = 0;
        for (int c = 0; c < C; c++) {
            const float x_nc = x[n * C + c];
            sums[c] += x_nc;
            squares += x_nc * x_nc;
            sum += x_nc;
            product += rounded(x_nc, bits) * rounded(v[c], bits);
        }
        out[n] = product;
        if (mean != nullptr || toy_wrong("mean_always")) {
            mean[n] = sum / static_cast<float>(C);
        }
    }
    Handle& handle = ctx.handle<Handle>();
    handle.sums.assign(sums, sums + C);
    kept = handle.sums;
    for (int c = 0; c < C + (toy_wrong("past_the_end") ? 1 : 0); c++) {
        grad[c] = bfloat16_of((toy_wrong("overwrites") ? 0.0F : float_of(grad[c])) +
                              handle.sums[static_cast<std::size_t>(c % C)]);
    }
    if (!toy_wrong("no_loss")) {
        *loss = toy_wrong("wrong_loss") ? squares / 2 : squares;
    }
    if (toy_wrong("writes_input")) {
        const_cast<float*>(v)[1] = 0.0F;
    }
}
