// SPDX-License-Identifier: MIT
#include "checker/estimate/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "checker/base/text.h"
#include "checker/estimate/band.h"

namespace checker::estimate {
namespace {

constexpr std::size_t kCardsBeside = 3;
constexpr int kNameColumns = 23, kCardColumns = 19;

std::string rate(double flop, double seconds) {
    return flop > 0 && seconds > 0 ? significant(flop / seconds / 1e12) + " TFLOP/s" : "";
}

// One table: a kernel on as many cards as fit.
class Table {
  public:
    void row(const std::string& name, const std::vector<std::string>& cells) {
        std::string text = fmt::format("  {:<{}}", name, kNameColumns - 2);
        for (const std::string& cell : cells) { text += fmt::format("{:>{}}", cell, kCardColumns); }
        text_ += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    }
    template <class F>
    void row_of(const std::string& name, const std::vector<Estimate>& estimates, F&& cell) {
        std::vector<std::string> cells;
        for (const Estimate& one : estimates) { cells.push_back(cell(one)); }
        if (std::ranges::any_of(cells, [](const std::string& text) { return !text.empty(); })) {
            row(name, cells);
        }
    }
    std::string text() && { return std::move(text_); }

  private:
    std::string text_;
};

std::string share(double seconds, double of) {
    const double part = seconds / of;
    return seconds > 0 ? fmt::format("{} {:>4}", milliseconds(seconds), part < 0.005 ? "<1%" : percent(part)) : "";
}

std::string head_of(const Estimate& kernel) {
    std::string text = kernel.kernel;
    if (kernel.launches == 0) {
        return text + ", calls of a library";
    }
    const auto& [grid, block] = std::pair(kernel.grid, kernel.block);
    text += fmt::format(" <<<({}, {}, {}), ({}, {}, {})>>>", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    return text + (kernel.launches > 1 ? fmt::format(", {:.0f} launches", kernel.launches) : "");
}

// The same kernel on each card.
std::string table_of(const std::vector<std::string>& cards, const std::vector<Estimate>& kernel) {
    Table table;
    table.row("", cards);
    const auto row_of_times = [&](const std::string& name, auto&& cell, const char* not_launchable = "") {
        table.row_of(name, kernel,
                     [&](const Estimate& one) { return one.launchable ? std::string(cell(one)) : not_launchable; });
    };
    const auto first = std::ranges::find_if(kernel, &Estimate::launchable);
    const Estimate& sorted_by = first == kernel.end() ? kernel.front() : *first;
    std::array<Resource, kResources> order{};
    for (std::size_t i = 0; i < kResources; i++) { order[i] = static_cast<Resource>(i); }
    std::ranges::stable_sort(order, std::greater{}, [&](Resource resource) { return sorted_by.at(resource); });
    for (const Resource resource : order) {
        row_of_times(name_of(resource),
                     [&](const Estimate& one) { return share(one.at(resource), one.at(one.limit())); });
        if (resource == Resource::l1) {
            row_of_times("  shared memory's",
                         [](const Estimate& one) { return share(one.shared_seconds, one.at(one.limit())); });
        }
    }
    row_of_times(
        "at best", [](const Estimate& one) { return milliseconds(one.total); }, kNotLaunchable);
    row_of_times("", [](const Estimate& one) { return rate(one.flop, one.total); });
    row_of_times("bound by", [](const Estimate& one) { return name_of(one.limit()); });
    row_of_times("if that were lifted", [](const Estimate& one) { return milliseconds(one.without_limit()); });
    row_of_times("by", [](const Estimate& one) { return name_of(one.next()); });
    table.row_of("warps at once", kernel, [](const Estimate& one) {
        return one.launches == 0 ? "" : fmt::format("{} of {}", one.occupied.warps, one.occupied.most_warps);
    });
    table.row_of("  no more by", kernel, [](const Estimate& one) {
        return one.launches == 0 ? "" : one.occupied.limited_by.substr(0, one.occupied.limited_by.find(','));
    });
    table.row_of("registers", kernel, [](const Estimate& one) {
        return one.launches == 0 ? "" : one.registers > 0 ? std::to_string(one.registers) : "not known";
    });
    table.row_of("rounds of blocks", kernel,
                 [](const Estimate& one) { return one.launches == 0 ? "" : significant(one.rounds); });
    table.row_of("empty places", kernel,
                 [](const Estimate& one) { return one.launches == 0 ? "" : percent(1 - 1 / one.imbalance); });
    return std::move(table).text();
}

// Which cards say it; nothing where all do.
std::string who(const std::set<std::string>& cards, std::size_t all) {
    return cards.size() == all ? "" : fmt::format("{}: ", fmt::join(cards, ", "));
}

std::string in_80_columns(const std::string& text) {
    std::string lines, line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!line.empty() && line.size() + 1 + word.size() > 78) {
            lines += "  " + line + '\n';
            line = "  ";
        }
        line += (line.empty() || line == "  " ? "" : " ") + word;
        at = end + 1;
    }
    return lines + "  " + line + '\n';
}

Json json_of(const Estimate& one) {
    Json resources = Json::object();
    for (std::size_t i = 0; i < kResources; i++) {
        if (one.seconds[i] > 0) {
            resources[name_of(static_cast<Resource>(i))] = one.seconds[i];
        }
    }
    return {{"kernel", one.kernel},
            {"grid", Json::array(one.grid)},
            {"block", Json::array(one.block)},
            {"launches", one.launches},
            {"seconds", one.total},
            {"limit", name_of(one.limit())},
            {"next", name_of(one.next())},
            {"seconds_without_limit", one.without_limit()},
            {"resources", std::move(resources)},
            {"seconds_of_shared_memory", one.shared_seconds},
            {"flop", one.flop},
            {"bytes_of_l2", one.l2_bytes},
            {"bytes_of_memory", one.memory_bytes},
            {"registers", one.registers > 0 ? Json(one.registers) : Json()},
            {"blocks_at_once", one.occupied.blocks},
            {"warps_at_once", one.occupied.warps},
            {"most_warps", one.occupied.most_warps},
            {"limited_by", one.occupied.limited_by},
            {"rounds", one.rounds},
            {"imbalance", one.imbalance},
            {"from_sass", one.from_sass},
            {"launchable", one.launchable},
            {"notes", Json::array(one.notes)}};
}

}  // namespace

