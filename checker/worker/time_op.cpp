// SPDX-License-Identifier: MIT
#include "checker/worker/time_op.h"

#include <malloc.h>
#include <unistd.h>

#include <deque>
#include <optional>

#include "checker/worker/call_buffers.h"

namespace checker {
namespace {

// The memory of one timed call: inputs shared between the candidates, outputs and scratch each candidate's own.
class TimedCall {
  public:
    TimedCall(const Call& call, Bench& bench, std::uint64_t seed) : call_(call), bench_(bench) {
        for (const Input& input : call.inputs) {
            inputs_.push_back(bench.allocate(input.spec.bytes()));
            buffers_.add(input.spec.name, input.spec.element, inputs_.back());
        }
        draw(seed);
    }

    // New inputs.
    void draw(std::uint64_t seed) {
        for (std::size_t i = 0; i < call_.inputs.size(); i++) {
            const Input& input = call_.inputs[i];
            bench_.fill(inputs_[i], input.spec.bytes(), [&](std::span<std::byte> to) { input.fill(to, seed); });
        }
    }

    // Buffers of one candidate; `library` says how much scratch it wants, where it is one of ours.
    const Buffers& add_candidate(const Library* library) {
        Buffers& buffers = candidates_.emplace_back(buffers_);
        outputs_.emplace_back();
        for (const Output& output : call_.outputs) {
            outputs_.back().push_back(bench_.allocate(output.spec.bytes()));
            buffers.add(output.spec.name, output.spec.element, outputs_.back().back());
        }
        for (const Scratch& scratch : call_.scratch) {
            if (library != nullptr) {
                buffers.add(scratch.name, Element::byte, bench_.allocate(scratch_bytes(scratch, *library)));
            }
        }
        return buffers;
    }

    // Poison in the outputs of the candidate that was added as number `candidate`.
    void poison_outputs(std::size_t candidate) {
        for (std::size_t i = 0; i < call_.outputs.size(); i++) {
            bench_.fill(outputs_[candidate][i], call_.outputs[i].spec.bytes(),
                        [](std::span<std::byte> to) { fill_with_poison(to, Schedule::start_aligned); });
        }
    }

    const std::byte* output(std::size_t candidate, std::size_t i) const { return outputs_[candidate][i]; }

  private:
    const Call& call_;
    Bench& bench_;
    Buffers buffers_;
    std::vector<std::byte*> inputs_;
    std::deque<Buffers> candidates_;
    std::vector<std::vector<std::byte*>> outputs_;
};

}  // namespace

std::vector<BufferSpec> timed_specs(const Timed& timed) {
    std::vector<BufferSpec> specs;
    for (int who = 0; who < 2; who++) {
        for (const Output& output : timed.call.outputs) { specs.push_back(output.spec); }
    }
    return specs;
}

Reply time_op(const Timed& timed, const Library& subject, const Library& solution, const std::filesystem::path& older,
              const Request& request, Bench& bench) {
    mallopt(M_PERTURB, 0);
    TimedCall call(timed.call, bench, request.seed);
    const auto run = [&](const RunFunction& function, const Library& library) -> std::function<void()> {
        return [&function, &library, &buffers = call.add_candidate(&library)] { function(library, buffers); };
    };
    const std::function<void()> run_subject = run(timed.call.run, subject);
    const std::function<void()> run_solution = run(timed.call.run, solution);
    const std::optional<Library> older_library =
        (request.rivals & bit(Rival::older)) != 0 ? std::optional<Library>(older) : std::nullopt;

    Reply reply;
    std::vector<Candidate> candidates{{"yours", run_subject}};
    std::vector<Rival> rivals;
    for (std::uint32_t i = 0; i < kRivals; i++) {
        const auto rival = static_cast<Rival>(i);
        if ((request.rivals & bit(rival)) == 0) {
            continue;
        }
        if (rival == Rival::library && timed.library.value().missing) {
            if (const std::string why = timed.library->missing(); !why.empty()) {
                reply.library_missing = true;
                why.copy(reply.text, sizeof reply.text - 1);
                continue;
            }
        }
        rivals.push_back(rival);
        switch (rival) {
            case Rival::solution:
                candidates.push_back({"solution", run_solution});
                break;
            case Rival::library:
                candidates.push_back({"library", [&timed, &buffers = call.add_candidate(nullptr)] {
                                          timed.library.value().run(buffers);
                                      }});
                break;
            case Rival::copy:
                candidates.push_back(bench.copy(timed.bytes_moved));
                break;
            case Rival::arithmetic: {
                FmaCandidate fma = bench.arithmetic();
                reply.arithmetic_flop = fma.flop;
                candidates.push_back(std::move(fma.candidate));
                break;
            }
            case Rival::older:
                candidates.push_back({"older", run(timed.call.run, *older_library)});
                break;
            case Rival::two_threads:
                candidates.push_back({"two threads", run(timed.run_on_two_threads, subject)});
                break;
        }
    }
    if (!timed.hot) {
        for (Candidate& candidate : candidates) { candidate.prepare = bench.cold(); }
    }
    const std::vector<Samples> samples =
        time_interleaved(candidates, bench.options(request.seconds, request.rounds), bench.stopwatch());

    call.draw(request.seed + 1);
    SharedMemory shared(dup(kWorkerMemory));
    const std::vector<Placement> placements = place(timed_specs(timed), Schedule::start_aligned);
    std::size_t at = 0;
    for (std::size_t who = 0; who < 2; who++) {
        call.poison_outputs(who);
        who == 0 ? run_subject() : run_solution();
        for (std::size_t i = 0; i < timed.call.outputs.size(); i++) {
            bench.fetch(shared.data(placements[at++]), call.output(who, i));
        }
    }

    reply.subject = summarise(samples[0].seconds);
    reply.discarded = samples[0].discarded;
    for (std::size_t i = 0; i < rivals.size(); i++) {
        reply.ratio[static_cast<std::size_t>(rivals[i])] = time_ratio(samples[0], samples[i + 1]);
    }
    return reply;
}

std::filesystem::path older_implementation(const std::filesystem::path& reference_dir, const std::string& op) {
    const std::filesystem::path here = reference_dir.lexically_normal();
    std::filesystem::path newest;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(here.parent_path(), error)) {
        const std::filesystem::path candidate = entry.path() / (op + ".so");
        if (entry.path().filename() < here.filename() && std::filesystem::exists(candidate) &&
            (newest.empty() || candidate > newest)) {
            newest = candidate;
        }
    }
    return newest;
}

}  // namespace checker
