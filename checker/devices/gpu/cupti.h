// SPDX-License-Identifier: MIT
//
// The time in which a GPU works, by CUPTI, the library beneath NVIDIA's profilers: it notes when the card began and ended
// each kernel, copy and memset, those of a graph's nodes too. Nothing else says when the card works and when it waits:
// events around a call see its gaps as well, events or clocks between its kernels are work of their own, and a kernel that
// is repeated, to be timed alone, brings its own gap with it.
//
// A call that is traced launches more slowly, with longer gaps, so the time of a call is never taken from a traced one: both
// are taken in the same rounds. The error is that of the card's stamps, some 0.03 µs at either end of a node.
//
// The library is opened while the program runs; who lacks it has no such time.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<cupti.h>) && !defined(__SIMT__)
#include <cupti.h>
#endif

#include "checker/base/text.h"
#include "checker/cuda_check.h"
#include "checker/devices/gpu/gpu_launch.h"
#include "checker/devices/gpu/gpu_libraries.h"
#include "checker/worker/bench.h"

namespace checker {

// The beginning of every record of a kernel, a copy or a memset, in all of CUPTI's versions from 9 to 13.
struct CuptiRecord {
    std::uint32_t kind;
    std::uint32_t of_its_kind[3];
    std::uint64_t start, end;  // nanoseconds; 0: not known
};
// A kernel's record up to its name, in the same versions: CUpti_ActivityKernel4 to 10, which grew at their ends.
struct CuptiKernel {
    CuptiRecord record;
    std::uint8_t of_a_kernel[72];
    const char* name;  // as the compiler mangled it
};
#ifdef CUPTI_API_VERSION
static_assert(offsetof(CUpti_ActivityKernel9, name) == offsetof(CuptiKernel, name));
#if CUPTI_API_VERSION >= 130001
static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(CuptiKernel, name));
#endif
static_assert(offsetof(CUpti_ActivityKernel9, start) == offsetof(CuptiRecord, start) &&
              offsetof(CUpti_ActivityKernel9, end) == offsetof(CuptiRecord, end) &&
              offsetof(CUpti_ActivityMemcpy5, start) == offsetof(CuptiRecord, start) &&
              offsetof(CUpti_ActivityMemset4, start) == offsetof(CuptiRecord, start));
#endif

class CuptiStopwatch final : public BusyStopwatch {
  public:
    // The library is what SOL_CUPTI names, or is searched in the usual places. Throws std::runtime_error where there is none,
    // or where it sees no work of the card.
    CuptiStopwatch()
        : library_(names()),
          next_(library_.function<Next>("cuptiActivityGetNextRecord")),
          flush_(library_.function<Flush>("cuptiActivityFlushAll")),
          enable_(library_.function<Enable>("cuptiActivityEnable")),
          disable_(library_.function<Enable>("cuptiActivityDisable")) {
        using Register = int (*)(decltype(&give_buffer), decltype(&take_buffer));
        require_success(library_.function<Register>("cuptiActivityRegisterCallbacks")(give_buffer, take_buffer),
                        "cuptiActivityRegisterCallbacks");
        if (!seconds_of([] { launch_delay(1000, nullptr); })) {
            throw std::runtime_error("CUPTI sees no work of this card");
        }
    }

    std::optional<double> seconds_of(const std::function<void()>& work) override {
        std::vector<Span> spans;
        for (const Seen& seen : watch(work)) { spans.push_back(seen.span); }
        nodes_ = spans.size();
        const bool known = std::ranges::all_of(spans, [](const Span& span) { return span.begin > 0 && span.end > 0; });
        return spans.empty() || !known ? std::nullopt
                                       : std::optional(static_cast<double>(covered(std::move(spans))) * 1e-9);
    }
    std::vector<std::string> kernels_of(const std::function<void()>& work) override {
        std::vector<Seen> seen = watch(work);
        std::ranges::stable_sort(seen, {}, [](const Seen& one) { return one.span.begin; });
        std::vector<std::string> names;
        for (const Seen& one : seen) {
            if (!one.kernel.empty()) {
                names.push_back(demangled(one.kernel));
            }
        }
        return names;
    }
    double now() const override { return static_cast<double>(steady_nanoseconds()) * 1e-9; }
    std::size_t nodes() const override { return nodes_; }

  private:
    using Next = int (*)(std::uint8_t*, std::size_t, const CuptiRecord**);
    using Flush = int (*)(std::uint32_t);
    using Enable = int (*)(int);
    static constexpr int kMemcpy = 1, kMemset = 2, kKernel = 10;  // CUPTI_ACTIVITY_KIND_…
    static constexpr int kKinds[] = {kMemcpy, kMemset, kKernel};

    // A kernel, a copy or a memset.
    struct Seen {
        Span span;
        std::string kernel;  // its name; empty for the others
    };

    std::vector<Seen> watch(const std::function<void()>& work) {
        filled().clear();
        for (const int kind : kKinds) { require_success(enable_(kind), "cuptiActivityEnable"); }
        work();
        check(cudaDeviceSynchronize());
        constexpr std::uint32_t kForced = 1;
        require_success(flush_(kForced), "cuptiActivityFlushAll");
        for (const int kind : kKinds) { require_success(disable_(kind), "cuptiActivityDisable"); }
        std::vector<Seen> seen;
        for (const Filled& buffer : filled().take()) { add_seen(buffer, seen); }
        return seen;
    }

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    struct Filled {
        std::unique_ptr<std::uint8_t, Free> memory;
        std::size_t bytes;
    };
    // What CUPTI has handed back, from a thread of its own.
    class FilledBuffers {
      public:
        void add(std::uint8_t* memory, std::size_t bytes) {
            const std::lock_guard lock(mutex_);
            all_.push_back({std::unique_ptr<std::uint8_t, Free>(memory), bytes});
        }
        std::vector<Filled> take() {
            const std::lock_guard lock(mutex_);
            return std::exchange(all_, {});
        }
        void clear() { static_cast<void>(take()); }

      private:
        std::mutex mutex_;
        std::vector<Filled> all_;
    };
    // CUPTI's callbacks take no argument of ours, hence the one static.
    static FilledBuffers& filled() {
        static FilledBuffers buffers;
        return buffers;
    }
    static void give_buffer(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
        constexpr std::size_t kBytes = std::size_t{1} << 20, kAlignment = 8;
        *memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
        *bytes = *memory == nullptr ? 0 : kBytes;
        *most_records = 0;  // as many as it holds
    }
    static void take_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* memory, std::size_t /*bytes*/,
                            std::size_t filled_bytes) {
        filled().add(memory, filled_bytes);
    }

    void add_seen(const Filled& buffer, std::vector<Seen>& seen) const {
        const CuptiRecord* record = nullptr;
        while (buffer.bytes > 0 && next_(buffer.memory.get(), buffer.bytes, &record) == 0) {
            if (record->kind == kKernel) {
                const char* const name = reinterpret_cast<const CuptiKernel*>(record)->name;
                seen.push_back({{record->start, record->end}, name == nullptr ? "?" : name});
            } else if (record->kind == kMemcpy || record->kind == kMemset) {
                seen.push_back({{record->start, record->end}, ""});
            }
        }
    }

    static std::vector<std::string> names() {
        if (const char* named = std::getenv("SOL_CUPTI"); named != nullptr) {
            return {named};
        }
        return {"libcupti.so." + std::to_string(CUDART_VERSION / 1000), "libcupti.so",
                "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    }

    DynamicLibrary library_;
    Next next_;
    Flush flush_;
    Enable enable_, disable_;
    std::size_t nodes_ = 0;
};

}  // namespace checker
