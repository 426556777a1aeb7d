// SPDX-License-Identifier: MIT
#include "checker/worker/time_op.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/json.h"
#include "checker/worker/call_buffers.h"

namespace checker {
namespace {

// Scratch and workspaces of all candidates of a bench: as only one runs at a time, they work in the same memory, so that
// none has the better place in the caches.
class SharedBlocks {
  public:
    explicit SharedBlocks(Bench& bench) : bench_(bench) {}
    // The first that is large enough and not among `held`.
    std::byte* take(std::size_t bytes, const std::vector<std::byte*>& held) {
        const auto fits = [&](const Block& block) {
            return block.bytes >= bytes && std::ranges::find(held, block.memory) == held.end();
        };
        const auto found = std::ranges::find_if(blocks_, fits);
        return (found != blocks_.end() ? *found : blocks_.emplace_back(bench_.allocate(bytes), bytes)).memory;
    }

  private:
    struct Block {
        std::byte* memory;
        std::size_t bytes;
    };
    Bench& bench_;
    std::vector<Block> blocks_;
};

// What one candidate holds of them.
class HeldBlocks final : public Allocator {
  public:
    explicit HeldBlocks(SharedBlocks& blocks) : blocks_(blocks) {}
    std::byte* allocate(std::size_t bytes) override {
        held_.push_back(blocks_.take(bytes, held_));
        return held_.back();
    }
    void release(std::byte* memory) override { std::erase(held_, memory); }

  private:
    SharedBlocks& blocks_;
    std::vector<std::byte*> held_;
};

// The memory of one timed call, which all candidates share.
class TimedCall {
  public:
    TimedCall(const Call& call, Bench& bench, std::uint64_t seed) : call_(call), bench_(bench), blocks_(bench) {
        for (const Input& input : call.inputs) { inputs_.push_back(bench_of(input.spec).allocate(input.spec.bytes())); }
        for (const Output& output : call.outputs) {
            Bench& its = bench_of(output.spec);
            outputs_.push_back(its.allocate(output.spec.bytes()));
            initial_.push_back(output.initial ? its.allocate(output.spec.bytes()) : nullptr);
        }
        draw(seed);
    }

    // New inputs, and new content of in-out tensors for reset().
    void draw(std::uint64_t seed) {
        const auto fill = [&](std::byte* memory, const BufferSpec& spec, const FillFunction& values) {
            bench_of(spec).fill(memory, spec.bytes(), [&](std::span<std::byte> to) { values(to, seed); });
        };
        for (std::size_t i = 0; i < inputs_.size(); i++) {
            fill(inputs_[i], call_.inputs[i].spec, call_.inputs[i].fill);
        }
        for (std::size_t i = 0; i < initial_.size(); i++) {
            if (initial_[i] != nullptr) {
                fill(initial_[i], call_.outputs[i].spec, call_.outputs[i].initial);
            }
        }
    }

    // Bytes of its tensors, without those of the host.
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const BufferSpec& spec : shared_specs(call_)) { sum += spec.on_host ? 0 : spec.bytes(); }
        return sum;
    }

    // Further tensors with the same inputs, until there are so many calls or no more room. What draw() draws later is in
    // the first ones alone.
    void add_calls(std::size_t calls) {
        try {
            for (std::size_t i = 1; i < calls; i++) { others_.push_back(another()); }
        } catch (const OutOfMemory&) {  // a clock of small steps needs fewer
        }
        for (std::vector<Buffers>& candidate : candidates_) { extend(candidate); }
    }
    int calls() const { return 1 + static_cast<int>(others_.size()); }

