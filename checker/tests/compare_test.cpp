// SPDX-License-Identifier: MIT
#include "checker/judge/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

using namespace checker;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Two rows of four columns; every element's budget is 0.01.
struct Example {
    Dims dims{"T C", {2, 4}};
    std::vector<float> reference{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> floor{0.001F, 0.001F};
    Expected expected{reference, floor, 10.0, false};
};

// Rows of four values, each of which a precision's rounding moves by 0.01, to either side.
struct Rounded {
    Dims dims{"T C", {20, 4}};
    std::vector<float> reference, floor = std::vector<float>(20, 0.001F), rounded;
    explicit Rounded(int different = 80) {
        for (int i = 0; i < 80; i++) {
            reference.push_back(static_cast<float>(i % different));
            rounded.push_back(reference.back() + (i % 3 == 0 ? 0.01F : -0.01F));
        }
    }
    // Of values whose errors are so large, in turn.
    std::optional<double> nearer(const std::vector<float>& errors, long columns = 4) const {
        std::vector<float> got = reference;
        for (std::size_t i = 0; i < got.size(); i++) { got[i] += errors[i % errors.size()]; }
        return times_nearer(dims, columns, got, {reference, floor, 100.0, false}, rounded);
    }
};

// An element that holds the poison of a run.
float poisoned(Schedule schedule) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(poison(schedule, Element::f32)));
}
constexpr Schedule kOne = Schedule::end_aligned, kOther = Schedule::start_aligned;

Run run(const std::vector<float>& values, Schedule schedule) {
    return {std::as_bytes(std::span(values)), Element::f32, schedule};
}

// ---- elements to look at --------------------------------------------------------------------------------------------

using checker::elements_to_look_at;

TEST(ElementsToLookAt, OfASmallOutputAreAllButItsPadding) {
    const Dims dims("N stride/o", {144, 150});
    const std::vector<long> elements = elements_to_look_at(dims, 144, 1);
    ASSERT_EQ(elements.size(), 144U * 144U);
    for (const long element : elements) { ASSERT_LT(element % 150, 144); }
    EXPECT_TRUE(std::ranges::is_sorted(elements));
    EXPECT_EQ(std::ranges::adjacent_find(elements), elements.end()) << "none of them twice";
}

// GPT-2's logits of 4,096 positions: 206 million of them.
class ElementsOfTheLogits : public testing::Test {
  protected:
    static constexpr long kRows = 4096, kColumns = 50257;
    const Dims dims{"N OC/o", {kRows, kColumns}};
    const std::vector<long> elements = elements_to_look_at(dims, kColumns, 7);
    // Whether one of them lies in these rows and columns.
    bool met(long row, long rows, long column, long columns) const {
        return std::ranges::any_of(elements, [&](long element) {
            const long r = element / kColumns - row, c = element % kColumns - column;
            return r >= 0 && r < rows && c >= 0 && c < columns;
        });
    }
};

TEST_F(ElementsOfTheLogits, AreFewAndInEveryTileOf16By16) {
    EXPECT_LT(elements.size(), 1'000'000U);
    std::vector<bool> tile((kRows / 16) * (kColumns / 16 + 1));
    for (const long element : elements) {
        tile[static_cast<std::size_t>(element / kColumns / 16 * (kColumns / 16 + 1) + element % kColumns / 16)] = true;
    }
    EXPECT_EQ(std::ranges::count(tile, false), 0);
}

TEST_F(ElementsOfTheLogits, MeetEveryRowAndColumnAndEveryRowOfTheLastTile) {
    std::vector<bool> row(kRows), column(kColumns);
    for (const long element : elements) {
        row[static_cast<std::size_t>(element / kColumns)] = true;
        column[static_cast<std::size_t>(element % kColumns)] = true;
    }
    EXPECT_EQ(std::ranges::count(row, false), 0);
    EXPECT_EQ(std::ranges::count(column, false), 0);
    EXPECT_TRUE(met(kRows - 1, 1, 0, 1));
    EXPECT_TRUE(met(kRows - 1, 1, 128, 1)) << "the whole last row";
    EXPECT_TRUE(met(129, 1, kColumns - 1, 1)) << "and the whole last column";
}

