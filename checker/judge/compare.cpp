// SPDX-License-Identifier: MIT
#include "checker/judge/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
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

void require_sizes(const Dims& dims, const Got& got, const Expected& expected) {
    if (got.values.size() != at(dims.elements()) || !has_shape(expected, dims) ||
        got.integers.size() < expected.integers.size()) {
        throw std::invalid_argument("compare: the output, its reference and its floor do not have the shape (" +
                                    dims.text() + ")");
    }
}

// Returns an element's number, of which there is one a row or one an element; 0 if there are none.
float number_of(const Dims& dims, std::span<const float> numbers, long element) {
    if (numbers.empty()) {
        return 0.0F;
    }
    const bool one_a_row = numbers.size() == at(dims.rows());
    return numbers[at(one_a_row ? element / dims.columns() : element)];
}

float floor_of(const Dims& dims, const Expected& expected, long element) {
    return number_of(dims, expected.floor, element);  // integers have none
}

// The bits of an element, which has `size` bytes; memory that is all poison repeats them every eight bytes.
std::uint64_t bits_of(std::span<const std::byte> memory, std::size_t size, long element) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + at(element) * size % memory.size(), size);
    return bits;
}

bool is_as_before(const Run& run, long element) {
    const std::size_t size = bytes_of(run.element);
    const std::uint64_t poisoned = poison(run.schedule, run.element);
    const std::span<const std::byte> before = run.before.empty() ? std::as_bytes(std::span(&poisoned, 1)) : run.before;
    return bits_of(run.after, size, element) == bits_of(before, size, element);
}

// Returns true if both are NaN or the same infinity.
bool is_same_nonfinite(float got, float expected) {
    return (std::isnan(got) && std::isnan(expected)) || (std::isinf(got) && got == expected);
}

bool is_wrongly_nonzero(const Got& got, const Expected& expected, long i) {
    return expected.exact_zeros && expected.values[at(i)] == 0.0F && got.values[at(i)] != 0.0F;
}

// How much of its budget an element uses: more than 1 where it is wrong.
double share_used(const Dims& dims, const Got& got, const Expected& expected, long i) {
    constexpr double kAll = std::numeric_limits<double>::infinity();
    if (is_integer(expected.element)) {
        return got.integers[at(i)] == expected.integers[at(i)] ? 0.0 : kAll;
    }
    if (!std::isfinite(got.values[at(i)]) || !std::isfinite(expected.values[at(i)])) {
        return is_same_nonfinite(got.values[at(i)], expected.values[at(i)]) ? 0.0 : kAll;
    }
    const double used = error(got.values[at(i)], expected.values[at(i)]) / budget_of(dims, expected, i);
    return is_wrongly_nonzero(got, expected, i) ? std::max(used, std::nextafter(1.0, 2.0)) : used;
}

// Returns the diagonals through one element, of each pair of axes.
std::vector<Comparison::Diagonal> all_diagonals(const std::vector<long>& index) {
    std::vector<Comparison::Diagonal> all;
    for (std::size_t axis = 0; axis < index.size(); axis++) {
        for (std::size_t other = axis + 1; other < index.size(); other++) {
            all.push_back({axis, other, index[other] - index[axis]});
        }
    }
    return all;
}

}  // namespace

std::vector<long> elements_to_look_at(const Dims& dims, long columns, std::uint64_t seed) {
    constexpr long kLargestCell = 16, kFew = 1L << 18;
    const long rows = dims.rows(), stride = dims.columns();
    long cell = 1;
    while (cell < kLargestCell && rows * columns > kFew * cell * cell) { cell *= 2; }
    std::vector<long> elements;
    std::mt19937_64 random(seed);
    for (long row = 0; row < rows; row += cell) {
        for (long column = 0; column < columns; column += cell) {
            const auto drawn = static_cast<long>(random() % static_cast<std::uint64_t>(cell * cell));
            const long of_row = std::min(row + drawn / cell, rows - 1),
                       of_column = std::min(column + drawn % cell, columns - 1);
            elements.push_back(of_row * stride + of_column);
        }
    }
    for (long row = 0; row < rows; row++) {
        elements.push_back(row * stride);
        elements.push_back(row * stride + columns - 1);
    }
    for (long column = 0; column < columns; column++) {
        elements.push_back(column);
        elements.push_back((rows - 1) * stride + column);
    }
    std::ranges::sort(elements);
    const auto repeated = std::ranges::unique(elements);
    elements.erase(repeated.begin(), repeated.end());
    return elements;
}

std::vector<float> floors_of_rows(const Dims& dims, const std::vector<long>& elements, std::vector<float> floors) {
    const auto row_of = [&](std::size_t i) { return elements[i] / dims.columns(); };
    for (std::size_t begin = 0, end = 0; begin < elements.size(); begin = end) {
        while (end < elements.size() && row_of(end) == row_of(begin)) { end++; }
        const std::span<float> row(floors.data() + begin, end - begin);
        std::ranges::fill(row, std::ranges::max(row));
    }
    return floors;
}

long differing_element(const Dims& dims, long columns, const Got& subject, const Got& solution, double share,
                       Element element) {
    for (long row = 0; row < dims.rows(); row++) {
        double largest = 0;
        for (long column = 0; column < columns; column++) {
            const double value = std::abs(solution.values[static_cast<std::size_t>(row * dims.columns() + column)]);
            largest = std::max(largest, value);
        }
        for (long column = 0; column < columns; column++) {
            const auto i = static_cast<std::size_t>(row * dims.columns() + column);
            const double difference = error(subject.values[i], solution.values[i]);
            const bool same = subject.integers.empty()
                                  ? difference <= share * largest || difference <= ulp(solution.values[i], element)
                                  : subject.integers[i] == solution.integers[i];
            if (!same) {
                return static_cast<long>(i);
            }
        }
    }
    return -1;
}

