// SPDX-License-Identifier: MIT
//
// Which 32-byte sectors of global memory blocks touch, each block by itself and runs of 2, 4, 8, … consecutive blocks:
// what a multiprocessor, or all of them at once, must be given at least. Blocks are counted along x, then y, then z; a
// run begins at a multiple of its length. Two runs that lie side by side are merged as soon as both are complete, as in
// a binary counter: while blocks run in their order, one run of each length waits for the one beside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checker/simt/runtime/requests/traffic_counts.h"

namespace simt {

// Numbers of sectors: a table of words, each for 64 sectors side by side.
class SectorSet {
  public:
    // How many words all sets of a launch may have: beyond that a set is incomplete.
    struct Room {
        std::size_t most;
        std::size_t taken = 0;
    };

    explicit SectorSet(Room& room) : room_(&room) {}
    ~SectorSet() { room_->taken -= words_.size(); }
    SectorSet(SectorSet&& other) noexcept;
    SectorSet& operator=(SectorSet&&) = delete;

    void add(std::uint64_t sector) {
        const std::uint64_t number = sector / 64, bit = std::uint64_t{1} << sector % 64;
        if (near_ < words_.size() && words_[near_].number == number) [[likely]] {
            words_[near_].sectors |= bit;
        } else {
            add(number, bit);
        }
    }
    // What both have. The other one is empty then.
    void take(SectorSet& other);
    std::uint64_t count() const;
    bool incomplete() const { return incomplete_; }
    bool empty() const { return used_ == 0 && !incomplete_; }

  private:
    struct Word {
        std::uint64_t number = 0;
        std::uint64_t sectors = 0;  // 0: the place is free
    };
    static_assert(sizeof(Word) == 16);

    void add(std::uint64_t number, std::uint64_t sectors) {
        std::size_t at = place_of(number);
        while (at < words_.size() && words_[at].number != number && words_[at].sectors != 0) {
            at = (at + 1) % words_.size();
        }
        if (at < words_.size() && words_[at].sectors != 0) [[likely]] {
            words_[at].sectors |= sectors;
            near_ = at;
        } else {
            add_word(at, {number, sectors});
        }
    }
    // Of a table that is empty there is no place: a number beyond it.
    std::size_t place_of(std::uint64_t number) const { return number * 0x9e3779b97f4a7c15U >> shift_; }
    void add_word(std::size_t at, Word word);
    bool grow();

    Room* room_;
    std::vector<Word> words_;  // as many as a power of two; at most three quarters are used
    std::size_t used_ = 0;
    std::size_t near_ = 0;  // where the last one was
    unsigned shift_ = 32;
    bool incomplete_ = false;
};

// What one block or one run touches. Atomics load and store.
struct TouchedSectors {
    explicit TouchedSectors(SectorSet::Room& room) : loads(room), stores(room) {}
    bool incomplete() const { return loads.incomplete() || stores.incomplete(); }
    bool empty() const { return loads.empty() && stores.empty(); }

    SectorSet loads, stores;
};

class BlockRuns {
  public:
    static constexpr std::size_t kMostWords = (std::size_t{128} << 20) / 16;

    explicit BlockRuns(std::size_t most_words = kMostWords) : room_{most_words} {}

    // A block that has not ended. The reference holds until then.
    TouchedSectors& of(std::uint64_t block) { return running_.try_emplace(block, room_).first->second; }
    // No more of it is to come. Longer runs are left out where there is no room for them.
    void end_block(std::uint64_t block);
    // For each length the sums over its complete runs; forgets them. The last one is the whole launch if all of its
    // blocks have ended and there was room for what they touched.
    std::vector<DistinctSectors> end_launch(std::uint64_t blocks);
    // Returns how many blocks of the launch have touched nothing so far.
    std::uint64_t idle() const { return idle_; }

  private:
    static constexpr std::size_t kLevels = 64;

    void note(std::size_t level, const TouchedSectors& touched);
    void make_room(std::size_t level);

    SectorSet::Room room_;
    std::unordered_map<std::uint64_t, TouchedSectors> running_;
    // By level and number: complete runs of 2^level blocks that wait for the one beside them.
    std::array<std::unordered_map<std::uint64_t, TouchedSectors>, kLevels> waiting_;
    std::array<DistinctSectors, kLevels> sums_{};
    std::size_t levels_ = kLevels;  // so many are merged: for more there is no room
    std::uint64_t idle_ = 0;
};

}  // namespace simt