TEST_F(ElementsOfTheLogits, MeetEveryPlaceInATileOf128AwayFromTheEdges) {
    std::vector<bool> place(128 * 128);
    for (const long element : elements) {
        const long row = element / kColumns, column = element % kColumns;
        if (row > 0 && row < kRows - 1 && column > 0 && column < kColumns - 1) {
            place[static_cast<std::size_t>(row % 128 * 128 + column % 128)] = true;
        }
    }
    EXPECT_EQ(std::ranges::count(place, false), 0)
        << "a thread that writes one of its outputs wrongly does so in each tile";
}

TEST_F(ElementsOfTheLogits, AreOthersForAnotherSeed) {
    EXPECT_NE(elements_to_look_at(dims, kColumns, 8), elements);
    EXPECT_EQ(elements_to_look_at(dims, kColumns, 7), elements);
}

TEST(ElementsToLookAt, HaveTheLargestFloorThatIsKnownOfTheirRow) {
    const Dims dims("N/n C", {3, 4});
    EXPECT_EQ(checker::floors_of_rows(dims, {0, 2, 3, 8, 11}, {1, 5, 2, 3, 4}), (std::vector<float>{5, 5, 5, 4, 4}));
    EXPECT_TRUE(checker::floors_of_rows(dims, {}, {}).empty());
}

}  // namespace

TEST(Compare, EqualValuesUseNoBudget) {
    const Example e;
    const Comparison c = compare(e.dims, 4, e.reference, e.expected);
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(c.compared, 8);
    EXPECT_EQ(c.used, 0.0);
    EXPECT_EQ(c.first, -1);
}

TEST(Compare, FindsTheFirstAndTheWorstWrongElement) {
    const Example e;
    std::vector<float> got = e.reference;
    got[2] += 0.02F;
    got[5] += 0.50F;
    got[7] += 0.005F;  // within budget
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 2);
    EXPECT_EQ(c.first, 2);
    EXPECT_EQ(c.worst, 5);
    EXPECT_NEAR(c.used, 50.0, 0.01);
}

TEST(Compare, EachRowHasItsOwnFloor) {
    Example e;
    e.floor = {1.0F, 0.001F};
    e.expected.floor = e.floor;
    std::vector<float> got = e.reference;
    got[0] += 5.0F;
    got[4] += 5.0F;
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 1);
    EXPECT_EQ(c.first, 4);
}

TEST(Compare, EachElementMayHaveItsOwnFloor) {
    Example e;
    e.floor = {1.0F, 0.001F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F};
    e.expected.floor = e.floor;
    std::vector<float> got = e.reference;
    for (float& value : got) { value += 5.0F; }
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 1);
    EXPECT_EQ(c.first, 1);
}

TEST(Compare, NanAndInfinityAreWrongAndCounted) {
    const Example e;
    std::vector<float> got = e.reference;
    got[1] = kNan;
    got[3] = kInf;
    got[6] = 0.0F;
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 3);
    EXPECT_EQ(c.nonfinite, 2);
    EXPECT_EQ(c.first, 1);
    EXPECT_TRUE(std::isinf(c.used));
}

TEST(Compare, NanAndInfinityAreRightWhereTheyAreExpected) {
    Example e;
    e.reference[1] = kNan;
    e.reference[3] = kInf;
    e.reference[6] = -kInf;
    std::vector<float> got = e.reference;
    EXPECT_TRUE(compare(e.dims, 4, got, e.expected).ok());
    got[1] = kInf;
    got[3] = -kInf;
    got[6] = 0.0F;
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 3);
    EXPECT_EQ(c.nonfinite, 2);
}

TEST(Compare, PaddingColumnsAreNotJudged) {
    const Example e;
    std::vector<float> got = e.reference;
    got[3] = kNan;
    got[7] = 1000.0F;
    const Comparison c = compare(e.dims, 3, got, e.expected);
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(c.compared, 6);
}

TEST(Compare, ExactZerosAllowNothingElse) {
    Example e;
    e.reference[1] = 0.0F;
    e.expected.values = e.reference;
    e.expected.exact_zeros = true;
    std::vector<float> got = e.reference;
    got[1] = 1e-30F;
    Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.wrong, 1);
    EXPECT_EQ(c.nonzero, 1);
    EXPECT_EQ(c.first, 1);
    got[1] = -0.0F;
    EXPECT_TRUE(compare(e.dims, 4, got, e.expected).ok());
    got[1] = 1e-30F;
    e.expected.exact_zeros = false;
    EXPECT_TRUE(compare(e.dims, 4, got, e.expected).ok());
}