double budget_of(const Dims& dims, const Expected& expected, long element) {
    return budget(expected.factor, floor_of(dims, expected, element), expected.values[at(element)], expected.element);
}

bool is_right(const Dims& dims, const Got& got, const Expected& expected, long element) {
    require_sizes(dims, got, expected);
    return share_used(dims, got, expected, element) <= 1.0;
}

Comparison compare(const Dims& dims, long columns, const Got& got, const Expected& expected,
                   const std::vector<bool>& skip) {
    require_sizes(dims, got, expected);
    Comparison result;
    for_columns(dims, 0, columns, [&](long i) {
        result.compared++;
        if (!skip.empty() && skip[at(i)]) {
            result.wrong++;
            return;
        }
        const double used = share_used(dims, got, expected, i);
        if (!std::isfinite(got.values[at(i)]) && used > 0) {
            result.nonfinite++;
        } else if (is_wrongly_nonzero(got, expected, i)) {
            result.nonzero++;
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
                result.diagonals = all_diagonals(index);
            }
            std::erase_if(result.diagonals, [&](const Comparison::Diagonal& one) {
                return index[one.other] - index[one.axis] != one.offset;
            });
            for (std::size_t axis = 0; axis < index.size(); axis++) {
                result.step[axis] = std::gcd(result.step[axis], index[axis] - result.low[axis]);
                result.low[axis] = std::min(result.low[axis], index[axis]);
                result.high[axis] = std::max(result.high[axis], index[axis]);
            }
        }
    });
    return result;
}

bool fits(const Dims& dims, long columns, const Got& got, const Expected& expected, const Suspect& suspect) {
    require_sizes(dims, got, expected);
    if (suspect.values.size() != got.values.size()) {
        throw std::invalid_argument("compare: suspect " + suspect.id + " does not have the output's shape");
    }
    bool all = true;
    for_columns(dims, 0, columns, [&](long i) {
        const float value = got.values[at(i)];
        const float guess = suspect.values[at(i)];
        const float spread = number_of(dims, suspect.spread, i);
        if (std::isinf(spread)) {
            return;
        }
        if (!std::isfinite(value) || !std::isfinite(guess)) {
            const bool opposite = std::isinf(value) && std::isinf(guess) && value != guess;
            all = all && !std::isfinite(value) && !std::isfinite(guess) && !opposite;
            return;
        }
        const double allowed =
            kFewBudgets * budget(expected.factor, floor_of(dims, expected, i), guess, expected.element) + spread;
        all = all && error(value, guess) <= allowed;
    });
    return all;
}

std::optional<double> times_nearer(const Dims& dims, long columns, const Got& got, const Expected& expected,
                                   std::span<const float> rounded) {
    std::vector<double> shares;  // of the precision's error
    std::set<float> different;
    for_columns(dims, 0, columns, [&](long i) {
        const float value = expected.values[at(i)];
        const double moved = error(rounded[at(i)], value);
        if (moved > 0 && std::isfinite(moved)) {
            const double share = error(got.values[at(i)], value) / moved;
            shares.push_back(std::isnan(share) ? std::numeric_limits<double>::infinity() : share);
            different.insert(value);
        }
    });
    if (different.size() < kTellingValues) {
        return std::nullopt;
    }
    const auto half = shares.begin() + std::ssize(shares) / 2;
    std::ranges::nth_element(shares, half);
    return 1 / *half;
}

Elements select(const Dims& dims, long begin, long end, const std::function<bool(long)>& is) {
    Elements result;
    result.flags.resize(at(dims.elements()));
    for_columns(dims, begin, end, [&](long i) {
        if (is(i)) {
            result.first = result.count++ == 0 ? i : result.first;
            result.flags[at(i)] = true;
        }
    });
    return result;
}

Elements untouched(const Dims& dims, long columns, const Run& one, const Run& other) {
    return select(dims, 0, columns, [&](long i) { return is_as_before(one, i) && is_as_before(other, i); });
}

Elements touched_padding(const Dims& dims, long columns, const Run& one, const Run& other, bool zero_is_right) {
    const std::size_t size = bytes_of(one.element);
    const std::uint64_t but_sign = (std::uint64_t{1} << (8 * size - 1)) - 1;
    const auto is_wrong = [&](const Run& run, long i) {
        return !is_as_before(run, i) && !(zero_is_right && (bits_of(run.after, size, i) & but_sign) == 0);
    };
    return select(dims, columns, dims.columns(), [&](long i) { return is_wrong(one, i) || is_wrong(other, i); });
}

Elements disagreeing(const Dims& dims, long columns, const Run& one, const Run& other) {
    const std::size_t size = bytes_of(one.element);
    return select(dims, 0, columns,
                  [&](long i) { return bits_of(one.after, size, i) != bits_of(other.after, size, i); });
}

Window around(const Dims& dims, long columns, long element) {
    constexpr long kWidth = 4;
    const long row = element / dims.columns();
    const long count = std::min(columns, kWidth);
    const long begin = std::clamp(element % dims.columns() - 1, 0L, columns - count);
    return {row * dims.columns() + begin, count};
}

}  // namespace checker
