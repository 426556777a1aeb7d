// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/access/bad_indices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/threads/launch_observer.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

constexpr std::int64_t kFarthest = 16384;  // bytes beyond the array
// The compiler may move an access behind others, and behind the next index.
constexpr std::size_t kMostIndices = 8;
constexpr int kMostOthers = 16;

// The places that the access of an index may go to: `count` of `bytes` bytes, `stride` bytes apart.
struct Places {
    std::uintptr_t begin;
    std::size_t bytes, stride, count;

    bool holds(std::uintptr_t address) const {
        const std::uintptr_t offset = address - begin;
        return offset / stride < count && offset % stride < bytes;
    }
};

struct BadIndex {
    std::vector<Places> places;  // for each array that may be meant
    bool has_come = false;
};

int others = 0;  // accesses since the last index that belong to none

std::vector<BadIndex>& bad_indices() {
    static auto& indices = *new std::vector<BadIndex>;
    return indices;
}

// "'float [32][33]'" -> 32, 33
std::vector<std::size_t> extents_in(std::string_view type) {
    std::vector<std::size_t> extents;
    for (std::size_t at = type.find('['); at != std::string_view::npos; at = type.find('[', at + 1)) {
        std::size_t extent = 0;
        std::from_chars(type.data() + at + 1, type.data() + type.size(), extent);
        extents.push_back(extent);
    }
    return extents;
}

void forget_expected() {
    bad_indices().clear();
    hot.judge_expected = nullptr;
}

[[noreturn]] void end_launch() {
    forget_expected();
    Scheduler::instance().abandon(cudaErrorIllegalAddress);
}

// For a thread that gives way, ends or faults: ends the launch if an index is left whose access did not come.
void judge_expected() {
    if (!std::all_of(bad_indices().begin(), bad_indices().end(), [](const BadIndex& bad) { return bad.has_come; })) {
        end_launch();
    }
    forget_expected();
    Scheduler::instance().shared().expose();
}

}  // namespace

bool expect_access(std::int64_t index, std::string_view type) {
    const InRuntime in_runtime;
    const std::vector<std::size_t> wanted = extents_in(type);
    const Module* const module = Scheduler::instance().launch().module;
    BadIndex bad;
    for (const Symbol& symbol : module == nullptr ? std::vector<Symbol>() : module->thread_locals) {
        const Extents* const extents = symbol.is_guard() ? nullptr : module->extents_of(symbol);
        if (extents == nullptr) {
            continue;
        }
        const auto* const end = std::find(std::begin(extents->counts), std::end(extents->counts), std::size_t{0});
        const auto dimensions = static_cast<std::size_t>(end - std::begin(extents->counts));
        if (wanted.empty() || wanted.size() > dimensions ||
            !std::equal(wanted.begin(), wanted.end(), end - wanted.size())) {
            continue;
        }
        std::size_t bytes = extents->element_bytes;  // one element's
        for (std::size_t i = 1; i < wanted.size(); i++) { bytes *= wanted[i]; }
        const std::int64_t offset = index * static_cast<std::int64_t>(bytes);
        const std::size_t row = bytes * wanted.front();
        if (offset >= -kFarthest && offset < static_cast<std::int64_t>(row) + kFarthest) {
            bad.places.push_back(
                {Scheduler::instance().shared().static_begin() + symbol.begin + static_cast<std::uintptr_t>(offset),
                 bytes, row, symbol.bytes / row});
        }
    }
    std::vector<BadIndex>& all = bad_indices();
    std::erase_if(all, [](const BadIndex& other) { return other.has_come; });
    if (bad.places.empty() || all.size() == kMostIndices) {
        return false;
    }
    others = 0;
    all.push_back(std::move(bad));
    hot.judge_expected = judge_expected;
    hot.shared[0].bytes = hot.shared[1].bytes = 0;  // each access to shared memory is judged now
    return true;
}

bool is_expected(std::uintptr_t address, std::size_t bytes, bool writes) {
    bool expected = false;
    for (BadIndex& bad : bad_indices()) {
        if (std::any_of(bad.places.begin(), bad.places.end(),
                        [&](const Places& places) { return places.holds(address); })) {
            bad.has_come = expected = true;
        }
    }
    if (expected) {
        if (Scheduler::instance().shared().marks(address, bytes) == nullptr &&
            (writes || !is_mapped(address) || !is_mapped(address + bytes - 1))) {
            end_launch();  // it would change what is not the kernel's, or fault
        }
        return true;
    }
    if (++others == kMostOthers) {
        judge_expected();
    }
    return false;
}

constinit const LaunchObserver bad_index_observer = {
    .begin_launch =
        [](const Launch&) {
            forget_expected();
            return false;
        },
};

}  // namespace simt
