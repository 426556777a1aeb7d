// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/requests/traffic_runs.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace simt {

SectorSet::SectorSet(SectorSet&& other) noexcept
    : room_(other.room_),
      words_(std::exchange(other.words_, {})),
      used_(std::exchange(other.used_, 0)),
      shift_(std::exchange(other.shift_, 32)),
      incomplete_(other.incomplete_) {}

void SectorSet::take(SectorSet& other) {
    if (other.used_ > used_) {
        std::swap(words_, other.words_);
        std::swap(used_, other.used_);
        std::swap(shift_, other.shift_);
    }
    for (const Word& word : other.words_) {
        if (word.sectors != 0) {
            add(word.number, word.sectors);
        }
    }
    incomplete_ = incomplete_ || other.incomplete_;
    room_->taken -= other.words_.size();
    other.words_ = {};
    other.used_ = 0;
    other.shift_ = 32;
}

std::uint64_t SectorSet::count() const {
    std::uint64_t sum = 0;
    for (const Word& word : words_) { sum += static_cast<unsigned>(std::popcount(word.sectors)); }
    return sum;
}

void SectorSet::add_word(std::size_t at, Word word) {
    if (4 * (used_ + 1) > 3 * words_.size()) {
        if (grow()) {
            add(word.number, word.sectors);
        } else {
            incomplete_ = true;
        }
        return;
    }
    words_[at] = word;
    near_ = at;
    used_++;
}

bool SectorSet::grow() {
    constexpr std::size_t kFirst = 16;
    const std::size_t wanted = std::max(kFirst, 2 * words_.size());
    if (room_->taken - words_.size() + wanted > room_->most) {
        return false;
    }
    room_->taken += wanted - words_.size();
    const std::vector<Word> old = std::exchange(words_, std::vector<Word>(wanted));
    shift_ = static_cast<unsigned>(64 - std::countr_zero(wanted));
    for (const Word& word : old) {
        if (word.sectors != 0) {
            std::size_t at = place_of(word.number);
            while (words_[at].sectors != 0) { at = (at + 1) % wanted; }
            words_[at] = word;
        }
    }
    return true;
}

void BlockRuns::note(std::size_t level, const TouchedSectors& touched) {
    DistinctSectors& sum = sums_[level];
    sum.blocks = std::uint64_t{1} << level;
    sum.runs++;
    sum.load_sectors += touched.loads.count();
    sum.store_sectors += touched.stores.count();
}

// There was none for a run of that level: the longest runs that wait are given up, and no others of their length wait
// from now on.
void BlockRuns::make_room(std::size_t level) {
    std::size_t longest = level == 0 ? 0 : level - 1;
    for (std::size_t i = longest; i < kLevels; i++) { longest = waiting_[i].empty() ? longest : i; }
    waiting_[longest].clear();
    levels_ = std::min(levels_, longest);
}

void BlockRuns::end_block(std::uint64_t block) {
    of(block);  // it may have touched nothing
    auto run = running_.extract(block);
    idle_ += run.mapped().empty() ? 1 : 0;
    for (std::size_t level = 0;; level++) {
        if (run.mapped().incomplete()) {
            make_room(level);
            return;
        }
        note(level, run.mapped());
        if (level >= levels_) {
            return;
        }
        const auto beside = waiting_[level].find(run.key() ^ 1U);
        if (beside == waiting_[level].end()) {
            waiting_[level].insert(std::move(run));
            return;
        }
        run.mapped().loads.take(beside->second.loads);
        run.mapped().stores.take(beside->second.stores);
        waiting_[level].erase(beside);
        run.key() /= 2;
    }
}

std::vector<DistinctSectors> BlockRuns::end_launch(std::uint64_t blocks) {
    std::vector<DistinctSectors> all;
    for (const DistinctSectors& sum : sums_) {
        if (sum.runs != 0) {
            all.push_back(sum);
        }
    }
    if (sums_[0].runs == blocks && levels_ == kLevels && !std::has_single_bit(blocks)) {
        TouchedSectors whole(room_);
        for (auto& runs : waiting_) {
            for (auto& [number, run] : runs) {
                whole.loads.take(run.loads);
                whole.stores.take(run.stores);
            }
        }
        if (!whole.incomplete()) {
            all.push_back({blocks, 1, whole.loads.count(), whole.stores.count()});
        }
    }
    running_.clear();
    for (auto& runs : waiting_) { runs.clear(); }
    sums_.fill({});
    levels_ = kLevels;
    idle_ = 0;
    return all;
}

}  // namespace simt
