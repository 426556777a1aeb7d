// SPDX-License-Identifier: MIT
//
// At larger sizes than those of the cases wrong as FAKE_WRONG says: in one "tile" of 16 by 16, in the "last_row" or the
// "last_column", in one "place" of each tile, "displaced" by a row, or "stale": what the first call gave.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    const char* const said = std::getenv("FAKE_WRONG");
    const std::string_view wrong = said == nullptr || N * C < 1000 ? "" : said;
    twice_rightly(out, inp, N, C, stride);
    const auto is_wrong = [&](int n, int c) {
        return (wrong == "tile" && n / 16 == N / 32 && c / 16 == C / 32) || (wrong == "last_row" && n == N - 1) ||
               (wrong == "last_column" && c == C - 1) || (wrong == "place" && n % 64 == 37 && c % 64 == 5);
    };
    for (int n = 0; n < N && !wrong.empty(); n++) {
        for (int c = 0; c < C; c++) {
            float& element = out[n * stride + c];
            element = is_wrong(n, c) ? 0.0F : wrong == "displaced" ? 2.0F * inp[(n + 1) % N * stride + c] : element;
        }
    }
    static std::vector<float> kept;
    if (wrong == "stale") {
        const auto elements = static_cast<std::size_t>(N) * static_cast<std::size_t>(stride);
        kept = kept.empty() ? std::vector<float>(out, out + elements) : kept;
        for (std::size_t i = 0; i < elements; i++) { out[i] = kept[i]; }
    }
}
