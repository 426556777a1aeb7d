// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_estimate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/json.h"
#include "checker/base/kept.h"
#include "checker/base/stub.h"
#include "checker/base/text.h"
#include "checker/devices/simt/simt_call.h"
#include "checker/devices/simt/simt_work.h"
#include "checker/estimate/band.h"
#include "checker/estimate/cards.h"
#include "checker/estimate/counts.h"
#include "checker/estimate/report.h"
#include "checker/estimate/sass.h"
#include "checker/simt/runtime/counting/sampled_traffic.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/worker/call_buffers.h"

namespace checker {
namespace {

namespace fs = std::filesystem;
using estimate::CardEstimate;
using estimate::LaunchCounts;
using estimate::SassFile;

// GPT-2's own shape: the first of those that a target is judged on, or else reported at, whose buffers do not take long.
const Timed& timed_of(const Op& op) {
    constexpr std::size_t kMost = std::size_t{256} << 20;
    const auto found = std::ranges::find_if(op.timed, [](const Timed& timed) { return bytes_of(timed.call) <= kMost; });
    return found == op.timed.end() ? op.timed.front() : *found;
}

// ---- what is counted -------------------------------------------------------------------------------------------------

// One implementation, counted.
struct Counting {
    Version version;
    std::string failure = {};  // why it was not counted
    std::vector<LaunchCounts> launches = {};
    std::vector<LaunchCounts> one_half = {}, other_half = {};
    double blocks = 0, blocks_counted = 0;
    std::size_t findings = 0;
};

// Buffers that all implementations of an op run on. What was counted of a solution is kept.
class VersionCounter {
  public:
    VersionCounter(const Op& op, const Timed& timed, bool quick) : op_(op), timed_(timed), quick_(quick) {}

    // Objects stay loaded: lines are known by their code's address.
    Counting of(Version version, std::deque<Library>& loaded) {
        Counting counting{.version = std::move(version)};
        const bool keeps = counting.version.source.begin()->string() == "solutions";
        const fs::path stamp = stamp_of(counting.version);
        const std::string key = keeps ? key_of(counting.version) : "";
        if (const std::optional<std::string> known = keeps ? kept(stamp, key) : std::nullopt) {
            take(counting, Json::parse(*known));
            return counting;
        }
        try {
            loaded.emplace_back(counting.version.object);
        } catch (const std::exception&) {
            counting.failure = "it does not compile";
            return counting;
        }
        const Library& library = loaded.back();
        if (!op_.defined(library)) {
            counting.failure = "it does not define " + op_.name;
            return counting;
        }
        try {
            const Json counts = counted(library);
            take(counting, counts);
            if (keeps && counting.failure.empty()) {
                fs::create_directories(stamp.parent_path());
                keep(stamp, key, counts.dump());
            }
        } catch (const std::exception& error) { counting.failure = error.what(); }
        counting.findings = static_cast<std::size_t>(std::ranges::count_if(simt::findings(), [&](const auto& finding) {
            // What blocks that did not run would have written.
            return finding.kind != simt::Kind::uninitialised;
        }));
        simt::forget_findings();
        return counting;
    }

  private:
    fs::path stamp_of(const Version& version) const {
        return fs::path("build/estimates") / fmt::format("{}-{}{}", version.object.parent_path().filename().string(),
                                                         op_.name, quick_ ? "-quick" : "");
    }
    // The object and what counts it: this program.
    std::string key_of(const Version& version) const {
        Key key;
        key.text(timed_.shape);
        for (const std::string& null : timed_.call.null) { key.text(null); }
        key.file(version.object);
        const fs::path program = fs::read_symlink("/proc/self/exe");
        key.text(fmt::format("{} {}", fs::file_size(program), fs::last_write_time(program).time_since_epoch().count()));
        return key.value();
    }

