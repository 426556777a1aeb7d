// SPDX-License-Identifier: MIT
#include "checker/estimate/executions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

namespace checker::estimate {
namespace {

std::string name_of_file(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// What the device and nvcc both name: accesses of one kind, barriers or special functions in one line.
enum class What { barrier = kKinds, special };
struct Site {
    std::string file;
    int line = 0;
    int what = 0;  // a Kind or a What
    auto operator<=>(const Site&) const = default;
};

// By region, what a turn has of a site: bytes of a thread, barriers, evaluations.
using Turns = std::map<std::size_t, double>;

struct Emitted {
    Turns bytes, widths;               // widths: bytes of a thread, of the widest
    std::map<double, Turns> requests;  // by bytes of a thread
};

struct Asked {
    double bytes = 0;  // of a thread, over all requests; or barriers, or evaluations
    double size = 0;   // of the widest request
};

class Join {
  public:
    Join(const LaunchCounts& launch, const KernelSass& sass) : launch_(launch), sass_(sass) {
        for (const LineCounts& line : launch.lines) {
            const std::string file = name_of_file(line.file);
            for (std::size_t kind = 0; kind < kKinds; kind++) {
                if (const Access& access = line.counts.access[kind]; access.requests > 0) {
                    Asked& asked = asked_[{file, line.line, static_cast<int>(kind)}];
                    asked.bytes += access.requests * access.size();
                    asked.size = std::max(asked.size, access.size());
                }
            }
            for (const auto& [what, count] : {std::pair(What::barrier, line.counts.barriers),
                                              std::pair(What::special, line.counts.special_requests)}) {
                if (count > 0) {
                    asked_[{file, line.line, static_cast<int>(what)}].bytes += count;
                }
            }
        }
        for (std::size_t r = 0; r < sass.regions.size(); r++) { note(r, sass.regions[r]); }
    }

    std::vector<double> executions() const {
        const std::size_t count = sass_.regions.size();
        const double warps = launch_.blocks * launch_.warps();
        std::vector<std::optional<double>> found(count);
        found[0] = warps;
        for (std::size_t r = 1; r < count; r++) {
            if (const std::size_t all = sass_.regions[r].accesses.size(); all > 0 && foreign(r) == all) {
                found[r] = 0;
            }
        }
        // Barriers are exact: nvcc neither merges nor drops them. Then accesses, then special functions.
        for (const auto& kinds :
             {std::pair(kKinds, kKinds + 1), std::pair(std::size_t{0}, kKinds), std::pair(kKinds + 1, kKinds + 2)}) {
            for (std::size_t r = 1; r < count; r++) {
                if (!found[r]) {
                    found[r] = by_sites(r, kinds.first, kinds.second, warps);
                }
            }
        }
        by_multiply_adds(found);
        std::vector<double> times(count);
        for (std::size_t r = 0; r < count; r++) {
            times[r] = found[r].value_or(r == 0 ? 0 : times[static_cast<std::size_t>(sass_.regions[r].parent)]);
        }
        return times;
    }

    const std::map<Site, Emitted>& emitted() const { return emitted_; }

  private:
    // Of a statement over several lines nvcc and g++ may name different ones.
    Site nearest(const Site& site) const {
        constexpr int kApart = 3;
        for (int apart = 0; apart <= kApart; apart++) {
            for (const int line : {site.line - apart, site.line + apart}) {
                if (const Site other{site.file, line, site.what}; asked_.contains(other)) {
                    return other;
                }
            }
        }
        return site;
    }

    Site site_of(const EmittedAccess& access) const {
        return nearest({name_of_file(access.file.empty() ? sass_.source : access.file), access.line,
                        static_cast<int>(access.kind)});
    }

    // How many of the region's accesses the device has met nowhere. Where it has met one that nvcc names no line of, they may
    // be that one.
    std::size_t foreign(std::size_t r) const {
        return static_cast<std::size_t>(std::ranges::count_if(sass_.regions[r].accesses, [&](const auto& access) {
            const int kind = static_cast<int>(access.kind);
            return !asked_.contains(site_of(access)) && std::ranges::all_of(asked_, [&](const auto& asked) {
                return asked.first.what != kind || emitted_.contains(asked.first);
            });
        }));
    }

    void note(std::size_t r, const Region& region) {
        const auto site = [&](const std::string& file, int line, int what) {
            return nearest({name_of_file(file.empty() ? sass_.source : file), line, what});
        };
        const auto add = [&](const Site& at, double bytes, double count) {
            Emitted& emitted = emitted_[at];
            emitted.bytes[r] += bytes * count;
            emitted.requests[bytes][r] += count;
            emitted.widths[r] = std::max(emitted.widths[r], bytes);
        };
        for (const EmittedAccess& access : region.accesses) {
            add(site_of(access), access.bytes, access.count);
            if (access.is_async_copy) {
                add(site(access.file, access.line, static_cast<int>(Kind::shared_store)), access.bytes, access.count);
            }
        }
        for (const AtLine& one : region.barriers) {
            add(site(one.file, one.line, static_cast<int>(What::barrier)), 1, one.count);
        }
        for (const AtLine& one : region.special) {
            add(site(one.file, one.line, static_cast<int>(What::special)), 1, one.count);
        }
    }

    // What sites of these kinds say of a region: the median, each with the weight of what it has in a turn. Of a site, what
    // does not lie outside of loops is the loop's that has most of it in a turn: the unrolled one's, and not that of the
    // turns that are left over, nor one that also has what the device has met nowhere.
    std::optional<double> by_sites(std::size_t r, std::size_t first, std::size_t last, double warps) const {
        std::vector<std::pair<double, double>> said;  // how often, and the weight
        double weight = 0;
        for (const auto& [site, emitted] : emitted_) {
            const auto what = static_cast<std::size_t>(site.what);
            const auto asked = asked_.find(site);
            const auto here = emitted.bytes.find(r);
            if (what < first || what >= last || asked == asked_.end() || here == emitted.bytes.end()) {
                continue;
            }
            const auto outside = emitted.bytes.find(0);
            const double left = asked->second.bytes - (outside == emitted.bytes.end() ? 0 : warps * outside->second);
            // One as wide as the source's goes before one that is split: what runs where rows are not aligned.
            const auto rank = [&](std::size_t region, double bytes) {
                return std::tuple(foreign(region) == 0, emitted.widths.at(region) >= asked->second.size, bytes,
                                  -static_cast<double>(region));
            };
            const bool most = std::ranges::none_of(emitted.bytes, [&](const auto& other) {
                return other.first != 0 && rank(other.first, other.second) > rank(r, here->second);
            });
            said.emplace_back(most ? std::max(left, 0.0) / here->second : 0, here->second);
            weight += here->second;
        }
        if (said.empty()) {
            return std::nullopt;
        }
        std::ranges::sort(said);
        double before = 0;
        for (const auto& [times, of] : said) {
            before += of;
            if (2 * before >= weight) {
                return times;
            }
        }
        return said.back().first;
    }

    // A loop without any of these: what is left of the launch's multiply-adds is that one's which has most of them.
    void by_multiply_adds(std::vector<std::optional<double>>& found) const {
        double left = launch_.total.fma_requests;
        std::size_t most = 0;
        for (std::size_t r = 0; r < found.size(); r++) {
            const double fma = sass_.regions[r].instructions.fma;
            if (found[r]) {
                left -= *found[r] * fma;
            } else if (fma > (most == 0 ? 0 : sass_.regions[most].instructions.fma)) {
                most = r;
            }
        }
        if (most != 0 && left > 0) {
            found[most] = left / sass_.regions[most].instructions.fma;
        }
    }

    const LaunchCounts& launch_;
    const KernelSass& sass_;
    std::map<Site, Emitted> emitted_;
    std::map<Site, Asked> asked_;
};

// The least that a request takes of L1, in quarter-cycles: the lanes that come in a cycle set it, and 16 bytes a lane come
// in two passes at least.
double least_quarters(double width, int lanes) {
    return std::max(width > 8 ? 8.0 : 4.0, 4.0 * 32 / lanes);
}

double quarters_of(const Access& access, Kind kind, int lanes) {
    const double lines = is_global(kind) ? access.lines + 2 * access.requests : 0;
    return std::max({4 * access.wavefronts, lines, least_quarters(4, lanes) * access.requests});
}

// What a request of shared memory takes of the data banks, of so many bytes of a thread: as it was counted; where neighbours
// were merged, as wide ones of its lanes; where it was split, its part. What all lanes share comes to all of them at once,
// 16 bytes in two passes.
double wavefronts_of(const Access& access, double width) {
    constexpr double kRounding = 1.001;  // counts of samples
    if (access.distinct > 0 && access.distinct < kRounding * access.requests * access.size()) {
        return width > 8 ? 2 : 1;
    }
    const double wide = width >= 16 ? access.wavefronts_of_16 : access.wavefronts_of_8;
    return width > access.size() && wide > 0
               ? wide / access.requests
               : access.wavefronts / access.requests * std::min(width / access.size(), 1.0);
}

// The loads of shared memory of a line that has several. nvcc does not say which of them it makes wide: those that take
// least then, as lanes whose accesses do not lie side by side are seldom aligned to more.
class Loads {
  public:
    explicit Loads(const std::vector<Access>& loads) {
        for (const Access& load : loads) { loads_.push_back({load, load.requests * load.size()}); }
    }
    // What so many requests of a width take; those that no load is left for as all of the line do. The widest come first.
    double take(double requests, double width, const Access& all) {
        std::ranges::sort(loads_, {}, [&](const Load& load) { return wavefronts_of(load.access, width); });
        double sum = 0;
        for (Load& load : loads_) {
            const double taken = std::min(requests, load.bytes / width);
            sum += taken * wavefronts_of(load.access, width);
            load.bytes -= taken * width;
            requests -= taken;
        }
        return sum + requests * wavefronts_of(all, width);
    }

  private:
    struct Load {
        Access access;
        double bytes;  // of a thread, that nothing has taken
    };
    std::vector<Load> loads_;
};

struct Priced {
    double quarters_32 = 0, quarters_16 = 0, wavefronts = 0, requests = 0;
};

// What the kind takes of L1 as emitted. A line's cost goes with its requests. What stands at lines that nvcc names none of
// was merged into others, where nine tenths of the bytes are emitted that were asked for; else those lines have another name.
Priced priced(const LaunchCounts& launch, const Join& join, const std::vector<double>& times, Kind kind) {
    std::map<Site, Access> source;
    std::map<Site, std::vector<Access>> one_by_one;
    for (const LineCounts& line : launch.lines) {
        const Site site{name_of_file(line.file), line.line, static_cast<int>(kind)};
        source[site] += line.counts.of(kind);
        if (kind == Kind::shared_load) {
            for (const Counts& load : line.shared_loads) { one_by_one[site].push_back(load.of(kind)); }
        }
    }
    Priced result;
    double emitted_bytes = 0, unmatched_emitted = 0;
    Priced unmatched;
    double asked_bytes = 0;
    std::map<Site, double> seen;
    for (const auto& [site, emitted] : join.emitted()) {
        if (site.what != static_cast<int>(kind)) {
            continue;
        }
        double bytes = 0;
        for (const auto& [r, count] : emitted.bytes) { bytes += times[r] * count; }
        emitted_bytes += bytes;
        const auto at = source.find(site);
        Loads loads(one_by_one[site]);
        for (const auto& [width, turns] : emitted.requests | std::views::reverse) {  // the widest first
            double requests = 0;
            for (const auto& [r, count] : turns) { requests += times[r] * count; }
            result.requests += requests;
            if (at == source.end() || at->second.requests == 0) {
                unmatched_emitted += requests * width;
                continue;
            }
            const Access& access = at->second;
            const double factor = requests / access.requests;
            const double wavefronts =
                is_global(kind) ? factor * access.wavefronts : loads.take(requests, width, access);
            const auto quarters = [&](int lanes) {
                const double counted = is_global(kind) ? factor * quarters_of(access, kind, lanes) : 4 * wavefronts;
                return std::max(counted, requests * least_quarters(width, lanes));
            };
            result.quarters_32 += quarters(32);
            result.quarters_16 += quarters(16);
            result.wavefronts += std::max(wavefronts, requests * least_quarters(width, 32) / 4);
        }
        if (at == source.end() || at->second.requests == 0) {
            continue;
        }
        seen[site] = bytes;
    }
    for (const auto& [site, access] : source) {
        asked_bytes += access.requests * access.size();
        if (!seen.contains(site)) {
            unmatched.quarters_32 += quarters_of(access, kind, 32);
            unmatched.quarters_16 += quarters_of(access, kind, 16);
            unmatched.wavefronts += access.wavefronts;
            unmatched.requests += access.requests;
        }
    }
    if (emitted_bytes < 0.9 * asked_bytes) {  // not merged: nvcc names these lines otherwise
        result.quarters_32 += unmatched.quarters_32;
        result.quarters_16 += unmatched.quarters_16;
        result.wavefronts += unmatched.wavefronts;
    } else if (unmatched_emitted > 0) {
        result.quarters_32 += unmatched_emitted;  // 32 lanes of four bytes are a pass
        result.quarters_16 += 2 * unmatched_emitted;
        result.wavefronts += unmatched_emitted / 4;
    }
    return result;
}

void add(Instructions& sum, const Instructions& turn, double times) {
    sum.issued += times * turn.issued;
    sum.fma += times * turn.fma;
    sum.fp += times * turn.fp;
    sum.multiplied += times * turn.multiplied;
    sum.integer += times * turn.integer;
    sum.special += times * turn.special;
    sum.lsu += times * turn.lsu;
}

Work work_of_source(const LaunchCounts& launch) {
    constexpr double kInFlight = 4;  // nvcc unrolls loops by four
    const Counts& total = launch.total;
    Work work{.instructions = {.fma = total.fma_requests,
                               .fp = total.other_flop_requests,
                               .special = total.special_requests,
                               .lsu = total.requests()},
              .quarters_32 = total.quarters_32,
              .quarters_16 = total.quarters_16,
              .loads = total.of(Kind::global_load).requests};
    work.instructions.issued = work.instructions.fma + work.instructions.fp + work.instructions.special +
                               work.instructions.lsu + total.barriers + total.tensor.instructions;
    double shared = 0, all = 4 * total.shuffles;
    for (std::size_t kind = 0; kind < kKinds; kind++) {
        const double quarters = quarters_of(total.access[kind], static_cast<Kind>(kind), 32);
        all += quarters;
        shared += is_global(static_cast<Kind>(kind)) ? 0 : quarters;
        work.wavefronts += total.access[kind].wavefronts;
    }
    work.wavefronts += total.shuffles;
    work.shared_part = all > 0 ? (shared + 4 * total.shuffles) / all : 0;
    const double warps = launch.blocks * launch.warps();
    work.waits =
        std::max(work.loads / kInFlight, std::min(work.loads, warps));  // a warp that loads waits once at least
    return work;
}

}  // namespace

std::vector<double> executions(const LaunchCounts& launch, const KernelSass& sass) {
    return Join(launch, sass).executions();
}

Work work_of(const LaunchCounts& launch, const KernelSass* sass) {
    Work work = work_of_source(launch);
    if (sass == nullptr) {
        return work;
    }
    const Join join(launch, *sass);
    const std::vector<double> times = join.executions();
    work.from_sass = true;
    work.instructions = {};
    work.waits = 0;
    double spilled = 0;
    for (std::size_t r = 0; r < times.size(); r++) {
        const Region& region = sass->regions[r];
        add(work.instructions, region.instructions, times[r]);
        work.waits += times[r] * region.waits;
        spilled += times[r] * region.spilled;
    }
    // What the source's accesses take, times what they take more or less as they are emitted.
    const double shuffles = launch.total.shuffles;
    double source_32 = 4 * shuffles, source_16 = 8 * shuffles;
    double emitted_32 = source_32, emitted_16 = source_16, shared = source_32;
    work.wavefronts = shuffles;
    for (std::size_t i = 0; i < kKinds; i++) {
        const auto kind = static_cast<Kind>(i);
        const Priced one = priced(launch, join, times, kind);
        source_32 += quarters_of(launch.total.of(kind), kind, 32);
        source_16 += quarters_of(launch.total.of(kind), kind, 16);
        emitted_32 += one.quarters_32;
        emitted_16 += one.quarters_16;
        shared += is_global(kind) ? 0 : one.quarters_32;
        work.wavefronts += one.wavefronts;
        work.loads = kind == Kind::global_load ? one.requests : work.loads;
    }
    work.quarters_32 *= source_32 > 0 ? emitted_32 / source_32 : 1;
    work.quarters_16 *= source_16 > 0 ? emitted_16 / source_16 : 1;
    work.shared_part = emitted_32 > 0 ? shared / emitted_32 : 0;
    work.quarters_32 += spilled;  // 32 lanes of four bytes are a pass
    work.quarters_16 += 2 * spilled;
    work.wavefronts += spilled / 4;
    return work;
}

}  // namespace checker::estimate