TEST(Compare, SkippedElementsAreWrongButNotLookedAt) {
    const Example e;
    std::vector<float> got = e.reference;
    got[0] = kNan;
    got[5] += 1.0F;
    const std::vector<bool> skip{true, false, false, false, false, false, false, false};
    const Comparison c = compare(e.dims, 4, got, e.expected, skip);
    EXPECT_EQ(c.wrong, 2);
    EXPECT_EQ(c.nonfinite, 0);
    EXPECT_EQ(c.first, 5);
}

TEST(Compare, TheBoxSpansTheWrongElements) {
    const Example e;
    std::vector<float> got = e.reference;
    got[2] += 1.0F;
    got[6] += 1.0F;
    const Comparison c = compare(e.dims, 4, got, e.expected);
    EXPECT_EQ(c.low, (std::vector<long>{0, 2}));
    EXPECT_EQ(c.high, (std::vector<long>{1, 2}));
}

TEST(Compare, TheStepIsTheLargestThatLeadsThroughAllWrongIndices) {
    const Dims dims("N C", {2, 16});
    const std::vector<float> reference(32, 1.0F), floor(2, 1e-6F);
    std::vector<float> got = reference;
    for (const int i : {3, 11, 16 + 7}) { got[static_cast<std::size_t>(i)] = 2.0F; }
    const Comparison c = compare(dims, 16, got, {.values = reference, .floor = floor, .factor = 1});
    EXPECT_EQ(c.low, (std::vector<long>{0, 3}));
    EXPECT_EQ(c.high, (std::vector<long>{1, 11}));
    EXPECT_EQ(c.step, (std::vector<long>{1, 4}));
}

TEST(Compare, SizesThatDoNotBelongTogetherThrow) {
    const Example e;
    const std::vector<float> short_by_one(7);
    EXPECT_THROW(compare(e.dims, 4, short_by_one, e.expected), std::invalid_argument);
    const std::vector<float> one_row{0.1F};
    EXPECT_THROW(compare(e.dims, 4, e.reference, {e.reference, one_row, 1.0, false}), std::invalid_argument);
}

TEST(Suspect, FitsWithinAFewBudgets) {
    const Example e;
    const std::vector<float> other{2, 3, 4, 5, 6, 7, 8, 9};
    const Suspect suspect{"plus_one", "one was added", other};
    std::vector<float> got = other;
    got[3] += 0.03F;
    EXPECT_TRUE(fits(e.dims, 4, got, e.expected, suspect));
    got[3] += 0.03F;
    EXPECT_FALSE(fits(e.dims, 4, got, e.expected, suspect));
    EXPECT_FALSE(fits(e.dims, 4, e.reference, e.expected, suspect));
}

TEST(Suspect, FitsWhereItsNonfiniteElementsAreExactlyTheOutputs) {
    const Example e;
    const std::vector<float> other{kInf, kNan, 3, 4, 5, 6, 7, 8};
    const Suspect suspect{"overflow", "it overflows", other};
    std::vector<float> got = e.reference;
    got[0] = kNan;
    got[1] = kInf;
    EXPECT_TRUE(fits(e.dims, 4, got, e.expected, suspect));
    got[2] = kNan;
    EXPECT_FALSE(fits(e.dims, 4, got, e.expected, suspect));
    got[2] = 3.0F;
    got[1] = 2.0F;
    EXPECT_FALSE(fits(e.dims, 4, got, e.expected, suspect));
}

TEST(Suspect, DoesNotFitAnInfinityOfTheOtherSign) {
    const Example e;
    const std::vector<float> other{-kInf, kNan, 3, 4, 5, 6, 7, 8};
    const Suspect suspect{"underflow", "it underflows", other};
    std::vector<float> got = e.reference;
    got[1] = kInf;
    got[0] = -kInf;
    EXPECT_TRUE(fits(e.dims, 4, got, e.expected, suspect));
    got[0] = kInf;
    EXPECT_FALSE(fits(e.dims, 4, got, e.expected, suspect));
}

