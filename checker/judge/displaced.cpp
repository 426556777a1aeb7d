// SPDX-License-Identifier: MIT
#include "checker/judge/displaced.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <ranges>

#include "checker/cases/budget.h"

namespace checker {
namespace {

using Indices = std::vector<long>;  // flat ones

constexpr long kSample = 512;                   // wrong elements that are looked for everywhere
constexpr std::size_t kMostPlaces = 64;         // a value that stands at more places says nothing of where it belongs
constexpr std::size_t kMostShifts = 8;          // distances that are counted over all wrong elements
constexpr long kFewest = 4;                     // telling elements that must be found: zeros are everywhere
constexpr double kShifted = 0.5;                // of the wrong elements, by two shifts
constexpr double kOneShift = 0.125;             // of the wrong elements
constexpr double kFound = 0.9;                  // of the sample
constexpr double kByChance = 0.5;               // of the sample, or of what is found, its values moved a little
constexpr std::array kMoved{0.0, -40.0, 40.0};  // budgets by which they are looked for: their own values first

std::size_t at(long i) {
    return static_cast<std::size_t>(i);
}

// The reference's values in ascending order, to be looked for.
class Places {
  public:
    Places(const Dims& dims, long columns, const Expected& expected) : dims_(dims), expected_(expected) {
        for (long row = 0; row < dims.rows(); row++) {
            for (long column = 0; column < columns; column++) {
                const long i = row * dims.columns() + column;
                order_.push_back(i);
                widest_ = std::max(widest_, allowed(i));
            }
        }
        std::ranges::sort(order_, {}, [&](long i) { return expected.values[at(i)]; });
    }

    // Whether `value` is what belongs at element i.
    bool fits(double value, long i) const { return std::abs(value - expected_.values[at(i)]) <= allowed(i); }

    // Where `value` belongs; nothing where that may be at too many places.
    Indices of(double value) const {
        Indices slots;
        const auto value_of = [&](long i) { return static_cast<double>(expected_.values[at(i)]); };
        const auto end = std::ranges::upper_bound(order_, value + widest_, {}, value_of);
        for (auto i = std::ranges::lower_bound(order_, value - widest_, {}, value_of); i != end; ++i) {
            if (!fits(value, *i)) {
                continue;
            }
            if (slots.size() == kMostPlaces) {
                return {};
            }
            slots.push_back(*i);
        }
        return slots;
    }

  private:
    double allowed(long i) const { return kFewBudgets * budget_of(dims_, expected_, i); }

    const Dims& dims_;
    const Expected& expected_;
    Indices order_;
    double widest_ = 0;
};

// The wrong elements of one output, and where the values of some of them belong.
class Search {
  public:
    Search(const Dims& dims, long columns, std::span<const float> got, const Expected& expected,
           const std::vector<bool>& skip)
        : dims_(dims), columns_(columns), got_(got), expected_(expected), reference_(dims, columns, expected) {
        for (long row = 0; row < dims.rows(); row++) {
            for (long i = row * dims.columns(); i < row * dims.columns() + columns; i++) {
                if ((skip.empty() || !skip[at(i)]) && std::isfinite(got[at(i)]) &&
                    !(error(got[at(i)], expected.values[at(i)]) <= budget_of(dims, expected, i))) {
                    wrong_.push_back(i);
                }
            }
        }
        find_telling();
        // The first, and others at random: evenly spaced ones would all stand in one lane's columns.
        std::ranges::copy(telling_ | std::views::take(1), std::back_inserter(sample_));
        std::ranges::sample(telling_ | std::views::drop(1), std::back_inserter(sample_), kSample - 1,
                            std::mt19937_64(1));
        for (std::size_t k = 0; k < kMoved.size(); k++) {
            for (const long i : sample_) { places_[k].push_back(elsewhere_of(value_at(i, kMoved[k]), i)); }
        }
    }