    Json counted(const Library& library) {
        if (!whole_) {
            whole_.emplace(timed_.call);
            if (timed_.reduced_k) {
                reduced_k_.emplace(*timed_.reduced_k);
            }
        }
        const std::function<void()> reduced_k =
            reduced_k_ ? [this, &library] { reduced_k_->run(library); } : std::function<void()>();
        constexpr std::uint64_t kQuick = 50'000;
        const simt::SampledTraffic traffic = simt::count_some_blocks(
            [&] { whole_->run(library); }, reduced_k,
            quick_ ? simt::SamplingEffort{.requests = kQuick, .both_halves = false} : simt::SamplingEffort{});
        const auto json = [](const std::vector<simt::LaunchTraffic>& launches) {
            return Json::parse(simt::traffic_as_json(launches, {}));
        };
        return {{"launches", json(traffic.launches)},
                {"one_half", json(traffic.one_half)},
                {"other_half", json(traffic.other_half)}};
    }

    void take(Counting& counting, const Json& counts) const {
        for (const auto& [name, to] : {std::pair("launches", &counting.launches),
                                       {"one_half", &counting.one_half},
                                       {"other_half", &counting.other_half}}) {
            *to = estimate::launches_of(counts.at(name));
            estimate::add_least_arithmetic(*to, timed_.flop);
        }
        for (const LaunchCounts& launch : counting.launches) {
            counting.blocks += launch.blocks;
            counting.blocks_counted += launch.blocks_counted;
        }
        if (counting.launches.empty()) {
            counting.failure = fmt::format("it launches nothing at {}", timed_.shape);
        }
    }

