// SPDX-License-Identifier: MIT
//
// What the solutions were measured to reach on cards: reference/timings/<card>.json, which `make gpu-report` writes. A medal
// that a target measures by that is a share of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checker/cases/lesson_toml.h"

namespace checker {

// A solution's share of another's speed, and the card that it was measured on.
struct RecordedShare {
    std::string card;
    double share = 0;
};

// Of the op's solution in lesson "08": its least share of the target's rival's speed at the shapes that are judged. It is of
// the card of this name, or else the least of the cards of its compute capability; none where no report in the folder has
// it. A rehearsal does not count as a report, and a file that is not a report is passed over.
std::optional<RecordedShare> recorded_share(const std::filesystem::path& folder, const Gpu& card,
                                            const std::string& lesson, const std::string& op, const Target& target);

// The target on a card: silver and gold as shares of what is recorded, and bronze no higher than its share of that. Without a
// record nothing earns silver or gold.
Target on_card(Target target, const std::optional<RecordedShare>& recorded);

// Why bronze is all that can be had.
std::string why_bronze_only(const Gpu& card);

}  // namespace checker