    std::optional<Displaced> shifted() const {
        const Shifts of_all = best_shifts(wrong_, 0);
        const long told = count_of(held(telling_, of_all));
        long by_chance = 0;
        for (std::size_t k = 1; k < kMoved.size(); k++) {
            by_chance = std::max(by_chance, count_of(held(telling_, best_shifts(telling_, k), kMoved[k])));
        }
        const Indices found = held(wrong_, of_all);
        if (share(count_of(found), wrong_) < kShifted || share(told, telling_) < kShifted || told < kFewest ||
            static_cast<double>(by_chance) > kByChance * static_cast<double>(told)) {
            return std::nullopt;
        }
        Displaced result{.how = Displaced::How::shifted,
                         .elements = count_of(found),
                         .looked_at = count_of(wrong_),
                         .element = found.front(),
                         .shifts = of_all};
        const bool by_first = holds(result.element, result.shifts.front());
        result.belongs = moved(result.element, by_first ? result.shifts.front() : result.shifts.back());
        return result;
    }

    std::optional<Displaced> elsewhere(Displaced::How how) const {
        Indices found;
        long belongs = -1;  // the first one's value
        for (std::size_t k = 0; k < sample_.size(); k++) {
            if (const long place = among(places_.front()[k], sample_[k], how); place >= 0) {
                belongs = found.empty() ? place : belongs;
                found.push_back(sample_[k]);
            }
        }
        long by_chance = 0;
        for (const std::vector<Indices>& beside : places_ | std::views::drop(1)) {
            for (std::size_t k = 0; k < sample_.size(); k++) {
                by_chance += among(beside[k], sample_[k], how) >= 0 ? 1 : 0;
            }
        }
        if (count_of(found) < kFewest || share(count_of(found), sample_) < kFound ||
            share(by_chance, sample_) > kByChance * (kMoved.size() - 1)) {
            return std::nullopt;
        }
        return Displaced{.how = how,
                         .elements = count_of(found),
                         .looked_at = count_of(sample_),
                         .element = found.front(),
                         .belongs = belongs};
    }

  private:
    using Shifts = std::vector<Displaced::Shift>;

    static long count_of(const Indices& elements) { return static_cast<long>(elements.size()); }
    static double share(long part, const Indices& whole) {
        return whole.empty() ? 0.0 : static_cast<double>(part) / static_cast<double>(whole.size());
    }

    // One wrong element of each value, the first one: zeros say no more if there are many.
    void find_telling() {
        Indices order = wrong_;
        std::ranges::stable_sort(order, {}, [&](long i) { return got_[at(i)]; });
        double known = -std::numeric_limits<double>::infinity();
        for (const long i : order) {
            if (got_[at(i)] > known) {
                known = got_[at(i)] + kFewBudgets * budget_of(dims_, expected_, i);
                telling_.push_back(i);
            } else {
                telling_.back() = std::min(telling_.back(), i);
            }
        }
        std::ranges::sort(telling_);
    }

    double value_at(long i, double budgets_beside) const {
        return got_[at(i)] + budgets_beside * budget_of(dims_, expected_, i);
    }

    // Where `value`, which stands at element i, belongs: nowhere else if it is wrong by rounding there.
    Indices elsewhere_of(double value, long i) const {
        return reference_.fits(value, i) ? Indices() : reference_.of(value);
    }

    // The element that is a shift away, -1 where there is none: outside the tensor or among its padding.
    long moved(long element, const Displaced::Shift& by) const {
        const long row = element / dims_.columns() + by.rows;
        const long column = element % dims_.columns() + by.columns;
        const bool inside = row >= 0 && row < dims_.rows() && column >= 0 && column < columns_;
        return inside ? row * dims_.columns() + column : -1;
    }
    bool holds(long element, const Displaced::Shift& by, double beside = 0) const {
        const long place = moved(element, by);
        const double value = value_at(element, beside);
        return place >= 0 && reference_.fits(value, place) && !reference_.fits(value, element);
    }
    Indices held(const Indices& elements, const Shifts& shifts, double beside = 0) const {
        Indices those;
        std::ranges::copy_if(elements, std::back_inserter(those), [&](long i) {
            return std::ranges::any_of(shifts, [&](const Displaced::Shift& by) { return holds(i, by, beside); });
        });
        return those;
    }

