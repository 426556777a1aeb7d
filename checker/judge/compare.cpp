// SPDX-License-Identifier: MIT
#include "checker/judge/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "checker/cases/budget.h"

namespace checker {
namespace {

std::size_t at(long i) {
    return static_cast<std::size_t>(i);
}

// f(element) for each element of the columns from `begin` to `end`, in index order.
template <class F>
void for_columns(const Dims& dims, long begin, long end, F&& f) {
    const long stride = dims.columns();
    for (long row = 0; row < dims.rows(); row++) {
        for (long column = begin; column < end; column++) { f(row * stride + column); }
    }
}

void require_sizes(const Dims& dims, std::size_t got, const Expected& expected) {
    const std::size_t elements = at(dims.elements());
    if (got != elements || expected.values.size() != elements || !has_floors(dims, expected.floor.size())) {
        throw std::invalid_argument("compare: the output, its reference and its floor do not have the shape (" +
                                    dims.text() + ")");
    }
}

float floor_of(const Dims& dims, const Expected& expected, long element) {
    const bool one_a_row = expected.floor.size() == at(dims.rows());
    return expected.floor[at(one_a_row ? element / dims.columns() : element)];
}

bool holds(const Run& run, long element, std::uint32_t bits) {
    return std::bit_cast<std::uint32_t>(run.values[at(element)]) == bits;
}

// The elements of the columns from `begin` to `end` for which `is` holds.
template <class F>
Elements select(const Dims& dims, long begin, long end, F&& is) {
    Elements result;
    result.flags.resize(at(dims.elements()));
    for_columns(dims, begin, end, [&](long i) {
        if (!is(i)) {
            return;
        }
        if (result.count++ == 0) {
            result.first = i;
        }
        result.flags[at(i)] = true;
    });
    return result;
}

}  // namespace

double budget_of(const Dims& dims, const Expected& expected, long element) {
    return budget(expected.factor, floor_of(dims, expected, element), expected.values[at(element)]);
}

Comparison compare(const Dims& dims, long columns, std::span<const float> got, const Expected& expected,
                   const std::vector<bool>& skip) {
    require_sizes(dims, got.size(), expected);
    Comparison result;
    for_columns(dims, 0, columns, [&](long i) {
        result.compared++;
        if (!skip.empty() && skip[at(i)]) {
            result.wrong++;
            return;
        }
        const float value = got[at(i)];
        const float reference = expected.values[at(i)];
        const bool must_be_zero = expected.exact_zeros && reference == 0.0F;
        double used = error(value, reference) / budget_of(dims, expected, i);
        if (!std::isfinite(value)) {
            result.nonfinite++;
            used = std::numeric_limits<double>::infinity();
        } else if (must_be_zero && value != 0.0F) {
            result.nonzero++;
            used = std::max(used, std::nextafter(1.0, 2.0));
        }
        if (result.worst < 0 || used > result.used) {
            result.used = used;
            result.worst = i;
        }
        if (!(used <= 1.0)) {
            const std::vector<long> index = dims.index(i);
            result.wrong++;
            if (result.first < 0) {
                result.first = i;
                result.low = index;
                result.high = index;
                result.step.assign(index.size(), 0);
            }
            for (std::size_t axis = 0; axis < index.size(); axis++) {
                result.step[axis] = std::gcd(result.step[axis], index[axis] - result.low[axis]);
                result.low[axis] = std::min(result.low[axis], index[axis]);
                result.high[axis] = std::max(result.high[axis], index[axis]);
            }
        }
    });
    return result;
}

bool fits(const Dims& dims, long columns, std::span<const float> got, const Expected& expected,
          const Suspect& suspect) {
    require_sizes(dims, got.size(), expected);
    if (suspect.values.size() != got.size()) {
        throw std::invalid_argument("compare: suspect " + suspect.id + " does not have the output's shape");
    }
    bool all = true;
    for_columns(dims, 0, columns, [&](long i) {
        const float value = got[at(i)];
        const float guess = suspect.values[at(i)];
        if (!std::isfinite(value) || !std::isfinite(guess)) {
            all = all && !std::isfinite(value) && !std::isfinite(guess);
            return;
        }
        const double allowed = kFewBudgets * budget(expected.factor, floor_of(dims, expected, i), guess);
        all = all && error(value, guess) <= allowed;
    });
    return all;
}

Elements untouched(const Dims& dims, long columns, const Run& one, const Run& other) {
    return select(dims, 0, columns, [&](long i) { return holds(one, i, one.poison) && holds(other, i, other.poison); });
}

Elements touched_padding(const Dims& dims, long columns, const Run& one, const Run& other) {
    return select(dims, columns, dims.columns(),
                  [&](long i) { return !holds(one, i, one.poison) || !holds(other, i, other.poison); });
}

Elements disagreeing(const Dims& dims, long columns, const Run& one, const Run& other) {
    return select(dims, 0, columns,
                  [&](long i) { return !holds(one, i, std::bit_cast<std::uint32_t>(other.values[at(i)])); });
}

Window around(const Dims& dims, long columns, long element) {
    constexpr long kWidth = 4;
    const long row = element / dims.columns();
    const long count = std::min(columns, kWidth);
    const long begin = std::clamp(element % dims.columns() - 1, 0L, columns - count);
    return {row * dims.columns() + begin, count};
}

}  // namespace checker