    const Op& op_;
    const Timed& timed_;
    bool quick_;
    std::optional<UncomparedCall> whole_, reduced_k_;
};

// ---- what is said ----------------------------------------------------------------------------------------------------

struct Estimated {
    Counting counting;
    std::string instructions;  // where they are from
    std::vector<CardEstimate> cards;
    double halves_differ = 0;  // the largest share by which two halves of what was counted differ
};

constexpr const char* kSourcesOwn = "the source's own accesses, which nvcc may merge, split or drop";

// What the estimate takes for a launch's instructions.
std::string instructions_of(const Counting& counting, const std::vector<estimate::GpuSpec>& cards,
                            const std::vector<SassFile>& emitted) {
    std::set<std::string> without;
    for (const estimate::GpuSpec& card : cards) {
        const bool known = std::ranges::all_of(counting.launches, [&](const LaunchCounts& launch) {
            return launch.is_library() || estimate::find_kernel(emitted, launch, card.sass) != nullptr;
        });
        if (!known) {
            without.insert(card.sass);
        }
    }
    if (std::ranges::all_of(counting.launches, &LaunchCounts::is_library)) {
        return "what libraries were asked for";
    }
    if (emitted.empty() || without.size() == cards.size()) {
        return kSourcesOwn;
    }
    return fmt::format(
        "the instructions of nvcc {}{}", emitted.front().nvcc,
        without.empty() ? "" : fmt::format("; for {} the source's own accesses", fmt::join(without, ", ")));
}

Estimated estimated(Counting counting, const std::vector<estimate::GpuSpec>& cards) {
    Estimated result;
    if (counting.failure.empty()) {
        std::set<fs::path> sources{counting.version.source};
        for (const LaunchCounts& launch : counting.launches) { sources.insert(launch.file); }
        std::vector<SassFile> emitted;
        for (const fs::path& source : sources) {
            std::ranges::move(estimate::sass_of(source), std::back_inserter(emitted));
        }
        result.cards = estimate::estimate_all(cards, counting.launches, emitted);
        result.instructions = instructions_of(counting, cards, emitted);
        const std::vector<CardEstimate> one = estimate::estimate_all(cards, counting.one_half, emitted),
                                        other = estimate::estimate_all(cards, counting.other_half, emitted);
        for (std::size_t i = 0; i < cards.size(); i++) {
            const double a = one[i].seconds(), b = other[i].seconds();
            result.halves_differ = std::max(result.halves_differ, std::abs(a - b) / std::max({a, b, 1e-12}));
        }
    }
    result.counting = std::move(counting);
    return result;
}

// "59.1 TFLOP/s", "2.71 TB/s" or "41 us".
std::string speed_of(const Timed& timed, const CardEstimate& card) {
    const double seconds = card.seconds();
    if (seconds <= 0 || !card.is_launchable()) {
        return "-";
    }
    return timed.flop > 0          ? significant(timed.flop / seconds * 1e-12) + " TFLOP/s"
           : timed.bytes_moved > 0 ? significant(static_cast<double>(timed.bytes_moved) / seconds * 1e-9) + " GB/s"
                                   : milliseconds(seconds);
}

// What bounds the kernel that takes most of the time.
std::string limit_of(const CardEstimate& card) {
    if (!card.is_launchable()) {
        return "-";
    }
    const std::vector<estimate::Estimate> kernels = estimate::by_kernel(card.launches);
    return estimate::name_of(std::ranges::max_element(kernels, {}, &estimate::Estimate::total)->limit());
}

// Returns where a card's instructions are from, "" if only a library was called.
std::string basis_of(const CardEstimate& card) {
    std::string basis;
    for (const estimate::Estimate& launch : card.launches) {
        if (launch.launches > 0) {
            basis = !launch.from_sass ? "its source" : basis.empty() ? "nvcc's instructions" : basis;
        }
    }
    return basis;
}

// Returns true if on some card one version is counted from its source, another one from what nvcc emits.
bool bases_differ(const std::vector<Estimated>& all, std::size_t cards) {
    for (std::size_t i = 0; i < cards; i++) {
        std::set<std::string> bases;
        for (const Estimated& one : all) {
            if (one.counting.failure.empty()) {
                bases.insert(basis_of(one.cards[i]));
            }
        }
        bases.erase("");
        if (bases.size() > 1) {
            return true;
        }
    }
    return false;
}

// Each version on each card: its time and speed, and what bounds it.
std::string beside_one_another(const std::vector<Estimated>& all, const std::vector<estimate::GpuSpec>& cards,
                               const Timed& timed) {
    constexpr std::size_t kBeside = 3;
    std::string text;
    const auto row = [&](const std::string& name, std::size_t first, auto&& cell) {
        std::string line = fmt::format("{:<20}", name);
        for (std::size_t i = first; i < std::min(first + kBeside, cards.size()); i++) {
            line += fmt::format("{:>20}", cell(i));
        }
        text += line + '\n';
    };
    const bool differ = bases_differ(all, cards.size());
    for (std::size_t first = 0; first < cards.size(); first += kBeside) {
        row("at best", first, [&](std::size_t i) { return cards[i].name; });
        for (const Estimated& one : all) {
            if (!one.counting.failure.empty()) {
                text += fmt::format("{:<20}not counted: {}\n", one.counting.version.who, one.counting.failure);
                continue;
            }
            row(one.counting.version.who, first, [&](std::size_t i) {
                return one.cards[i].is_launchable() ? milliseconds(one.cards[i].seconds()) : estimate::kNotLaunchable;
            });
            if (timed.flop > 0 || timed.bytes_moved > 0) {
                row("", first, [&](std::size_t i) { return speed_of(timed, one.cards[i]); });
            }
            row("  bound by", first, [&](std::size_t i) { return limit_of(one.cards[i]); });
            if (differ) {
                row("  counted from", first, [&](std::size_t i) { return basis_of(one.cards[i]); });
            }
        }
    }
    if (differ) {
        text +=
            "\nWhere one is counted from its source and the other from nvcc's instructions, their\n"
            "times do not say which is faster: the source's leave out work that nvcc adds.\n";
    }
    return text;
}

// The kernels of a source that were not launched.
std::vector<std::string> not_launched(const Counting& counting) {
    static const std::regex kComment("//[^\n]*"),
        kKernel(
            R"(__global__\s+(?:(?:__launch_bounds__|__cluster_dims__)\s*\([^)]*\)\s*|[\w:]+\s+)*?((?!__)\w+)\s*\()");
    const std::string text = std::regex_replace(read_file_if_there(counting.version.source).value_or(""), kComment, "");
    std::vector<std::string> missing;
    for (std::sregex_iterator at(text.begin(), text.end(), kKernel), end; at != end; ++at) {
        const std::string name = (*at)[1];
        const bool launched = std::ranges::any_of(counting.launches, [&](const LaunchCounts& launch) {
            return launch.kernel == name || launch.kernel.starts_with(name + " ") ||
                   launch.kernel.starts_with(name + "<");
        });
        if (!launched) {
            missing.push_back(name);
        }
    }
    return missing;
}

Json to_json(const Estimated& one, const Timed& timed) {
    Json json{{"who", one.counting.version.who}, {"source", one.counting.version.source.string()}};
    if (!one.counting.failure.empty()) {
        json["failure"] = one.counting.failure;
        return json;
    }
    json["instructions"] = one.instructions;
    json["looser"] = one.instructions == kSourcesOwn;
    json["blocks"] = one.counting.blocks;
    json["blocks_counted"] = one.counting.blocks_counted;
    json["halves_differ"] = one.halves_differ;
    json["estimate"] = estimate::estimates_as_json(one.cards);
    Json phrases = Json::array();
    for (const CardEstimate& card : one.cards) {
        phrases.push_back({{"card", card.card.key},
                           {"name", card.card.name},
                           {"seconds", card.seconds()},
                           {"launchable", card.is_launchable()},
                           {"speed", speed_of(timed, card)},
                           {"limit", limit_of(card)}});
    }
    json["at_best"] = std::move(phrases);
    return json;
}

// One op of a lesson.
class Shown {
  public:
    Shown(const Lesson& lesson, const Options& options, const Op& op, const std::vector<estimate::GpuSpec>& cards)
        : lesson_(lesson),
          options_(options),
          op_(op),
          cards_(cards),
          check_(fmt::format("make check-lesson{} ONLY={}", lesson_number(lesson.name()), op.name)) {}

