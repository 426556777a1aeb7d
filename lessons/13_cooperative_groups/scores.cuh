// SPDX-License-Identifier: MIT
//
// A row of attention's scores, and the walk of a warp's lanes along it. Lesson 15 includes this header too.
#pragma once

#include <cmath>

#include "lessons/12_cublaslt_fusion/pieces.cuh"

namespace {

constexpr int kApart = 32;  // the lanes of a warp: a lane's next piece is as far on

// Row [b, h, t, :] of att and of scores, as lane `lane` of its warp sees it. The lane's pieces are float4s lane, lane + 32, ...
// of the row's T4 = T / 4. Where not all rows start at multiples of 16 bytes, T4 is 0 and its pieces are floats.
struct Row {
    float* att;           // (T)
    const float* scores;  // (T)
    float scale;
    int t, T, T4, lane;

    // Calls use(x) for each piece x of the scaled scores of tokens s <= t. Scores after t are not read. A float4 that reaches
    // beyond t holds minus infinity there: it never is the maximum, and exp of it is 0.
    template <class Use>
    __device__ void each(Use use) const {
        for (int i = lane; i < T4 && 4 * i <= t; i += kApart) { use(four(i)); }
        for (int s = 4 * T4 + lane; s <= t; s += kApart) { use(scale * scores[s]); }
    }

    // Stores att[s] = prob(scale * scores[s]) for s <= t, and 0 for s > t.
    template <class Prob>
    __device__ void store(Prob prob) const {
        for (int i = lane; i < T4; i += kApart) {
            reinterpret_cast<float4*>(att)[i] = 4 * i <= t ? map(prob, four(i)) : float4{};
        }
        for (int s = 4 * T4 + lane; s < T; s += kApart) { att[s] = s <= t ? prob(scale * scores[s]) : 0.0f; }
    }

    // Returns float4 i of the scaled scores.
    __device__ float4 four(int i) const {
        if (4 * i + 3 <= t) {
            return map([this](float score) { return scale * score; }, reinterpret_cast<const float4*>(scores)[i]);
        }
        const auto at = [this](int s) { return s <= t ? scale * scores[s] : -INFINITY; };
        return make_float4(at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3));
    }
};

}  // namespace
