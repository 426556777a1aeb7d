// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/races/clocks.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace simt {
namespace {

constexpr std::size_t kMostVisited = 20000;  // releases looked at for one question

bool same_releaser(const Release& a, const Release& b) {
    return a.block == b.block && a.thread == b.thread && a.block_scope == b.block_scope;
}

bool covers(const Fence& fence, const Release& by, const Whose& whose, Time time) {
    if (by.block != whose.block) {
        return false;
    }
    if (fence.barrier >= time || (by.thread == whose.thread && fence.own >= time)) {
        return true;
    }
    if (whose.whole) {  // it is not known which thread it was: any of them will do
        return fence.own >= time || *std::max_element(fence.warp.begin(), fence.warp.end()) >= time;
    }
    return by.thread / 32 == whose.thread / 32 && fence.warp[whose.thread % 32] >= time;
}

}  // namespace

void ReleaseLog::go_on_from(const ReleaseLog& longer) {
    std::set<std::tuple<std::uint64_t, std::uint32_t, bool>> seen;
    for (auto release = longer.releases.rbegin(); release != longer.releases.rend(); ++release) {
        if (seen.emplace(release->block, release->thread, release->block_scope).second) {
            releases.push_back(*release);
        }
    }
    std::ranges::reverse(releases);
    most = std::max(most, 2 * releases.size());
}

void add(std::vector<Acquired>& acquired, const Acquired& more) {
    const std::vector<Release>& releases = more.log->releases;
    for (Acquired& old : acquired) {
        const std::vector<Release>& known = old.log->releases;
        // A thread's later release contains its earlier ones.
        const bool later = old.count == 1 && more.count == 1 && old.log != more.log &&
                           same_releaser(known[0], releases[0]) && old.beyond_block <= more.beyond_block;
        if (later || (old.log == more.log && old.beyond_block == more.beyond_block)) {
            old.count = old.log == more.log ? std::max(old.count, more.count) : more.count;
            old.log = more.log;
            return;
        }
    }
    acquired.push_back(more);
}

bool acquired_covers(const std::vector<Acquired>& acquired, std::uint64_t own_block, const Whose& whose, Time time) {
    static std::uint64_t queries = 0;
    const std::uint64_t query = ++queries;
    struct Step {
        const Acquired* seen;
        std::uint64_t by_block;
    };
    std::vector<Step> open;
    for (const Acquired& seen : acquired) { open.push_back({&seen, own_block}); }
    std::size_t visited = 0;
    while (!open.empty()) {
        const Step step = open.back();
        open.pop_back();
        ReleaseLog& log = *step.seen->log;
        const std::uint32_t first = log.query == query ? log.looked_at : 0;
        if (first >= step.seen->count) {
            continue;
        }
        log.query = query;
        log.looked_at = step.seen->count;
        for (std::uint32_t i = step.seen->count; i-- > first;) {
            const Release& release = log.releases[i];
            if (release.at < time) {
                break;  // neither it nor those before it tell of what was later, nor does what they had acquired
            }
            const bool same_block = release.block == step.by_block;
            if (!same_block && (release.block_scope || !step.seen->beyond_block)) {
                continue;
            }
            const Fence* fence = same_block ? release.in_block.get() : release.beyond.get();
            if (fence == nullptr) {
                continue;
            }
            const bool itself = whose.variable != 0 && log.variable == whose.variable && release.block == whose.block &&
                                release.at >= time && (release.thread == whose.thread || whose.whole);
            if (itself || covers(*fence, release, whose, time)) {
                return true;
            }
            for (const Acquired& before : fence->acquired) {
                if (before.log->query != query || before.log->looked_at < before.count) {
                    open.push_back({&before, release.block});
                }
            }
            if (++visited > kMostVisited) {
                return true;
            }
        }
    }
    return false;
}

void BlockClock::begin(std::uint64_t block, unsigned threads, Time now) {
    number = block;
    barrier = began = now;
    clean_in_block_ = clean_beyond_ = 0;
    any_fence_ = false;
    wrote.assign(threads, 0);
    lanes_.clear();
    acquired_.clear();
    warps_.resize((threads + 31) / 32);
    for (WarpClock& warp : warps_) {
        warp.all = 0;
        warp.partly = false;
    }
}

Time BlockClock::known(unsigned thread, unsigned other) const {
    const WarpClock& warp = warps_[thread / 32];
    return std::max({barrier, warp.all, warp.partly ? warp.rows[thread % 32][other % 32] : 0});
}

Time BlockClock::known_of_warp(unsigned thread) const {
    const WarpClock& warp = warps_[thread / 32];
    Time least = UINT32_MAX;
    for (unsigned lane = 0; lane < 32 && warp.partly; lane++) {
        if (lane != thread % 32) {
            least = std::min(least, warp.rows[thread % 32][lane]);
        }
    }
    return std::max({barrier, warp.all, warp.partly ? least : 0});
}

bool BlockClock::knows_some_of_warp(unsigned thread, Time time) const {
    const WarpClock& warp = warps_[thread / 32];
    for (unsigned lane = 0; lane < 32; lane++) {
        if (lane != thread % 32 &&
            std::max({barrier, warp.all, warp.partly ? warp.rows[thread % 32][lane] : 0}) >= time) {
            return true;
        }
    }
    return false;
}

LaneClock& BlockClock::lane(unsigned thread) {
    if (lanes_.empty()) {
        lanes_.resize(wrote.size());
        fenced_in_block_.assign(wrote.size(), 0);
        fenced_beyond_.assign(wrote.size(), 0);
    }
    return lanes_[thread];
}

