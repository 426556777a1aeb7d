// SPDX-License-Identifier: MIT
#include "checker/cases/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "checker/base/files.h"
#include "checker/base/json.h"

namespace checker {
namespace {

// Throws std::runtime_error where something that it needs is not there.
double share_at(const Json& item, const std::string& baseline, const std::string& shape) {
    for (const Json& row : item.at("result").at("shapes").elements()) {
        if (row.at("shape").text() == shape) {
            return row.at("of_speed_of").at(baseline).at("share").number();
        }
    }
    throw std::runtime_error("the shape was not timed");
}

double least_share(const Json& report, const std::string& item, const Target& target) {
    double least = std::numeric_limits<double>::infinity();
    const Json& measured = report.at("parts").at("timings").at("items").at(item);
    if (measured.at("status").text() != "ok") {
        throw std::runtime_error("it failed");
    }
    for (const std::string& shape : target.shapes) {
        least = std::min(least, share_at(measured, to_string(target.against), shape));
    }
    return least;
}

}  // namespace

std::optional<RecordedShare> recorded_share(const std::filesystem::path& folder, const Gpu& card,
                                            const std::string& lesson, const std::string& op, const Target& target) {
    const std::string capability = fmt::format("{}.{}", card.capability / 10, card.capability % 10);
    std::optional<RecordedShare> of_capability;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
        if (file.path().extension() != ".json") {
            continue;
        }
        try {
            const Json report = Json::parse(read_file(file.path()));
            if (report.at("rehearsal").boolean() || report.at("card").at("compute_capability").text() != capability) {
                continue;
            }
            const RecordedShare found{report.at("gpu").text(),
                                      least_share(report, fmt::format("lesson{}/{}", lesson, op), target)};
            if (!(std::isfinite(found.share) && found.share > 0)) {
                continue;
            }
            if (found.card == card.name) {
                return found;
            }
            if (!of_capability || found.share < of_capability->share) {
                of_capability = found;
            }
        } catch (const std::exception&) {
            continue;  // a CPU's record, or a report without these times
        }
    }
    return of_capability;
}

Target on_card(Target target, const std::optional<RecordedShare>& recorded) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const double reached = recorded ? recorded->share : kNever;
    target.shares = {std::min(target.shares.bronze, target.of_recorded.bronze * reached),
                     target.of_recorded.silver * reached, target.of_recorded.gold * reached};
    return target;
}

std::string why_bronze_only(const Gpu& card) {
    const std::string which = card.capability == 0 ? "this card" : fmt::format("a card of sm_{}", card.capability);
    return fmt::format("no silver or gold: no report of {} yet: make gpu-report", which);
}

}  // namespace checker
