// SPDX-License-Identifier: MIT
#include "checker/judge/displaced.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <stdexcept>

using namespace checker;

namespace {

using How = Displaced::How;

// Rows of values drawn from a normal distribution; every element's budget is the same.
struct Drawn {
    Dims dims;
    long columns;
    std::vector<float> reference, floor;
    Expected expected;

    Drawn(long rows, long stride, long used, float one_floor = 1e-6F)
        : Drawn(Dims("N OC", {rows, stride}), used, one_floor) {}
    Drawn(Dims shape, long used, float one_floor)
        : dims(std::move(shape)),
          columns(used),
          reference(static_cast<std::size_t>(dims.elements())),
          floor(static_cast<std::size_t>(dims.rows()), one_floor),
          expected{reference, floor, 1.0, false} {
        std::mt19937_64 random(1);
        std::normal_distribution<float> normal;
        for (float& value : reference) { value = normal(random); }
    }
    float at(long n, long o) const { return reference[static_cast<std::size_t>(n * dims.columns() + o)]; }

    // What a kernel wrote: value(n, o) in the columns that are used, a constant in the others.
    std::vector<float> written(const std::function<float(long, long)>& value) const {
        std::vector<float> got(reference.size(), 7.0F);
        for (long n = 0; n < dims.rows(); n++) {
            for (long o = 0; o < columns; o++) { got[static_cast<std::size_t>(n * dims.columns() + o)] = value(n, o); }
        }
        return got;
    }
    std::optional<Displaced> of(const std::vector<float>& got, const std::vector<bool>& skip = {}) const {
        return displaced(dims, columns, got, expected, skip);
    }
    Displaced found(const std::vector<float>& got) const {
        const std::optional<Displaced> result = of(got);
        if (!result) {
            throw std::runtime_error("the values were not found");
        }
        return *result;
    }
};

}  // namespace

TEST(Displaced, RowsOfTwoWarpsExchangedAreTwoShifts) {
    const Drawn out(64, 40, 40);
    const Displaced found = out.found(out.written([&](long n, long o) { return out.at(n ^ 32, o); }));
    EXPECT_EQ(found.how, How::shifted);
    EXPECT_EQ(found.element, 0);
    EXPECT_EQ(found.belongs, 32 * 40);
    EXPECT_EQ(found.looked_at, 64 * 40);
    EXPECT_EQ(found.elements, 64 * 40);
    ASSERT_EQ(found.shifts.size(), 2U);
    EXPECT_EQ(found.shifts[0].elements + found.shifts[1].elements, 64 * 40);
    EXPECT_EQ(found.shifts[0].rows, -found.shifts[1].rows);
    EXPECT_EQ(std::abs(found.shifts[0].rows), 32);
    EXPECT_EQ(found.shifts[0].columns, 0);
}

TEST(Displaced, AColumnTakenOneTooEarlyIsOneShift) {
    const Drawn out(5, 16, 16);
    const Displaced found = out.found(out.written([&](long n, long o) { return o == 0 ? 9.0F : out.at(n, o - 1); }));
    EXPECT_EQ(found.how, How::shifted);
    ASSERT_EQ(found.shifts.size(), 1U);
    EXPECT_EQ(found.shifts[0].rows, 0);
    EXPECT_EQ(found.shifts[0].columns, -1);
    EXPECT_EQ(found.shifts[0].elements, 5 * 15);
    EXPECT_EQ(found.element, 1);
    EXPECT_EQ(found.belongs, 0);
}

TEST(Displaced, NeighbouringFloat4sExchangedAreTwoShiftsInARow) {
    const Drawn out(16, 256, 256);
    const Displaced found = out.found(out.written([&](long n, long o) { return out.at(n, o ^ 4); }));
    EXPECT_EQ(found.how, How::shifted);
    ASSERT_EQ(found.shifts.size(), 2U);
    EXPECT_EQ(found.shifts[0].columns, -found.shifts[1].columns);
    EXPECT_EQ(found.elements, 16 * 256);
}

