// SPDX-License-Identifier: MIT
//
// Right values in wrong places: rows of two warps exchanged, a tile stored transposed, columns in another order. A pure
// function of numbers, as in compare.h. A kernel's rows are all axes but the last, as in Dims.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "checker/cases/dims.h"
#include "checker/judge/compare.h"

namespace checker {

struct Displaced {
    // By one distance or two; or somewhere else in the same row, in the same column, or in the tensor: there with a
    // neighbour of its row, with a neighbour of its row that stands in its column, or alone.
    enum class How { shifted, in_row, in_column, piece, transposed, alone };
    struct Shift {  // an element holds what belongs so many rows and columns further on; negative: further back
        long rows = 0;
        long columns = 0;
        long elements = 0;  // wrong elements of which this is so
    };
    How how = How::alone;
    long elements = 0;   // wrong elements that hold another's value, of ...
    long looked_at = 0;  // ... so many: all wrong ones where they are shifted, else a sample of their values
    long element = -1;   // one that holds another's value, ...
    long belongs = -1;   // ... and whose value that is
    std::vector<Shift> shifts = {};  // of How::shifted: one or two, the more frequent first
};

// Looks for the values of wrong elements elsewhere in the reference. A value is found where it is within a few budgets
// of it, unless it is that near to what belongs where it stands. Nothing unless half of the wrong elements and of their
// different values are shifted alike, or nine tenths of a sample of those values are found, where values a little beside
// them are not: among very many values each is close to some other by chance.
// `skip` as for compare().
std::optional<Displaced> displaced(const Dims& dims, long columns, std::span<const float> got, const Expected& expected,
                                   const std::vector<bool>& skip = {});

}  // namespace checker