    // Gives whether there was something to estimate.
    bool print(std::deque<Library>& loaded, Json& json) {
        const fs::path file = options_.source(lesson_.name(), op_.name);
        fmt::print("{}: {}\n", op_.name, file.string());
        if (op_.timed.empty()) {
            return say(false, fmt::format("it has no timed shape; SHAPE='…' ONLY={} names one", op_.name));
        }
        const Timed& timed = timed_of(op_);
        if (timed.warm) {
            return say(true, fmt::format("it is the sum over the ops that it calls: make estimate STEP={}",
                                         lesson_number(lesson_.name())));
        }
        if (options_.subject == "lessons" && is_stub(file.lexically_relative("lessons"))) {
            return say(false, fmt::format("not written yet; {} (or SOLUTION=1 here)", check_));
        }
        if (const std::string refused = refused_size(timed); !refused.empty()) {
            return say(false, refused);
        }
        std::fflush(stdout);
        try {
            return print(timed, loaded, json);
        } catch (const std::invalid_argument& error) {
            return say(false, fmt::format("not counted: {}", error.what()));
        }
    }

  private:
    // Why the lesson's kernels do not take the shape; empty where they do.
    std::string refused_size(const Timed& timed) const {
        if (!lesson_.toml().ladder || op_.name != "matmul") {
            return "";
        }
        for (const auto& [name, multiple] : lesson_.toml().ladder->multiple_of) {
            const std::size_t at = (' ' + timed.shape).find(fmt::format(" {}=", name));
            if (at != std::string::npos && std::stol(timed.shape.substr(at + name.size() + 1)) % multiple != 0) {
                return fmt::format("{}: lesson {} takes multiples of {} for {}", timed.shape,
                                   lesson_number(lesson_.name()), multiple, name);
            }
        }
        return "";
    }