    // Buffers of one candidate for each call of a sample; `library` says how much scratch it wants, where it is one of
    // ours. All calls of a candidate have the same scratch and the same Context.
    const std::vector<Buffers>& add_candidate(const Library* library) {
        HeldBlocks& held = held_.emplace_back(blocks_);
        std::vector<Buffers>& candidate = candidates_.emplace_back();
        Buffers& buffers = candidate.emplace_back(&held);
        for (std::size_t i = 0; i < inputs_.size(); i++) {
            buffers.add(call_.inputs[i].spec.name, call_.inputs[i].spec.element, inputs_[i]);
        }
        for (const std::string& name : call_.null) { buffers.add_null(name); }
        for (std::size_t i = 0; i < outputs_.size(); i++) {
            buffers.add(call_.outputs[i].spec.name, call_.outputs[i].spec.element, outputs_[i]);
        }
        for (const Scratch& scratch : call_.scratch) {
            if (library != nullptr) {
                buffers.add(scratch.name, Element::byte, held.allocate(scratch_bytes(scratch, *library)));
            }
        }
        extend(candidate);
        return candidate;
    }

    // Buffers of the first call of the candidate that was added last.
    const Buffers& newest() const { return candidates_.back().front(); }

    // The in-out tensors as they are before a call.
    void reset() {
        for (std::size_t i = 0; i < initial_.size(); i++) {
            if (initial_[i] != nullptr) {
                const BufferSpec& spec = call_.outputs[i].spec;
                bench_of(spec).copy_content(outputs_[i], initial_[i], spec.bytes());
                for (const Tensors& other : others_) {
                    bench_of(spec).copy_content(other.outputs[i], initial_[i], spec.bytes());
                }
            }
        }
    }

    // Poison in the outputs, and the in-out tensors as they are before a call.
    void poison_outputs() {
        for (std::size_t i = 0; i < call_.outputs.size(); i++) {
            const BufferSpec& spec = call_.outputs[i].spec;
            bench_of(spec).poison(outputs_[i], spec.bytes(), spec.element, Schedule::start_aligned);
        }
        reset();
    }

    // A call that ends with something in the host's memory takes as long as the host waits for it.
    Stopwatch& stopwatch() { return ends_on_host(call_) ? host_->stopwatch() : bench_.stopwatch(); }

    void fetch_output(std::size_t i, std::span<std::byte> to) {
        bench_of(call_.outputs[i].spec).fetch(to, outputs_[i]);
    }

  private:
    struct Tensors {
        std::vector<std::byte*> inputs, outputs;
    };
    Tensors another() {
        const auto copied = [&](const BufferSpec& spec, std::byte* of) {
            return spec.on_host ? of : bench_.allocate_copy(of, spec.bytes());
        };
        Tensors result;
        for (std::size_t i = 0; i < inputs_.size(); i++) {
            result.inputs.push_back(copied(call_.inputs[i].spec, inputs_[i]));
        }
        for (std::size_t i = 0; i < outputs_.size(); i++) {
            result.outputs.push_back(copied(call_.outputs[i].spec, outputs_[i]));
        }
        return result;
    }
    void extend(std::vector<Buffers>& candidate) const {
        for (std::size_t i = candidate.size() - 1; i < others_.size(); i++) {
            Buffers buffers = candidate.front();
            for (std::size_t k = 0; k < inputs_.size(); k++) {
                buffers.add(call_.inputs[k].spec.name, call_.inputs[k].spec.element, others_[i].inputs[k]);
            }
            for (std::size_t k = 0; k < outputs_.size(); k++) {
                buffers.add(call_.outputs[k].spec.name, call_.outputs[k].spec.element, others_[i].outputs[k]);
            }
            candidate.push_back(std::move(buffers));
        }
    }

    Bench& bench_of(const BufferSpec& spec) { return spec.on_host ? *host_ : bench_; }

    const Call& call_;
    Bench& bench_;
    const std::unique_ptr<Bench> host_ = host_bench();  // of what lies in the host's memory
    SharedBlocks blocks_;
    std::vector<std::byte*> inputs_;
    std::vector<std::byte*> outputs_;
    std::vector<std::byte*> initial_;  // of each output, null where it is no in-out tensor
    std::vector<Tensors> others_;      // of a sample's further calls
    std::deque<HeldBlocks> held_;      // of each candidate
    std::deque<std::vector<Buffers>> candidates_;
};

// Writes the names of the kernels of a call to `file`.
void write_kernels(const std::filesystem::path& file, Bench& bench, const std::function<void()>& call) {
    Json said = Json::object();
    try {
        said["kernels"] = Json::array(bench.busy().kernels_of(call));
    } catch (const std::exception& error) { said["why"] = error.what(); }
    write_file(file, said.dump() + "\n");
}

