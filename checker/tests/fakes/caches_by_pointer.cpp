// SPDX-License-Identifier: MIT
//
// Keeps a doubled input by its address, and gives it again wherever it sees that address.
#include <map>
#include <vector>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static std::map<const float*, std::vector<float>> known;
    std::vector<float>& kept = known[inp];
    if (kept.empty()) {
        kept.resize(static_cast<std::size_t>(N) * static_cast<std::size_t>(stride));
        twice_rightly(kept.data(), inp, N, C, stride);
    }
    for (int n = 0; n < N; n++) {
        for (int c = 0; c < C; c++) {
            const auto i = static_cast<std::size_t>(n * stride + c);
            out[i] = i < kept.size() ? kept[i] : 0.0F;
        }
    }
}
