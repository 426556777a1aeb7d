// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "checker/cases/blas.h"

namespace {

// Small whole numbers: sums of their products are exact.
std::vector<double> whole_numbers(int count, int seed) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); i++) { values[i] = static_cast<double>((i * 7 + seed) % 11) - 5; }
    return values;
}

void expect_product(int N, int C, int OC) {
    const std::vector<double> inp = whole_numbers(N * C, 3), weight = whole_numbers(OC * C, 5);
    const std::vector<double> out = checker::float64_product(inp, weight, N, C, OC);
    ASSERT_EQ(out.size(), static_cast<std::size_t>(N) * static_cast<std::size_t>(OC));
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < OC; o++) {
            double sum = 0;
            for (int c = 0; c < C; c++) {
                sum += inp[static_cast<std::size_t>(n * C + c)] * weight[static_cast<std::size_t>(o * C + c)];
            }
            ASSERT_EQ(out[static_cast<std::size_t>(n * OC + o)], sum)
                << N << " " << C << " " << OC << ": " << n << ", " << o;
        }
    }
}

TEST(ProductWithoutBlas, IsExactOnWholeNumbersAtRegularAndRaggedShapes) {
    expect_product(16, 32, 64);
    expect_product(1, 1, 1);
    expect_product(3, 5, 7);
    expect_product(17, 129, 33);
    expect_product(2, 3, 8 * 64 + 1);
}

}  // namespace