// Long enough for a clock that moves on once a microsecond.
constexpr double kHotSampleSeconds = 64e-6;

}  // namespace

bool wants_warm_caches() {
    const char* const said = std::getenv("SOL_CACHE");
    const std::string_view cache = said == nullptr ? "cold" : said;
    if (cache != "hot" && cache != "cold") {
        throw std::invalid_argument("SOL_CACHE=" + std::string(cache) + ": the caches are hot or cold");
    }
    return cache == "hot";
}

std::vector<BufferSpec> timed_specs(const Timed& timed, std::uint32_t baselines) {
    std::vector<BufferSpec> specs;
    const int runs = (baselines & bit(Baseline::two_threads)) != 0 ? 3 : 2;
    for (int who = 0; who < runs; who++) {
        for (const Output& output : timed.call.outputs) { specs.push_back(output.spec); }
    }
    return specs;
}

// Why a rival cannot be timed here; empty where it can.
static std::string why_missing(Baseline baseline, const Timed& timed, Bench& bench) {
    if (baseline == Baseline::library && timed.library.value().missing) {
        return timed.library->missing();
    }
    try {
        static_cast<void>(baseline == Baseline::busy ? &bench.busy() : nullptr);
    } catch (const std::exception& error) { return error.what(); }
    return "";
}