std::string band_text(const Band& band) {
    if (band.rows == 0) {
        return "";
    }
    return fmt::format(
        "{} of {} published times on {} cards differ from such an estimate by at most a factor of 1.25, {} by at most "
        "1.5 (checker/simt/ESTIMATES.md)",
        percent(band.within_125), band.rows, band.cards, percent(band.within_150));
}

CardEstimate estimate_all(const GpuSpec& card, const std::vector<LaunchCounts>& launches,
                          const std::vector<SassFile>& sass) {
    CardEstimate result{card, {}};
    for (const LaunchCounts& launch : launches) {
        result.launches.push_back(estimate(card, launch, find_kernel(sass, launch, card.sass)));
    }
    return result;
}

std::vector<CardEstimate> estimate_all(const std::vector<GpuSpec>& cards, const std::vector<LaunchCounts>& launches,
                                       const std::vector<SassFile>& sass) {
    std::vector<CardEstimate> all;
    for (const GpuSpec& card : cards) { all.push_back(estimate_all(card, launches, sass)); }
    return all;
}

std::string as_text(const std::vector<CardEstimate>& cards) {
    std::string text;
    std::vector<std::vector<Estimate>> kernels;  // of each card
    for (const CardEstimate& card : cards) { kernels.push_back(by_kernel(card.launches)); }
    const std::size_t count = kernels.empty() ? 0 : kernels.front().size();
    if (count == 0) {
        return "nothing was launched\n";
    }
    for (std::size_t k = 0; k < count; k++) {
        text += head_of(kernels.front()[k]) + '\n';
        for (std::size_t first = 0; first < cards.size(); first += kCardsBeside) {
            std::vector<std::string> names;
            std::vector<Estimate> beside;
            for (std::size_t c = first; c < std::min(first + kCardsBeside, cards.size()); c++) {
                names.push_back(cards[c].card.key);
                beside.push_back(kernels[c][k]);
            }
            text += table_of(names, beside);
        }
        text += '\n';
    }
    if (count > 1) {
        text += "all of them, one after another\n";
        for (const CardEstimate& card : cards) {
            text += fmt::format("  {:<{}}{:>{}}\n", card.card.key, kNameColumns - 2,
                                card.is_launchable() ? milliseconds(card.seconds()) : kNotLaunchable, kCardColumns);
        }
        text += '\n';
    }
    std::vector<std::pair<std::string, std::set<std::string>>> notes;
    for (std::size_t c = 0; c < cards.size(); c++) {
        for (const Estimate& kernel : kernels[c]) {
            for (const std::string& note : kernel.notes) {
                const auto found =
                    std::ranges::find(notes, note, &std::pair<std::string, std::set<std::string>>::first);
                (found == notes.end() ? notes.emplace_back(note, std::set<std::string>{}) : *found)
                    .second.insert(cards[c].card.key);
            }
        }
    }
    for (const auto& [note, of] : notes) { text += in_80_columns(who(of, cards.size()) + note); }
    const std::string band = band_text();
    return text + (band.empty() ? "" : in_80_columns(band));
}

std::string in_one_line(const CardEstimate& card, double flop) {
    // Of several kernels the one that takes most says what bounds.
    const std::vector<Estimate> kernels = by_kernel(card.launches);
    if (kernels.empty()) {
        return fmt::format("on {} nothing was launched", card.card.name);
    }
    if (!card.is_launchable()) {
        return fmt::format("on {} it cannot be launched", card.card.name);
    }
    const Estimate& longest = *std::ranges::max_element(kernels, {}, &Estimate::total);
    const double seconds = card.seconds();
    return fmt::format("on {} at best {}, bound by {}", card.card.name,
                       flop > 0 ? rate(flop, seconds) : milliseconds(seconds), name_of(longest.limit()));
}

Json estimates_as_json(const std::vector<CardEstimate>& cards) {
    Json all = Json::array();
    for (const CardEstimate& card : cards) {
        Json kernels = Json::array(), launches = Json::array();
        for (const Estimate& one : by_kernel(card.launches)) { kernels.push_back(json_of(one)); }
        for (const Estimate& one : card.launches) { launches.push_back(json_of(one)); }
        all.push_back({{"card", card.card.key},
                       {"name", card.card.name},
                       {"clock_mhz", card.card.clock / 1e6},
                       {"seconds", card.seconds()},
                       {"kernels", std::move(kernels)},
                       {"launches", std::move(launches)}});
    }
    Json result{{"cards", std::move(all)}};
    if (kBand.rows > 0) {
        result["band"] = {{"rows", kBand.rows},
                          {"cards", kBand.cards},
                          {"within_1_25", kBand.within_125},
                          {"within_1_5", kBand.within_150},
                          {"least", kBand.least},
                          {"most", kBand.most}};
    }
    return result;
}

}  // namespace checker::estimate
