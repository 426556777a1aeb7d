// SPDX-License-Identifier: MIT
//
// The float64 product of blas.h without a BLAS, for programs that are built where there is none: on all cores, tiles of
// 8 columns whose sums stay in registers.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

#include "checker/cases/blas.h"

namespace checker {
namespace {

constexpr std::size_t kColumns = 8;

// Columns [first, first + kColumns) of the product; those beyond OC are left out.
void columns_of(const std::vector<double>& inp, const std::vector<double>& weight, std::size_t N, std::size_t C,
                std::size_t OC, std::size_t first, std::vector<double>& out) {
    const std::size_t width = std::min(kColumns, OC - first);
    std::vector<double> tile(C * kColumns);  // (C, kColumns)
    for (std::size_t o = 0; o < width; o++) {
        for (std::size_t c = 0; c < C; c++) { tile[c * kColumns + o] = weight[(first + o) * C + c]; }
    }
    for (std::size_t n = 0; n < N; n++) {
        std::array<double, kColumns> sum{};
        const double* inp_n = inp.data() + n * C;  // inp[n, :]
        for (std::size_t c = 0; c < C; c++) {
            for (std::size_t o = 0; o < kColumns; o++) { sum[o] += inp_n[c] * tile[c * kColumns + o]; }
        }
        std::copy_n(sum.begin(), width, out.begin() + static_cast<long>(n * OC + first));
    }
}

}  // namespace

std::vector<double> float64_product(const std::vector<double>& inp, const std::vector<double>& weight, int N, int C,
                                    int OC) {
    const auto rows = static_cast<std::size_t>(N), depth = static_cast<std::size_t>(C),
               columns = static_cast<std::size_t>(OC);
    std::vector<double> out(rows * columns);
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; thread++) {
        running.emplace_back([&, thread] {
            for (std::size_t first = thread * kColumns; first < columns; first += threads * kColumns) {
                columns_of(inp, weight, rows, depth, columns, first, out);
            }
        });
    }
    running.clear();
    return out;
}

void blas_matmul(float* /*out*/, const float* /*inp*/, const float* /*weight*/, const float* /*bias*/, int /*N*/,
                 int /*C*/, int /*OC*/, int /*out_stride*/) {
    throw std::logic_error("this program was built without OpenBLAS");
}

}  // namespace checker