Reply time_op(const Timed& timed, const Library& subject, const Library& solution, const std::filesystem::path& older,
              const Request& request, Bench& bench) {
    mallopt(M_PERTURB, 0);
    const std::optional<Library> older_library =  // before what its calls keep
        (request.baselines & bit(Baseline::older)) != 0 ? std::optional<Library>(older) : std::nullopt;
    TimedCall call(timed.call, bench, request.seed);
    const auto candidate_of = [&](std::string name, std::function<void(const Buffers&)> run,
                                  const Library* library) -> Candidate {
        return {.name = std::move(name),
                .run =
                    [run = std::move(run), &calls = call.add_candidate(library)] {
                        for (const Buffers& buffers : calls) { run(buffers); }
                    },
                .prepare = [&call] { call.reset(); },
                .calls = call.calls()};
    };
    const auto ours = [&](std::string name, const RunFunction& run, const Library& library) {
        return candidate_of(
            std::move(name), [&](const Buffers& buffers) { run(library, buffers); }, &library);
    };
    const bool hot = wants_warm_caches(), stays_cold = !hot && !timed.warm && bench.cold() != nullptr;
    const auto with_caches = [hot, cold = stays_cold ? bench.cold() : nullptr](Candidate candidate) {
        if (hot || cold) {
            candidate.prepare = [reset = candidate.prepare, before = hot ? candidate.run : nullptr, cold] {
                if (before) {
                    before();
                }
                if (reset) {
                    reset();
                }
                if (cold) {
                    cold();
                }
            };
        }
        return candidate;
    };
    Candidate by_solution = ours("solution", timed.call.run, solution);
    const bool times = request.samples > 0, of_nodes = (request.baselines & bit(Baseline::busy)) != 0;
    if (times && stays_cold && !of_nodes && !ends_on_host(timed.call)) {
        const double seconds = least_seconds(with_caches(by_solution), call.stopwatch());
        call.add_calls(bench.calls_in_a_sample(seconds, call.bytes()));
        by_solution.calls = call.calls();
    }
    const Candidate by_subject = ours("yours", timed.call.run, subject);
    const Buffers& of_subject = call.newest();

    Reply reply;
    std::vector<Candidate> candidates{by_subject};
    std::vector<Candidate> runs_again{by_subject, by_solution};
    std::vector<Baseline> baselines;
    for (std::uint32_t i = 0; i < kRivals; i++) {
        const auto baseline = static_cast<Baseline>(i);
        if ((request.baselines & bit(baseline)) == 0) {
            continue;
        }
        if (const std::string why = why_missing(baseline, timed, bench); !why.empty()) {
            reply.missing |= bit(baseline);
            why.copy(reply.text, sizeof reply.text - 1);
            continue;
        }
        baselines.push_back(baseline);
        switch (baseline) {
            case Baseline::solution:
                candidates.push_back(by_solution);
                break;
            case Baseline::library:
                candidates.push_back(candidate_of("library", timed.library.value().run, nullptr));
                break;
            case Baseline::copy:
                candidates.push_back(bench.copy(timed.bytes_moved, static_cast<std::size_t>(call.calls())));
                break;
            case Baseline::read:
                candidates.push_back(bench.read(timed.bytes_moved, static_cast<std::size_t>(call.calls())));
                break;
            case Baseline::arithmetic: {
                FmaCandidate fma = bench.arithmetic();
                reply.arithmetic_flop = fma.flop;
                candidates.push_back(std::move(fma.candidate));
                break;
            }
            case Baseline::older:
                candidates.push_back(ours("older", timed.call.run, *older_library));
                break;
            case Baseline::two_threads:
                candidates.push_back(ours("two threads", timed.run_on_two_threads, subject));
                runs_again.push_back(candidates.back());
                break;
            case Baseline::busy:  // with a Context of its own: what that keeps is made while the device is watched
                candidates.push_back(ours("busy", timed.call.run, subject));
                candidates.back().stopwatch = &bench.busy();
                break;
        }
    }
    std::ranges::transform(candidates, candidates.begin(), with_caches);
    TimingOptions options = bench.options(request.seconds, request.samples);
    options.seed = request.seed;
    if (hot && !of_nodes) {  // in a cache that is warm all the same a sample may repeat its call
        options.min_sample_seconds = std::max(options.min_sample_seconds, kHotSampleSeconds);
    }
    const std::vector<Samples> samples =
        times ? time_interleaved(candidates, options, call.stopwatch()) : std::vector<Samples>();
    if (const char* const file = std::getenv("SOL_KERNELS"); times && file != nullptr) {
        call.reset();
        write_kernels(file, bench, [&] { timed.call.run(subject, of_subject); });
    }

    call.draw(request.seed + 1);
    MemoryFile shared(dup(kWorkerMemory));
    const std::vector<BufferSlot> slots = slots_of(timed_specs(timed, request.baselines), Schedule::start_aligned);
    std::size_t at = 0;
    for (const Candidate& who : runs_again) {
        call.poison_outputs();
        who.run();
        for (std::size_t i = 0; i < timed.call.outputs.size(); i++) { call.fetch_output(i, shared.data(slots[at++])); }
    }

    if (!times) {
        return reply;
    }
    reply.subject = summarise(samples[0].seconds);
    reply.discarded = samples[0].discarded;
    const auto rounds = static_cast<std::int32_t>(samples[0].seconds.size());
    reply.late = 2 * bench.late() >= rounds ? bench.late() : 0;
    for (std::size_t i = 0; i < baselines.size(); i++) {
        reply.ratio[static_cast<std::size_t>(baselines[i])] = time_ratio(samples[0], samples[i + 1]);
        if (baselines[i] == Baseline::busy) {
            std::vector<double> gaps;
            for (std::size_t k = 0; k < samples[0].seconds.size(); k++) {
                gaps.push_back((samples[0].seconds[k] - samples[i + 1].seconds[k]) /
                               static_cast<double>(bench.busy().nodes()));
            }
            reply.gap = summarise(gaps);
        }
    }
    return reply;
}

std::filesystem::path older_implementation(const std::filesystem::path& reference_dir, const std::string& op) {
    const std::filesystem::path here = reference_dir.lexically_normal();
    const std::string lesson = here.filename().string(), base = branch_of(lesson);
    std::filesystem::path newest;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(here.parent_path(), error)) {
        const std::filesystem::path candidate = entry.path() / (op + ".so");
        const std::string older = entry.path().filename().string();
        const bool is_before = base.empty() ? older < lesson && branch_of(older).empty() : older <= base;
        if (is_before && std::filesystem::exists(candidate) && (newest.empty() || candidate > newest)) {
            newest = candidate;
        }
    }
    return newest;
}

}  // namespace checker