    static bool say(bool fine, const std::string& text) {
        fmt::print("{}\n", text);
        return fine;
    }

    bool print(const Timed& timed, std::deque<Library>& loaded, Json& json) {
        VersionCounter counter(op_, timed, options_.quick);
        std::vector<Version> versions = versions_of(lesson_, options_, op_);
        if (options_.quick) {
            std::erase_if(versions,
                          [&](const Version& one) { return one.who == "solution" && &one != &versions.front(); });
        }
        std::vector<Estimated> all(versions.size());
        // The subject's last: what a learner's does wrong must not end the others.
        for (std::size_t i = versions.size(); i-- > 0;) {
            all[i] = estimated(counter.of(std::move(versions[i]), loaded), cards_);
        }
        const Estimated& shown = all.front();
        json = {{"op", op_.name}, {"shape", timed.shape}};
        json["sides"] = Json::array();
        for (const Estimated& one : all) { json["sides"].push_back(to_json(one, timed)); }
        if (!options_.counts.empty()) {
            write_whole(options_.counts, estimate::counts_as_json(shown.counting.launches).dump() + '\n');
        }
        fmt::print("{}\n", timed.shape);
        if (!shown.counting.failure.empty()) {
            return say(false, fmt::format("not counted: {}; {}", shown.counting.failure, check_));
        }
        fmt::print("\n{}\n{}", estimate::as_text(shown.cards), beside_one_another(all, cards_, timed));
        say_how(shown);
        return true;
    }

    // What the numbers stand on.
    void say_how(const Estimated& shown) const {
        const Counting& counting = shown.counting;
        fmt::print("\nFrom {}.\n", shown.instructions);
        constexpr double kAgree = 0.05;
        if (shown.halves_differ > kAgree) {
            fmt::print("One half of these blocks says {} more than the other: blocks are unlike.\n",
                       percent(shown.halves_differ));
        }
        if (const std::vector<std::string> missing = not_launched(counting); !missing.empty()) {
            fmt::print("Not launched at this shape: {}.\n", fmt::join(missing, ", "));
        }
        if (counting.findings != 0) {
            fmt::print("The device found {} beside; {}\n",
                       checker::format_count(static_cast<long>(counting.findings), "mistake"), check_);
        }
    }

    const Lesson& lesson_;
    const Options& options_;
    const Op& op_;
    const std::vector<estimate::GpuSpec>& cards_;
    std::string check_;
};

}  // namespace

int show_estimate(const Lesson& lesson, const Options& options) {
    const std::vector<estimate::GpuSpec> cards = estimate::cards_named(options.cards);
    if (options.archs) {
        std::set<std::string> archs;
        for (const estimate::GpuSpec& card : cards) { archs.insert(card.sass); }
        fmt::print("{}\n", fmt::join(archs, " "));
        return 0;
    }
    simt::report_at_exit(false);
    std::deque<Library> loaded;
    Json ops = Json::array();
    bool all = true, first = true;
    for (const Op& op : lesson.ops()) {
        if (options.wants(op.name)) {
            fmt::print("{}", std::exchange(first, false) ? "" : "\n\n");
            Json json;
            all = Shown(lesson, options, op, cards).print(loaded, json) && all;
            if (!json.is_null()) {
                ops.push_back(std::move(json));
            }
        }
    }
    std::fflush(stdout);
    if (!options.json.empty()) {
        const Json report{{"lesson", lesson.name()}, {"ops", ops}, {"estimates_are", estimate::band_text()}};
        write_whole(options.json, report.dump(1) + '\n');
    }
    return all ? 0 : 1;
}

}  // namespace checker
