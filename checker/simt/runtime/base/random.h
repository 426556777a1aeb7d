// SPDX-License-Identifier: MIT
//
// A small seeded generator: the same seed must give the same order of blocks and warps everywhere.
#pragma once

#include <cstdint>
#include <numeric>

namespace simt {

class Random {
  public:
    explicit Random(std::uint64_t seed = 1) : state_(seed) {}

    std::uint64_t next() {  // splitmix64
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t end) { return next() % end; }

  private:
    std::uint64_t state_;
};

// The numbers below `count`, each of them once, without a table: i -> (i * step + start) mod count.
class Shuffled {
  public:
    Shuffled(std::uint64_t count, Random& random)
        : count_(count), start_(random.below(count)), step_(random.below(count) | 1) {
        while (std::gcd(step_, count_) != 1) { step_++; }
    }
    std::uint64_t operator[](std::uint64_t i) const {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(i) * step_ + start_) % count_);
    }

  private:
    std::uint64_t count_, start_, step_;
};

}  // namespace simt