TEST(Suspect, IsJudgedWithoutPadding) {
    const Example e;
    std::vector<float> got = e.reference;
    got[3] = 77.0F;
    EXPECT_TRUE(fits(e.dims, 3, got, e.expected, {"same", "", e.reference}));
}

TEST(Untouched, AreElementsThatHoldThePoisonOfBothRuns) {
    const Dims dims("C", {4});
    // Element 1 was written with what happens to be the first poison; element 3 was not written.
    const std::vector<float> one{1.0F, poisoned(kOne), 2.0F, poisoned(kOne)};
    const std::vector<float> other{1.0F, poisoned(kOne), 2.0F, poisoned(kOther)};
    const Elements elements = untouched(dims, 4, run(one, kOne), run(other, kOther));
    EXPECT_EQ(elements.count, 1);
    EXPECT_EQ(elements.first, 3);
    EXPECT_TRUE(elements.flags[3]);
    EXPECT_FALSE(elements.flags[1]);
}

TEST(Padding, IsTouchedWhereEitherRunWroteToIt) {
    const Dims dims("N V", {2, 3});
    std::vector<float> one{1, 2, poisoned(kOne), 3, 4, poisoned(kOne)};
    std::vector<float> other{1, 2, poisoned(kOther), 3, 4, poisoned(kOther)};
    EXPECT_TRUE(touched_padding(dims, 2, run(one, kOne), run(other, kOther)).none());
    other[5] = 0.0F;
    EXPECT_EQ(touched_padding(dims, 2, run(one, kOne), run(other, kOther)).first, 5);
}

TEST(Padding, MayBecomeZeroWhereThatIsRight) {
    const Dims dims("N V", {2, 3});
    const std::vector<float> one{1, 2, 0.0F, 3, 4, poisoned(kOne)};
    std::vector<float> other{1, 2, -0.0F, 3, 4, poisoned(kOther)};
    EXPECT_TRUE(touched_padding(dims, 2, run(one, kOne), run(other, kOther), true).none());
    other[2] = 1e-45F;
    EXPECT_EQ(touched_padding(dims, 2, run(one, kOne), run(other, kOther), true).first, 2);
}

TEST(Runs, DisagreeWhereBitsDiffer) {
    const Dims dims("C", {3});
    const std::vector<float> one{1.0F, 0.0F, kNan};
    const std::vector<float> other{1.0F, -0.0F, kNan};
    const Elements elements = disagreeing(dims, 3, run(one, kOne), run(other, kOther));
    EXPECT_EQ(elements.count, 1);
    EXPECT_EQ(elements.first, 1);
}

TEST(Untouched, AreElementsOfAnInOutTensorThatHoldWhatTheyHeldBefore) {
    const Dims dims("C", {3});
    const std::vector<float> before{1, 2, 3}, one{1, 5, 3}, other{1, 5, 4};
    const std::span<const std::byte> held = std::as_bytes(std::span(before));
    const Elements elements = untouched(dims, 3, {std::as_bytes(std::span(one)), Element::f32, kOne, held},
                                        {std::as_bytes(std::span(other)), Element::f32, kOther, held});
    EXPECT_EQ(elements.count, 1);
    EXPECT_TRUE(elements.flags[0]);
}

TEST(Untouched, AreElementsOfTwoBytesToo) {
    for (const Element element : {Element::bf16, Element::f16, Element::f8_e4m3, Element::f8_e5m2, Element::i8}) {
        std::vector<std::byte> one(6 * bytes_of(element)), other = one;
        fill_with_poison(one, element, kOne);
        fill_with_poison(other, element, kOther);
        std::fill_n(one.begin(), bytes_of(element), std::byte{1});
        const Elements elements = untouched(Dims("C", {6}), 6, {one, element, kOne}, {other, element, kOther});
        EXPECT_EQ(elements.count, 5) << name_of(element);
        EXPECT_EQ(elements.first, 1) << name_of(element);
    }
}