TEST(Displaced, TokensOfTwoSequencesAreRowsOneAfterTheOther) {
    const Drawn out(Dims("B T C", {4, 8, 16}), 16, 1e-6F);
    const Displaced found = out.found(out.written([&](long n, long o) { return out.at((n + 5) % 32, o); }));
    EXPECT_EQ(found.how, How::shifted);
    ASSERT_EQ(found.shifts.size(), 2U);
    EXPECT_EQ(found.shifts[0].rows, 5);
    EXPECT_EQ(found.shifts[1].rows, -27);
}

TEST(Displaced, ValuesAFewBudgetsOffAreFoundToo) {
    const Drawn out(8, 16, 16);
    EXPECT_TRUE(out.of(out.written([&](long n, long o) { return out.at(n ^ 1, o) + 3e-6F; })));
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return out.at(n ^ 1, o) + 9e-6F; })));
}

TEST(Displaced, ColumnsInAnotherOrderStayInTheirRow) {
    const Drawn out(32, 64, 64);
    const Displaced found = out.found(out.written([&](long n, long o) { return out.at(n, o % 8 * 8 + o / 8); }));
    EXPECT_EQ(found.how, How::in_row);
    EXPECT_EQ(found.element / 64, found.belongs / 64);
    EXPECT_EQ(found.looked_at, 512);
    EXPECT_EQ(found.elements, 512);
}

TEST(Displaced, RowsInAnotherOrderStayInTheirColumn) {
    const Drawn out(64, 16, 16);
    const Displaced found = out.found(out.written([&](long n, long o) { return out.at(n % 8 * 8 + n / 8, o); }));
    EXPECT_EQ(found.how, How::in_column);
    EXPECT_EQ(found.element % 16, found.belongs % 16);
}

TEST(Displaced, TilesStoredTransposedHaveTheirNeighboursInTheirColumn) {
    const Drawn out(64, 96, 96);
    const Displaced found =
        out.found(out.written([&](long n, long o) { return out.at(n / 16 * 16 + o % 16, o / 16 * 16 + n % 16); }));
    EXPECT_EQ(found.how, How::transposed);
    EXPECT_EQ(found.element, 1);
    EXPECT_EQ(found.belongs, 96);
}

TEST(Displaced, TilesInAnotherOrderKeepTheirNeighbours) {
    const Drawn out(64, 64, 64);
    const Displaced found = out.found(out.written([&](long n, long o) {
        const long tile = (n / 8 * 8 + o / 8) * 11 % 64;
        return out.at(tile / 8 * 8 + n % 8, tile % 8 * 8 + o % 8);
    }));
    EXPECT_EQ(found.how, How::piece);
}

// Budgets so wide that each value is near that of another place; of two neighbours that is not so.
TEST(Displaced, ATransposedTileIsFoundAmongVeryManyValues) {
    const Drawn out(256, 256, 256, 2e-5F);
    EXPECT_EQ(out.found(out.written([&](long n, long o) { return out.at(o, n); })).how, How::transposed);
}

TEST(Displaced, ValuesWithoutTheirNeighboursAreFoundWhereNoOtherIsNear) {
    const Drawn out(16, 16, 16);
    const Displaced found = out.found(out.written([&](long n, long o) {
        const long place = (n * 16 + o) * 37 % 256;
        return out.at(place / 16, place % 16);
    }));
    EXPECT_EQ(found.how, How::alone);
    EXPECT_EQ(found.belongs, found.element * 37 % 256);
}

TEST(Displaced, OtherValuesAreNotFound) {
    const Drawn out(64, 40, 40);
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return 2 * out.at(n, o); })));
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return out.at(n, o) + out.at(n ^ 1, o); })));
}

TEST(Displaced, RightValuesAreNoneThatAreDisplaced) {
    const Drawn out(8, 8, 8);
    EXPECT_FALSE(out.of(out.reference));
}