    // Up to two that explain most of the elements, their values moved by kMoved[moved_by].
    Shifts best_shifts(Indices left, std::size_t moved_by) const {
        const double all = static_cast<double>(left.size());
        const Shifts likely = likely_shifts(places_[moved_by]);
        Shifts result;
        for (int turn = 0; turn < 2; turn++) {
            Displaced::Shift best;
            for (Displaced::Shift shift : likely) {
                shift.elements = std::ranges::count_if(left, [&](long i) { return holds(i, shift, kMoved[moved_by]); });
                best = shift.elements > best.elements ? shift : best;
            }
            if (best.elements == 0 || static_cast<double>(best.elements) < kOneShift * all) {
                break;
            }
            std::erase_if(left, [&](long i) { return holds(i, best, kMoved[moved_by]); });
            result.push_back(best);
        }
        return result;
    }

    // Those by which the sample's values, which belong at `places`, are moved most often.
    Shifts likely_shifts(const std::vector<Indices>& slots) const {
        const long stride = dims_.columns();
        std::map<std::pair<long, long>, long> votes;  // of (rows, columns)
        for (std::size_t k = 0; k < sample_.size(); k++) {
            for (const long place : slots[k]) {
                votes[{place / stride - sample_[k] / stride, place % stride - sample_[k] % stride}]++;
            }
        }
        Shifts ranked;
        for (const auto& [by, count] : votes) { ranked.push_back({by.first, by.second, count}); }
        std::ranges::stable_sort(ranked, std::greater(), &Displaced::Shift::elements);
        ranked.resize(std::min(ranked.size(), kMostShifts));
        return ranked;
    }

    // Whether what stands beside the element, in its row, belongs beside the place: so many rows and columns on.
    bool with_neighbour(long element, long place, const Displaced::Shift& beside) const {
        const auto fits = [&](long step) {
            const long neighbour = moved(element, {0, step});
            const long where = moved(place, {step * beside.rows, step * beside.columns});
            return neighbour >= 0 && where >= 0 && reference_.fits(got_[at(neighbour)], where);
        };
        return fits(1) || fits(-1);
    }

    bool is(Displaced::How how, long element, long place) const {
        const long stride = dims_.columns();
        switch (how) {
            case Displaced::How::in_row:
                return place / stride == element / stride;
            case Displaced::How::in_column:
                return place % stride == element % stride;
            case Displaced::How::piece:
                return with_neighbour(element, place, {0, 1});
            case Displaced::How::transposed:
                return with_neighbour(element, place, {1, 0});
            default:
                return true;
        }
    }

    // The first of the places that is where `how` says from the element, -1 where none is.
    long among(const Indices& slots, long element, Displaced::How how) const {
        const auto place = std::ranges::find_if(slots, [&](long i) { return is(how, element, i); });
        return place == slots.end() ? -1 : *place;
    }

    const Dims& dims_;
    long columns_;
    std::span<const float> got_;
    const Expected& expected_;
    Places reference_;
    Indices wrong_;
    Indices telling_;                                         // of wrong_
    Indices sample_;                                          // of telling_
    std::array<std::vector<Indices>, kMoved.size()> places_;  // of the sample's values, moved so
};

}  // namespace

std::optional<Displaced> displaced(const Dims& dims, long columns, std::span<const float> got, const Expected& expected,
                                   const std::vector<bool>& skip) {
    const Search search(dims, columns, got, expected, skip);
    std::optional<Displaced> result = search.shifted();
    using How = Displaced::How;
    for (const How how : {How::in_row, How::in_column, How::piece, How::transposed, How::alone}) {
        result = result ? result : search.elsewhere(how);
    }
    return result;
}

}  // namespace checker
