// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/access/focus.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/launch.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/base/thread_request.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/threads/collectives.h"
#include "checker/simt/runtime/threads/launch_observer.h"
#include "checker/simt/runtime/threads/scheduler.h"

extern "C" {
// checker/simt/debug.py reads the first and stops in the second.
const char* simt_focus_launch = "";
[[gnu::noinline, gnu::used]] void simt_stops_here() {
    asm volatile("" ::: "memory");
}
}

namespace simt {

constinit bool focus_launch = false;
constinit bool tracing = false;

namespace {

std::string text_of(dim3 d) {
    return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

// The user may call "reverse [int N = 64]" reverse, or by its whole name; its scope may be left out.
bool is_called(const std::string& kernel, const std::string& name) {
    const std::string plain = kernel.substr(0, kernel.find(' '));
    return kernel == name || plain == name || plain.ends_with("::" + name);
}

// An access that has been announced: its value is known when the thread does the next thing.
struct Pending {
    std::string line;
    std::uintptr_t address = 0;
    std::size_t bytes = 0;  // 0: nothing to read there
    Values values = Values::unknown;
    const std::uint64_t* outcome = nullptr;  // of a collective
};

// One value as text. Bits whose type nobody has named are taken for a float if they look like one.
template <class T>
std::string one_value(std::uintptr_t address, Values values) {
    T value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    if constexpr (sizeof(T) == sizeof(float)) {
        const auto number = std::bit_cast<float>(value);
        const bool likely = std::isnormal(number) || std::isinf(number) || value == 0x7fc00000;
        if (values == Values::floats || (values == Values::unknown && likely)) {
            return fmt::format("{}", number);
        }
    }
    return fmt::format("{}", value);
}

// The values that lie there; of a long span only the first ones.
template <class T>
std::string values_of(const Pending& access) {
    constexpr std::size_t kMost = 16;
    std::string text;
    for (std::size_t at = 0; at + sizeof(T) <= std::min(access.bytes, kMost); at += sizeof(T)) {
        text += (at == 0 ? "" : ", ") + one_value<T>(access.address + at, access.values);
    }
    return access.bytes > kMost ? text + ", …" : text;
}

// What a lane gives to a collective, or gets from it.
std::string text_of_bits(std::uint64_t bits) {
    const auto number = std::bit_cast<double>(bits);
    const auto low = static_cast<std::uint32_t>(bits);
    return bits == low             ? one_value<std::int32_t>(reinterpret_cast<std::uintptr_t>(&low), Values::unknown)
           : std::isnormal(number) ? fmt::format("{}", number)
                                   : fmt::format("{}", static_cast<std::int64_t>(bits));
}

class Focus {
  public:
    static Focus& instance() {
        static auto& chosen = *new Focus;  // asked at the end of the process
        return chosen;
    }

    bool over() {
        asked_ = true;
        return taken_ && !focus_launch;
    }

    void look_at(const Launch& launch) {
        if (!wanted_ || taken_) {
            return;
        }
        note(launched_, launch.kernel);
        if (!wanted_->kernel.empty() && !is_called(launch.kernel, wanted_->kernel)) {
            return;
        }
        const std::optional<uint3> block = wanted_->block.in(launch.grid);
        const std::optional<uint3> thread = wanted_->thread.in(launch.block);
        if (!block || !thread) {
            note(too_small_, fmt::format("{}<<<{}, {}>>>", launch.kernel, text_of(launch.grid), text_of(launch.block)));
            return;
        }
        taken_ = true;
        block_ = *block;
        thread_ = *thread;
        text_ = fmt::format("{}\n  launched <<<{}, {}>>> at {}", launch.kernel, text_of(launch.grid),
                            text_of(launch.block), simt::text_of(launch.line));
        simt_focus_launch = text_.c_str();
        focus_launch = true;
    }

    bool is(const Lane& lane) const { return same(lane.block->index, block_) && same(lane.thread, thread_); }

    void begins() {
        if (stop_ && !ran_ && hot.lane != nullptr && is(*hot.lane)) {
            ran_ = true;
            simt_stops_here();
        }
    }

    void switch_to(const Lane& lane) {
        if (stop_ || !is(lane)) {
            return;
        }
        tracing = true;
        kept_bytes_ = std::exchange(hot.device_bytes, 0);  // every access takes the slow path, which calls `trace`
        if (!ran_) {
            ran_ = true;
            fmt::print("{} of {}\n", simt::text_of(lane), text_);
        }
    }

    void turn_from(const Lane& lane) {
        if (!tracing) {
            return;
        }
        tracing = false;
        hot.device_bytes = kept_bytes_;
        if (lane.state == LaneState::exited) {
            end_trace("the thread ends");
        }
    }

    // The launch has ended, for whatever reason.
    void end_launch() {
        if (!ran_) {
            std::fflush(stdout);
            fmt::print(stderr, "simt: the launch ended before the thread began: {}\n", text_);
        }
        end_trace("the launch ends here");
        focus_launch = false;
    }

    void trace(Pending next, bool is_access) {
        flush();
        accesses_ += is_access ? 1 : 0;
        if (lines_++ < limit_) {
            pending_ = std::move(next);
        } else {
            accesses_left_ += is_access ? 1 : 0;
        }
    }

    // Says what the user has asked for and what never came.
    void complain() const {
        if (!wanted_ || taken_) {
            return;
        }
        const std::string asked = fmt::format("block {} and thread {}", wanted_->block.text(), wanted_->thread.text());
        if (!too_small_.empty()) {
            refuse_request(fmt::format("no launch has {}: {}", asked, list(too_small_)));
        }
        if (launched_.empty()) {
            if (asked_) {
                refuse_request("no kernel was launched");
            }
            return;  // the program ended earlier, and has said why
        }
        refuse_request(fmt::format("kernel {} was not launched; these were: {}", wanted_->kernel, list(launched_)));
    }

  private:
    static bool same(uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

    static void note(std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }

    static std::string list(const std::vector<std::string>& names) {
        constexpr std::size_t kMost = 3;
        std::string text;
        for (std::size_t i = 0; i < std::min(names.size(), kMost); i++) { text += (i == 0 ? "" : ", ") + names[i]; }
        return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
    }

    static std::string value_of(const Pending& access) {
        return access.bytes % 4 == 0   ? values_of<std::int32_t>(access)
               : access.bytes % 2 == 0 ? values_of<std::int16_t>(access)
                                       : values_of<std::uint8_t>(access);
    }

    void flush() {
        if (pending_) {
            fmt::print("{}{}\n", pending_->line,
                       pending_->outcome != nullptr ? ", gets " + text_of_bits(*pending_->outcome)
                       : pending_->bytes != 0       ? "  " + value_of(*pending_)
                                                    : "");
            std::fflush(stdout);
            pending_.reset();
        }
    }

    void end_trace(const char* how) {
        if (stop_ || !ran_ || ended_) {
            return;
        }
        ended_ = true;
        flush();
        if (lines_ > limit_) {
            const std::size_t left = lines_ - limit_;
            fmt::print("and {} more line{}, {} of them {} to memory\n", left, left == 1 ? "" : "s", accesses_left_,
                       accesses_left_ == 1 ? "an access" : "accesses");
        }
        fmt::print("{}: {} access{} to memory\n", how, accesses_, accesses_ == 1 ? "" : "es");
        std::fflush(stdout);
    }

    const std::optional<ThreadRequest>& wanted_ = requested_thread();
    const bool stop_ = stops_in_a_thread();
    const std::size_t limit_ = trace_limit();

    bool taken_ = false;  // a launch has it
    bool ran_ = false;    // and it has begun
    bool ended_ = false;
    bool asked_ = false;  // somebody wants to know whether it is over
    uint3 block_{}, thread_{};
    std::string text_;
    std::vector<std::string> launched_, too_small_;

    std::size_t kept_bytes_ = 0;
    std::optional<Pending> pending_;
    std::size_t lines_ = 0, accesses_ = 0;
    std::size_t accesses_left_ = 0;  // that had no line
};

std::string line_of(const void* site) {
    const SourceLine& line = source_of(site);
    return line.file.empty() ? "?"
                             : fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

// Where an access goes, as text; `access` gets what will be read there afterwards.
std::string place_of(Pending& access, std::uintptr_t address, std::size_t bytes) {
    Memory& memory = Memory::instance();
    access.address = address;
    if (memory.contains(address)) {
        const Allocation* allocation = memory.find(address);
        if (allocation == nullptr) {
            return "far from every buffer of the device";
        }
        if (!memory.holds(address, bytes)) {
            return (allocation->freed_at != nullptr ? "freed: " : "") + place_in(*allocation, address);
        }
        access.bytes = bytes;
        access.values = allocation->values;
        const auto element = static_cast<long>((address - allocation->begin) / allocation->element_bytes);
        return allocation->name.empty() || allocation->shape.empty()
                   ? place_in(*allocation, address)
                   : fmt::format("{}[{}]", allocation->name, index_text(allocation->shape, element));
    }
    SharedMemory& shared = Scheduler::instance().shared();
    if (const Mark* marks = shared.marks(address, bytes)) {
        access.bytes = std::find(marks, marks + bytes, Mark::outside) == marks + bytes ? bytes : 0;
        return shared.place_of(address, false);
    }
    const Module* module = module_of(reinterpret_cast<const void*>(address));
    const Symbol* variable = module == nullptr ? nullptr : module->variable_at(address);
    if (variable == nullptr || address + bytes > variable->begin + variable->bytes) {
        return fmt::format("address {:#x}", address);
    }
    access.bytes = bytes;
    return fmt::format("byte {} of {}", address - variable->begin, variable->name());
}

}  // namespace

bool focus_launch_is_over() {
    return Focus::instance().over();
}

void thread_begins() {
    Memory::instance().mark_writes_untracked();
    if (focus_launch) {
        Focus::instance().begins();
    }
}

void trace_access(std::uintptr_t address, std::size_t bytes, Access access, const void* site) {
    const InRuntime in_runtime;
    Pending next;
    const char* verb = access == Access::read    ? "load"
                       : access == Access::write ? "store"
                       : access == Access::copy  ? "copy"
                                                 : "atomic";
    const std::string place = place_of(next, address, bytes);
    next.line =
        fmt::format("{:<22} {:<7} {:<32} {:>2} byte{}", line_of(site), verb, place, bytes, bytes == 1 ? "" : "s");
    Focus::instance().trace(std::move(next), true);
}

void trace_wait(std::string_view what, const void* site) {
    const InRuntime in_runtime;
    Pending next;
    next.line = fmt::format("{:<22} {}", line_of(site), what);
    Focus::instance().trace(std::move(next), false);
}

static void trace_collective(const Lane& lane, const Collective& request) {
    const InRuntime in_runtime;
    Pending next;
    next.line = fmt::format("{:<22} {} of the lanes {:#010x}", line_of(request.site), name_of(request), request.mask);
    if (request.kind != CollectiveKind::sync) {
        next.line += fmt::format(": brings {}", text_of_bits(request.value));
        next.outcome = &lane.collective.result;
    }
    Focus::instance().trace(std::move(next), false);
}

constinit const LaunchObserver focus_observer = {
    .begin_launch =
        [](const Launch& launch) {
            Focus::instance().look_at(launch);
            return focus_launch;
        },
    .begin_slice = [](const Lane& lane, std::uint32_t) { Focus::instance().switch_to(lane); },
    .end_slice = [](const Lane& lane, std::uint32_t) { Focus::instance().turn_from(lane); },
    .reach_barrier =
        [](const void* site) {
            if (tracing) {
                trace_wait("barrier", site);
            }
        },
    .reach_collective =
        [](const Lane& lane, const Collective& request) {
            if (tracing) {
                trace_collective(lane, request);
            }
        },
    .end_launch =
        [](const Launch&, std::uint64_t) {
            if (focus_launch) {
                Focus::instance().end_launch();
            }
        },
};

// Complains if somebody asked for a thread and got none.
__attribute__((destructor)) static void complain_when_the_process_ends() {
    Focus::instance().complain();
}

}  // namespace simt