TEST(Compare, IntegersAreRightOnlyWhereTheyAreEqualHoweverLarge) {
    const Dims dims("N", {3});
    constexpr std::int64_t kLarge = (std::int64_t{1} << 40) + 1;  // no float
    const std::vector<std::int64_t> right{1, kLarge, -7}, wrong{1, kLarge + 1, -7};
    const auto decoded = [](const std::vector<std::int64_t>& values) {
        return decode(std::as_bytes(std::span(values)), Element::i64);
    };
    const Decoded reference = decoded(right);
    const Expected expected{
        .values = reference.values, .floor = {}, .element = Element::i64, .integers = reference.integers};
    EXPECT_TRUE(compare(dims, 3, decoded(right), expected).ok());
    const Comparison comparison = compare(dims, 3, decoded(wrong), expected);
    EXPECT_EQ(comparison.wrong, 1);
    EXPECT_EQ(comparison.first, 1);
    EXPECT_EQ(comparison.nonfinite, 0);
}

TEST(Compare, ABudgetIsNoSmallerThanOneUlpOfTheOutputsOwnElements) {
    const Dims dims("C", {1});
    const std::vector<float> one{1.0F}, floor{1e-9F};
    const auto ok = [&](float got, Element element) {
        return compare(dims, 1, std::vector<float>{got},
                       {.values = one, .floor = floor, .factor = 8, .element = element})
            .ok();
    };
    EXPECT_TRUE(ok(1.0F + 0x1p-7F, Element::bf16));
    EXPECT_FALSE(ok(1.0F + 0x1p-6F, Element::bf16));
    EXPECT_FALSE(ok(1.0F + 0x1p-7F, Element::f32));
}

TEST(Window, StaysInTheElementsRow) {
    const Dims dims("T C", {2, 6});
    EXPECT_EQ(around(dims, 6, 6).begin, 6);   // c = 0
    EXPECT_EQ(around(dims, 6, 8).begin, 7);   // c = 2: 1..4
    EXPECT_EQ(around(dims, 6, 11).begin, 8);  // c = 5: 2..5
    EXPECT_EQ(around(dims, 5, 10).begin, 7);  // c = 4, the last of five
    EXPECT_EQ(around(dims, 2, 7).count, 2);
}

TEST(Dims, NameAnElement) {
    const Dims dims("B T C", {2, 8, 64});
    EXPECT_EQ(dims.index_text(70), "b=0, t=1, c=6");
    EXPECT_EQ(dims.text(), "B=2, T=8, C=64");
    EXPECT_EQ(dims.elements(), 1024);
    EXPECT_EQ(dims.rows(), 16);
}

TEST(Dims, TellTwoAxesOfTheSameSizeApart) {
    const Dims dims("B NH/h T T/s", {1, 2, 3, 3});
    EXPECT_EQ(dims.index_text(17), "b=0, h=1, t=2, s=2");
    EXPECT_EQ(dims.text(), "B=1, NH=2, T=3, T=3");
}

TEST(Dims, ThatDoNotMatchTheNamesThrow) {
    EXPECT_THROW(Dims("B T", {1, 2, 3}), std::invalid_argument);
}

TEST(TimesNearer, IsHowMuchSmallerHalfOfTheErrorsAreThanAPrecisions) {
    EXPECT_NEAR(*Rounded().nearer({0.001F}), 10, 0.1);
    EXPECT_NEAR(*Rounded().nearer({0.0001F, 0.0001F, 0.005F}), 100, 10) << "more than half of them";
    EXPECT_NEAR(*Rounded().nearer({0.0001F, 0.005F, 0.005F}), 2, 0.1);
    EXPECT_EQ(*Rounded().nearer({0}), kInf);
    EXPECT_LT(*Rounded().nearer({kNan}), kTooNear);
}

TEST(TimesNearer, NeedsEnoughDifferentValues) {
    EXPECT_TRUE(Rounded(32).nearer({0}));
    EXPECT_FALSE(Rounded(31).nearer({0}));
    EXPECT_FALSE(Rounded().nearer({0}, 1)) << "the other columns are padding";
}

TEST(TimesNearer, AsksNothingOfWhatTheRoundingDoesNotMove) {
    Rounded of;
    of.rounded = of.reference;
    EXPECT_FALSE(of.nearer({0})) << "zeros, small integers";
    for (std::size_t i = 0; i < 40; i++) { of.rounded[i] += 0.01F; }
    EXPECT_EQ(*of.nearer({0}), kInf);
    std::vector<float> errors(80, 0.0F);
    std::fill_n(errors.begin(), 40, 0.01F);
    EXPECT_NEAR(*of.nearer(errors), 1, 0.01) << "only half of all, but all that are moved";
}
