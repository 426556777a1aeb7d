// SPDX-License-Identifier: MIT
//
// One output against what it should be. Everything here is a pure function of numbers; describe.h turns it into words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checker/cases/dims.h"
#include "checker/cases/expected.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

struct Comparison {
    long compared = 0;            // elements judged: padding columns are not
    long wrong = 0;               // outside their budget, or skipped
    long nonfinite = 0;           // NaN or infinite where the reference is finite
    long nonzero = 0;             // not 0 where only 0 is right
    double used = 0;              // max of error / budget; infinite where an element is not finite, or a wrong integer
    long first = -1;              // the first wrong element that was not skipped, in index order
    long worst = -1;              // the element with the largest share of its budget, none of the skipped
    std::vector<long> low, high;  // the box around the wrong elements: smallest and largest index, an axis each
    std::vector<long> step;       // their indices along an axis are low, low + step, ...: the largest that holds; or 0
    struct Diagonal {
        std::size_t axis = 0, other = 0;  // the earlier axis first
        long offset = 0;                  // the other's index less the axis's
    };
    std::vector<Diagonal> diagonals;  // axes whose indices differ by the same in all wrong elements
    bool ok() const { return wrong == 0; }
};

// An output's values; those of integers exactly too.
struct Got {
    Got(std::span<const float> values_) : values(values_) {}
    Got(const std::vector<float>& values_) : values(values_) {}
    Got(const Decoded& decoded) : values(decoded.values), integers(decoded.integers) {}
    explicit Got(const Expected& expected) : values(expected.values), integers(expected.integers) {}
    std::span<const float> values;
    std::span<const std::int64_t> integers;
};

// Judges the first `columns` elements of each row. A NaN is never equal to anything. Elements that are known to hold
// nothing are named in `skip` (one flag an element, or empty): they are wrong, but no number of theirs is looked at.
Comparison compare(const Dims& dims, long columns, const Got& got, const Expected& expected,
                   const std::vector<bool>& skip = {});

// The elements to look at where an output is too large for all of them to be computed, in index order: the first and the
// last row and column, and one of each cell of 16 by 16, so that no tile of a kernel is left out and rows and columns of
// every remainder are met. Cells are smaller where that gives fewer than 2^18. Which one of a cell is drawn from `seed`.
std::vector<long> elements_to_look_at(const Dims& dims, long columns, std::uint64_t seed);

// A row has one floor, the largest of its elements', and the budget's ratios are measured with that (reference/BUDGET.md):
// the floors of some elements, in index order, as those of their rows, as far as these elements tell.
std::vector<float> floors_of_rows(const Dims& dims, const std::vector<long>& elements, std::vector<float> floors);

// The first element in which two right results differ by more than rounding can explain, `share` of the largest value in
// its row; -1 if none. For shapes without a reference: the solution, which is right on every case, stands in for it.
long differing_element(const Dims& dims, long columns, const Got& subject, const Got& solution, double share,
                       Element element);

// The budget of one element.
double budget_of(const Dims& dims, const Expected& expected, long element);

// Whether compare() would find this element right.
bool is_right(const Dims& dims, const Got& got, const Expected& expected, long element);

// What a wrong output would be is computed in another precision than the learner's, so it is met within a few budgets,
// not one. The dump keeps every suspect at least ten budgets away from the reference.
inline constexpr double kFewBudgets = 4.0;

// Whether the output is what the suspect gives: its non-finite elements are exactly the suspect's, none of them an
// infinity of the other sign, and every other one is within kFewBudgets of the suspect's.
bool fits(const Dims& dims, long columns, const Got& got, const Expected& expected, const Suspect& suspect);

// How many times smaller than a precision's the errors are: half of the elements lie at least so many times nearer to
// what they should be than `rounded`, the same of factors that are rounded to that precision; infinite where half of
// them have no error. Elements that the rounding does not move say nothing; none unless kTellingValues different ones do.
inline constexpr std::size_t kTellingValues = 32;
std::optional<double> times_nearer(const Dims& dims, long columns, const Got& got, const Expected& expected,
                                   std::span<const float> rounded);

// What computes in a precision cannot be so many times nearer: reference/BUDGET.md.
inline constexpr double kTooNear = 8.0;

// An output's memory after a run, and before it: filled with a poison, of which the two runs have different ones, or
// with what an in-out tensor holds.
struct Run {
    std::span<const std::byte> after;
    Element element = Element::f32;
    Schedule schedule = Schedule::end_aligned;
    std::span<const std::byte> before = {};  // empty: the schedule's poison
};

struct Elements {
    long count = 0;
    long first = -1;          // in index order
    std::vector<bool> flags;  // one an element
    bool none() const { return count == 0; }
    bool holds(long element) const { return !none() && flags[static_cast<std::size_t>(element)]; }
};

// The elements of the columns from `begin` to `end` for which `is` holds.
Elements select(const Dims& dims, long begin, long end, const std::function<bool(long)>& is);

// Elements of the first `columns` columns that hold in both runs what they held before.
Elements untouched(const Dims& dims, long columns, const Run& one, const Run& other);

// Elements of the columns from `columns` on that hold something else than before, in either run, and, if `zero_is_right`, something
// else than 0.
Elements touched_padding(const Dims& dims, long columns, const Run& one, const Run& other, bool zero_is_right = false);

// Elements of the first `columns` columns whose bits differ between the runs.
Elements disagreeing(const Dims& dims, long columns, const Run& one, const Run& other);

// Up to four columns of the element's row, the element among them.
struct Window {
    long begin = 0;  // flat index of the first
    long count = 0;
};
Window around(const Dims& dims, long columns, long element);

}  // namespace checker
