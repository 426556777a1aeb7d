// SPDX-License-Identifier: MIT
//
// How far estimates lie from what others measured: checker/simt/ESTIMATES.md, whose generator writes the numbers.
#pragma once

#include <string>

namespace checker::estimate {

struct Band {
    int rows = 0, cards = 0;     // published measurements; 0: not known yet
    double within_125 = 0;       // share of them within 1.25 times
    double within_150 = 0;       // within 1.5
    double least = 0, most = 0;  // measured time over estimated time: nine tenths of the rows lie between these
};

inline constexpr Band kBand{151, 15, 0.77, 0.91, 0.86, 1.67};

// "50% of 64 published times on 5 cards …"; empty where the band is not known.
std::string band_text(const Band& band = kBand);

}  // namespace checker::estimate