const LaneClock* BlockClock::lane_if_any(unsigned thread) const {
    return lanes_.empty() ? nullptr : &lanes_[thread];
}

void BlockClock::activate(LaneClock& lane, bool beyond_block) {
    for (Acquired seen : lane.pending) {
        seen.beyond_block = beyond_block;
        add(lane.acquired, seen);
    }
    if (beyond_block) {
        lane.pending.clear();
    }
}

void BlockClock::pass_barrier(Time now) {
    barrier = now;
    if (lanes_.empty()) {
        return;
    }
    bool clean_in_block = any_fence_, clean_beyond = any_fence_;
    for (std::size_t t = 0; t < wrote.size(); t++) {
        clean_in_block = clean_in_block && wrote[t] <= fenced_in_block_[t];
        clean_beyond = clean_beyond && wrote[t] <= fenced_beyond_[t];
    }
    clean_in_block_ = clean_in_block ? now : clean_in_block_;
    clean_beyond_ = clean_beyond ? now : clean_beyond_;
    for (LaneClock& lane : lanes_) {
        activate(lane, true);
        for (const Acquired& seen : lane.acquired) { add(acquired_, seen); }
        lane.acquired.clear();
    }
}

void BlockClock::sync_lanes(unsigned warp, unsigned mask, unsigned whole, Time now) {
    WarpClock& clock = warps_[warp];
    if ((mask & whole) == whole) {
        clock.all = now;
    } else {
        if (!clock.partly) {
            clock.partly = true;
            clock.rows = {};
        }
        std::array<Time, 32> joint{};
        for (unsigned lane = 0; lane < 32; lane++) {
            if ((mask >> lane & 1U) != 0) {
                for (unsigned other = 0; other < 32; other++) {
                    joint[other] = std::max(joint[other], clock.rows[lane][other]);
                }
                joint[lane] = now;
            }
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            if ((mask >> lane & 1U) != 0) {
                joint[lane] = now;
            }
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            if ((mask >> lane & 1U) != 0) {
                clock.rows[lane] = joint;
            }
        }
    }
    if (lanes_.empty()) {
        return;
    }
    std::vector<Acquired> acquired, pending;
    const auto each = [&](auto&& what) {
        for (unsigned lane = 0; lane < 32; lane++) {
            if ((mask >> lane & 1U) != 0 && warp * 32 + lane < lanes_.size()) {
                what(lanes_[warp * 32 + lane]);
            }
        }
    };
    each([&](const LaneClock& lane) {
        for (const Acquired& seen : lane.acquired) { add(acquired, seen); }
        for (const Acquired& seen : lane.pending) { add(pending, seen); }
    });
    each([&](LaneClock& lane) {
        lane.acquired = acquired;
        lane.pending = pending;
    });
}

void BlockClock::fence(unsigned thread, bool beyond_block, Time now) {
    LaneClock& clock = lane(thread);
    activate(clock, beyond_block);
    auto fence = std::make_shared<Fence>();
    fence->own = now;
    fence->barrier = barrier;
    for (unsigned other = 0; other < 32; other++) { fence->warp[other] = known(thread, other); }
    fence->acquired = clock.acquired;
    for (const Acquired& seen : acquired_) { add(fence->acquired, seen); }
    any_fence_ = true;
    clock.in_block = fence;
    fenced_in_block_[thread] = now;
    if (beyond_block) {
        clock.beyond = fence;
        fenced_beyond_[thread] = now;
    }
}

void BlockClock::see(unsigned thread, ReleaseLog* log, bool at_once) {
    if (log == nullptr || log->releases.empty()) {
        return;
    }
    LaneClock& clock = lane(thread);
    const Acquired seen{log, static_cast<std::uint32_t>(log->releases.size()), at_once};
    add(at_once ? clock.acquired : clock.pending, seen);
}

// What the thread's last fence released, and what other threads fenced themselves and then handed on to it.
std::shared_ptr<const Fence> BlockClock::widened(const std::shared_ptr<const Fence>& fence, unsigned thread,
                                                 const std::vector<Time>& fenced, Time clean) const {
    Time own = fence == nullptr ? 0 : fence->own;
    const bool synced = barrier > own || warps_[thread / 32].all > own || warps_[thread / 32].partly;
    if (!synced) {
        return fence;
    }
    auto wider = fence == nullptr ? std::make_shared<Fence>() : std::make_shared<Fence>(*fence);
    bool any = fence != nullptr;
    wider->barrier = std::max(wider->barrier, clean);
    any = any || clean != 0;
    const unsigned first = thread / 32 * 32;
    for (unsigned other = first; other < first + 32 && other < wrote.size(); other++) {
        const Time handed = std::min(known(thread, other), fenced[other]);
        wider->warp[other % 32] = std::max(wider->warp[other % 32], handed);
        any = any || handed != 0;
    }
    return any ? wider : nullptr;
}

Release BlockClock::release(unsigned thread, bool block_scope, Time now) {
    Release release{
        .block = number, .thread = thread, .block_scope = block_scope, .at = now, .in_block = {}, .beyond = {}};
    if (lanes_.empty() || !any_fence_) {
        return release;
    }
    const LaneClock& clock = lanes_[thread];
    release.in_block = widened(clock.in_block, thread, fenced_in_block_, clean_in_block_);
    release.beyond = widened(clock.beyond, thread, fenced_beyond_, clean_beyond_);
    return release;
}

}  // namespace simt