TEST(Displaced, ZerosBelongNowhere) {
    Drawn out(16, 16, 16);
    for (std::size_t i = 0; i < out.reference.size(); i += 2) { out.reference[i] = 0; }
    EXPECT_FALSE(out.of(out.written([](long, long) { return 0.0F; })));
}

// With wide budgets, as those of bf16, each value is near some other one.
TEST(Displaced, WhatIsFoundByChanceIsNotSaid) {
    const Drawn out(8, 256, 256, 2e-3F);
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return -0.7F * out.at(n, o); })));
}

TEST(Displaced, PaddingIsNeitherLookedAtNorAPlaceWhereAValueBelongs) {
    const Drawn out(32, 24, 20);
    EXPECT_EQ(out.found(out.written([&](long n, long o) { return out.at(n ^ 16, o); })).looked_at, 32 * 20);
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return o < 4 ? out.at(n, o + 20) : out.at(n, o); })));
}

TEST(Displaced, WhatIsSkippedOrNotFiniteIsNotLookedAt) {
    const Drawn out(32, 16, 16);
    std::vector<float> got = out.written([&](long n, long o) { return out.at(n ^ 16, o); });
    std::vector<bool> skip(got.size());
    got[3] = std::numeric_limits<float>::quiet_NaN();
    got[5] = 100;
    skip[5] = true;
    const std::optional<Displaced> found = out.of(got, skip);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->looked_at, 32 * 16 - 2);
    EXPECT_EQ(found->elements, 32 * 16 - 2);
}

TEST(Displaced, FewWrongElementsSayNothing) {
    const Drawn out(8, 8, 8);
    std::vector<float> got = out.reference;
    std::swap(got[0], got[9]);
    EXPECT_FALSE(out.of(got));
}

TEST(Displaced, WhatIsWrongByRoundingBelongsWhereItStandsThoughOtherRowsAreAlike) {
    Drawn out(8, 16, 16);
    for (std::size_t i = 16; i < out.reference.size(); i++) { out.reference[i] = out.reference[i - 16]; }
    EXPECT_FALSE(out.of(out.written([&](long n, long o) { return out.at(n, o) + 2e-6F; })));
}

// Zeros that a sum left in several bits: one value, which belongs in the row of zeros and says nothing.
TEST(Displaced, RowsOfNearlyZerosDoNotBelongInARowOfZeros) {
    Drawn out(32, 16, 16);
    for (std::size_t i = 0; i < 16; i++) { out.reference[5 * 16 + i] = 0; }
    EXPECT_FALSE(out.of(out.written(
        [&](long n, long o) { return n < 10 || n > 14 ? out.at(n, o) : 1e-9F * static_cast<float>(n * 16 + o); })));
}

TEST(Displaced, AFewValuesThatMatchByChanceDoNotMakeZerosDisplaced) {
    Drawn out(32, 16, 16);
    for (std::size_t i = 0; i < 16; i++) { out.reference[5 * 16 + i] = 0; }
    EXPECT_FALSE(out.of(out.written([&](long n, long o) {
        if (n < 10 || n > 14) {
            return out.at(n, o);
        }
        return n == 10 && o < 4 ? out.at(o, 15 - o) : n == 10 && o < 8 ? 100.0F + static_cast<float>(o) : 0.0F;
    })));
}

// With budgets of bf16 each of eight wrong values is near some fifty others, and two of them have a distance in common.
TEST(Displaced, FewWrongValuesAmongWideBudgetsAreNotShiftedByChance) {
    const Drawn out(8, 256, 256, 8e-3F);
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (int draw = 0; draw < 20; draw++) {
        std::vector<float> got = out.reference;
        for (int wrong = 0; wrong < 8; wrong++) { got[random() % got.size()] = normal(random); }
        EXPECT_FALSE(out.of(got)) << "draw " << draw;
    }
}
