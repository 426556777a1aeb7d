// SPDX-License-Identifier: MIT
//
// The CPU device as the side that a lesson's kernels run on. The runtime is part of the check program; kernels come in
// shared objects that simtcc made.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "checker/base/text.h"
#include "checker/device.h"
#include "checker/devices/simt/simt_buffers.h"
#include "checker/devices/simt/simt_counters.h"
#include "checker/devices/simt/simt_estimate.h"
#include "checker/devices/simt/simt_traffic.h"
#include "checker/judge/describe.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/api/lifecycle.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/intrinsics/float_atomics.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/host_tensors.h"

namespace checker {
namespace {

// How many things the calls of a case have made and not destroyed.
class LeftAlive {
  public:
    // After a call: what there is more of than before it, though earlier calls of its shapes must have made all that lasts:
    // the first and, where that only warms up, the second.
    std::vector<Finding> grown(const Call& call) {
        constexpr int kMayMake = 2;
        std::string shapes;
        for (const BufferSpec& spec : shared_specs(call)) {
            shapes += fmt::format("{}+{}|", spec.dims.text(), spec.misalignment);
        }
        const bool judged = calls_of_[shapes]++ >= kMayMake;
        const std::map<std::string, std::size_t> now = alive();
        std::vector<Finding> findings;
        for (const auto& [what, count] : now) {
            if (const std::size_t before = before_[what]; judged && count > before) {
                findings.push_back(
                    {.kind = simt::name_of(simt::Kind::leak),
                     .text =
                         fmt::format("{} more than before the call, though calls of its shapes have been made before: "
                                     "each such call leaves some",
                                     format_count(static_cast<long>(count - before), what)),
                     .details = {fmt::format("alive\t{}", format_count(static_cast<long>(count), what))}});
            }
        }
        before_ = now;
        return findings;
    }

  private:
    static std::map<std::string, std::size_t> alive() {
        const simt::LivingObjects objects = simt::living_objects();
        std::size_t allocations = 0;
        for (const auto& [begin, allocation] : simt::Memory::instance().allocations()) {
            allocations += allocation.freed_at == nullptr ? 1 : 0;
        }
        return {{"graph", objects.graphs},
                {"executable graph", objects.executables},
                {"stream", objects.streams},
                {"event", objects.events},
                {"allocation", allocations}};
    }

    std::map<std::string, int> calls_of_;  // by their shapes
    std::map<std::string, std::size_t> before_;
};

// The processor time that each launch of a sampled call may take.
constexpr double kSampleSeconds = 4;

// What lives as long as a case's calls share buffers.
class DeviceCase {
  public:
    DeviceCase() {
        simt::Streams::instance().name(stream_.get(), "ctx.stream");
        simt::Streams::instance().name(other_stream_.get(), "ctx.stream, another than in other calls,");
    }
    // Returns the memory of the call's buffer of this name: unwritten, unless earlier calls' content stays in it; new if an
    // earlier call had it in another size, as scratch may be, or at another distance from an aligned address.
    DeviceBytes& at(const std::string& name, const Dims& dims, Element element, Before before,
                    std::size_t misalignment = 0) {
        const std::size_t bytes = static_cast<std::size_t>(dims.elements()) * bytes_of(element);
        auto known = memory_.find(name);
        if (known != memory_.end() &&
            (known->second.size() != bytes || address(known->second) % simt::Memory::kAlignment != misalignment)) {
            memory_.erase(known);
            known = memory_.end();
        }
        if (known == memory_.end()) {
            return memory_.emplace(name, allocate_on_device(name, dims, element, misalignment)).first->second;
        }
        name_on_device(known->second.data(), name, dims, element);  // another shape may have as many bytes
        if (before != Before::left) {
            const DeviceBytes fresh(known->second.size());  // nobody has written it
            simt::Memory::instance().copy_marks(address(known->second), address(fresh), fresh.size());
        }
        return known->second;
    }
    // Returns the buffers of a call, whose work belongs in the stream that they name.
    Buffers& buffers(const Call& call) {
        buffers_.set_stream((call.on_other_stream ? other_stream_ : stream_).get());
        return buffers_;
    }
    HostTensors& host_tensors() { return host_tensors_; }
    LeftAlive& left_alive() { return left_alive_; }

  private:
    static std::uintptr_t address(const DeviceBytes& memory) { return reinterpret_cast<std::uintptr_t>(memory.data()); }

    std::map<std::string, DeviceBytes> memory_;
    HostTensors host_tensors_;
    LeftAlive left_alive_;
    DeviceWorkspaces workspaces_;
    const Stream stream_{cudaStreamNonBlocking}, other_stream_{cudaStreamNonBlocking};
    Buffers buffers_{&workspaces_, stream_.get()};
};

Finding described(const simt::DeviceFinding& seen) {
    Finding finding{.kind = simt::name_of(seen.kind), .text = seen.text, .details = {}};
    if (seen.kind == simt::Kind::race) {
        finding.details = {"one\t" + seen.details[0], "other\t" + seen.details[1], "why\t" + seen.details[2],
                           (seen.kernel.empty() ? "again\t" : "in\t") + simt::again_text(seen)};
        return finding;
    }
    if (!seen.line.file.empty()) {
        finding.details.push_back(fmt::format("at\t{}{}", simt::text_with_caller(seen.line),
                                              seen.kernel.empty() ? "" : " in " + seen.kernel));
    }
    if (seen.kind == simt::Kind::leak && seen.count > 1) {
        finding.details.push_back(fmt::format("made\t{} times", seen.count));
    }
    if (!seen.thread.empty()) {
        finding.details.push_back("thread\t" + seen.thread +
                                  (seen.count > 1 ? fmt::format("; {} times in all", seen.count) : ""));
    }
    return finding;
}

// The lines that add floats atomically: "encoder.cu:31, encoder.cu:40", three at most.
std::string float_atomics_text() {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> lines;
    for (const simt::SourceLine& line : simt::float_atomics()) {
        lines.push_back(std::filesystem::path(line.file).filename().string() + ':' + std::to_string(line.line));
    }
    lines.resize(std::min(lines.size(), kShown));
    return fmt::format("{}", fmt::join(lines, ", "));
}

std::vector<Finding> described_findings() {
    std::vector<Finding> findings;
    for (const simt::DeviceFinding& seen : simt::findings()) { findings.push_back(described(seen)); }
    return findings;
}

// What an exception says that a library's status gave rise to, and why the library refused the call.
std::string with_reason(std::string error) {
    const std::string refusal = simt::take_refusal();
    return refusal.empty() || error.find("CUBLAS_STATUS_") == std::string::npos ? error : error + ". " + refusal;
}

// The device's memory is open.
void fetch_sampled(const DeviceBuffer<std::byte>& output, Element element, SampledElements& sampled) {
    const std::size_t size = bytes_of(element);
    const simt::WrittenElements written = simt::written_elements(output.data(), size, SampledElements::kMost);
    std::vector<std::byte> bytes(written.some.size() * size);
    for (std::size_t i = 0; i < written.some.size(); i++) {
        std::memcpy(&bytes[i * size], output.data() + written.some[i] * size, size);
    }
    const Decoded decoded = decode(bytes, element);
    sampled.count = 0;
    for (const std::size_t at : written.some) {
        sampled.written[sampled.count] = {static_cast<std::int64_t>(at), decoded.values[sampled.count]};
        sampled.count++;
    }
    sampled.all_written = written.all;
    sampled.blocks = sampled.blocks_run = 1;
    sampled.blocks_cut = 0;
    for (const simt::SampledLaunch& launch : simt::sampled_launches()) {
        const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
        sampled.blocks_cut += launch.cut;
        if (blocks * sampled.blocks_run > sampled.blocks * launch.blocks.size()) {
            sampled.blocks = blocks;
            sampled.blocks_run = launch.blocks.size();
        }
    }
}

// What a call has left open takes in nothing of the checker's.
void end_captures() {
    simt::Captures::instance().report_left();
    simt::Captures::instance().abandon_all();
}

// Returns the use that the op is to make of a buffer of shared_specs.
simt::BufferUse use_of(const Call& call, std::size_t buffer) {
    const BufferSpec spec = shared_specs(call)[buffer];
    simt::BufferUse use{.is_input = spec.role == Role::input, .is_output = spec.role == Role::output};
    if (!call.sampled && buffer >= call.inputs.size()) {
        const Output& output = call.outputs[buffer - call.inputs.size()];
        use.columns = !output.zero_in_padding && !output.stays_untouched ? output.columns : -1;
    }
    return use;
}

// Returns the shape in which findings count scratch: the tensors of floats that it holds, or bytes.
std::pair<Dims, Element> shape_of_scratch(const Scratch& scratch, std::size_t bytes) {
    const std::size_t tensor = static_cast<std::size_t>(scratch.dims.elements()) * sizeof(float);
    if (scratch.dims.rank() == 0 || tensor == 0 || bytes == 0 || bytes % tensor != 0) {
        return {Dims("bytes/i", {static_cast<long>(bytes)}), Element::byte};
    }
    std::string names;
    std::vector<long> sizes;
    if (bytes > tensor) {
        names = "tensors/tensor ";
        sizes.push_back(static_cast<long>(bytes / tensor));
    }
    for (std::size_t axis = 0; axis < scratch.dims.rank(); axis++) {
        names += (axis == 0 ? "" : " ") + scratch.dims.name(axis) + '/' + scratch.dims.index_name(axis);
        sizes.push_back(scratch.dims.size(axis));
    }
    return {Dims(names, sizes), Element::f32};
}

// Nobody has written what the op reads, and blocks that are not run have not written what others read.
bool is_unwritten(const Call& call) {
    return call.sampled && !call.sampled->expected;
}

// Returns true if none of the counter is allowed in the call. A fixed grid, whose threads go on by the grid's size, has idle
// blocks at a small shape only. An op may wait where it makes what it keeps, and where it leaves something in the host's
// memory.
bool allows_none(const Counter& counter, const Call& call) {
    constexpr std::size_t kLarge = std::size_t{1} << 20;  // bytes
    switch (counter.judged_in) {
        case JudgedIn::all_calls:
            return true;
        case JudgedIn::large_calls:
            return bytes_of(call) >= kLarge;
        case JudgedIn::warm_calls:
            return call.is_warm && !ends_on_host(call);
        case JudgedIn::no_calls:
            break;
    }
    return false;
}

// Returns what the call has taken of the counters that it has a need of, and of those of which none is allowed and some was.
std::vector<CounterResult> counted_of(const Call& call, const CountingCall& counting) {
    std::vector<Needed> needed = call.needed;
    for (const Counter& counter : simt_counters()) {
        if (allows_none(counter, call) && std::ranges::find(needed, counter.name, &Needed::counter) == needed.end()) {
            needed.push_back({std::string(counter.name)});
        }
    }
    std::vector<CounterResult> counted = counting.of(needed);
    const auto added = counted.begin() + static_cast<std::ptrdiff_t>(call.needed.size());
    counted.erase(std::remove_if(added, counted.end(), [](const CounterResult& one) { return one.value == 0; }),
                  counted.end());
    return counted;
}

// Outputs in the host's memory are pinned while this lives: copies to them may return before they have ended.
class PinnedOutputs {
  public:
    explicit PinnedOutputs(std::vector<std::span<std::byte>> outputs) : outputs_(std::move(outputs)) {
        for (const std::span<std::byte> output : outputs_) { simt::register_memory(output.data(), output.size()); }
    }
    ~PinnedOutputs() {
        for (const std::span<std::byte> output : outputs_) { simt::unregister_memory(output.data()); }
    }
    PinnedOutputs(const PinnedOutputs&) = delete;
    PinnedOutputs& operator=(const PinnedOutputs&) = delete;

  private:
    std::vector<std::span<std::byte>> outputs_;
};

// Where the run counts, launches are not searched for races.
Reply run_on_device(const CallRun& run, DeviceCase& running, std::vector<Finding>& findings) {
    const Call& call = run.call();
    const MemoryFile shared(dup(kWorkerMemory));
    const std::vector<BufferSpec> specs = shared_specs(call);
    const std::vector<BufferSlot> slots = run.slots();
    std::vector<std::byte*> memory;
    Buffers& buffers = running.buffers(call);
    running.host_tensors().initialise(run, shared, buffers);
    std::optional<PinnedOutputs> pinned;
    if (run.schedule == Schedule::start_aligned) {  // a caller's memory may be either
        pinned.emplace(running.host_tensors().outputs());
    }
    for (std::size_t i = 0; i < specs.size(); i++) {
        if (specs[i].on_host) {
            memory.push_back(nullptr);
            continue;
        }
        const Before holds = before(call, i);
        memory.push_back(
            running.at(specs[i].name, specs[i].dims, specs[i].element, holds, specs[i].misalignment).data());
        simt::name_use(memory.back(), use_of(call, i));
        const std::span<const std::byte> host = shared.data(slots[i]);
        if (holds == Before::values) {
            check(cudaMemcpy(memory.back(), host.data(), host.size(), cudaMemcpyHostToDevice));
        } else if (holds == Before::poison) {  // the poison is there, but counts as written by nobody
            const simt::OpenMemory open;
            std::memcpy(memory.back(), host.data(), host.size());
        }
        buffers.add(specs[i].name, specs[i].element, memory.back());
    }
    for (const std::string& name : call.null) { buffers.add_null(name); }
    std::optional<DeviceBytes> sampled;
    std::optional<simt::SamplingBlocks> sampling;
    if (call.sampled) {
        const BufferSpec& spec = call.sampled->output;
        sampled.emplace(allocate_on_device(spec.name, spec.dims, spec.element));
        simt::name_use(sampled->data(), {.is_output = true});
        buffers.add(spec.name, spec.element, sampled->data());
        sampling.emplace(simt::Sampling{.others = call.sampled->blocks,
                                        .seed = run.schedule == Schedule::end_aligned ? 1U : 2U,
                                        .seconds = kSampleSeconds});
    }
    std::optional<CountingCall> counting;
    if (run.counts) {
        counting.emplace();
    }
    for (const Scratch& scratch : call.scratch) {
        const auto [dims, element] = shape_of_scratch(scratch, scratch_bytes(scratch, run.library, is_unwritten(call)));
        buffers.add(scratch.name, Element::byte, running.at(scratch.name, dims, element, Before::poison).data());
    }
    static_cast<void>(cudaDeviceSynchronize());  // ctx.stream does not wait for the copies
    if (counting) {
        counting->op_begins();
    }
    static_cast<void>(simt::take_unchecked_launch());
    call.run(run.library, buffers);
    if (counting) {
        counting->host_is_done();
    }
    const std::optional<simt::SourceLine> unchecked = simt::take_unchecked_launch();
    running.host_tensors().fetch(shared);
    end_captures();                                              // what follows is no part of one
    static_cast<void>(cudaStreamSynchronize(buffers.stream()));  // the work runs now; its error is looked at below
    if (const simt::OperationPointer left = simt::Streams::instance().first_pending()) {
        findings.push_back(
            {.kind = "stream",
             .text = (left->name.empty() ? "some work" : left->name) +
                     (ends_on_host(call) ? " has not run when the call returns: wait for its stream first"
                                         : " is not in ctx.stream: when that is done, it has not run"),
             .details = {}});
        for (const simt::SourceLine* line : {&left->launch, &left->call}) {
            if (!line->file.empty()) {
                findings.back().details.push_back(fmt::format("at\t{}:{}", line->file, line->line));
            }
        }
    }
    static_cast<void>(cudaDeviceSynchronize());
    std::ranges::move(running.host_tensors().written_late(shared), std::back_inserter(findings));
    Reply reply;
    if (counting) {
        put_counted(reply, counted_of(call, *counting));
        reply.bytes_asked = counting->of({{"bytes_asked"}}).front().value;
        reply.api_calls = counting->of({{"api_calls"}}).front().value;
    }
    simt::report_unchecked_error();
    check(cudaGetLastError());
    if (unchecked && findings.empty() && simt::findings().empty()) {
        findings.push_back({.kind = kUncheckedLaunch,
                            .text = "nobody asks whether this launch was refused: check(cudaGetLastError()) after it",
                            .details = {fmt::format("at\t{}:{}", unchecked->file, unchecked->line)}});
    }
    const simt::OpenMemory open;
    for (std::size_t i = 0; i < specs.size(); i++) {
        const std::span<std::byte> host = shared.data(slots[i]);
        if (specs[i].on_host) {
            continue;
        }
        if (sampled && specs[i].role != Role::input) {
            fetch_sampled(*sampled, call.sampled->output.element, *reinterpret_cast<SampledElements*>(host.data()));
        } else if (specs[i].role != Role::input) {
            std::memcpy(host.data(), memory[i], host.size());
        } else if (std::optional<Finding> changed = find_changed_input(specs[i], host, {memory[i], host.size()})) {
            findings.push_back(std::move(*changed));
        }
    }
    return reply;
}

// The process must end at once: what the device has seen is the answer.
void send_last_reply() {
    Reply reply;
    reply.answer = Answer::exception;
    reply.last = true;
    std::string_view("the process had to end").copy(reply.text, sizeof reply.text - 1);
    put_findings(reply, described_findings());
    [[maybe_unused]] const ssize_t sent = send(kWorkerSocket, &reply, sizeof reply, MSG_NOSIGNAL);
}

class SimtBackend final : public DeviceBackend {
  public:
    std::string name() const override { return "CPU device"; }

    bool runs_two_schedules() const override { return true; }
    bool samples_blocks() const override { return true; }

    void start() override {
        simt::report_at_exit(false);
        setenv("SIMT_TIME_LIMIT", "20", 0);  // before the worker is ended, so that the line is known
        simt::hand_on_at_fatal_finding(send_last_reply);
    }

    bool focus_launch_is_over() const override { return simt::focus_launch_is_over(); }

    int show_traffic(const Lesson& lesson, const Options& options) override {
        return checker::show_traffic(*this, lesson, options);
    }

    int show_estimate(const Lesson& lesson, const Options& options) override {
        return checker::show_estimate(lesson, options);
    }

    std::vector<Counter> counters() const override { return simt_counters(); }

    Reply run(const CallRun& run) override {
        const Call& call = run.call();
        if (run.begins()) {
            end_case();
            running_.emplace();
        }
        simt::forget_findings();
        simt::forget_float_atomics();
        simt::take_refusal();
        simt::set_seed(run.schedule == Schedule::end_aligned ? 1 : 2);
        std::vector<Finding> changed;
        Reply reply;
        try {
            reply = run_on_device(run, running_.value(), changed);
        } catch (const OutOfMemory& error) {
            reply = make_reply(Answer::out_of_memory, error.what());
        } catch (const LeftChanged& error) { reply = reply_of(error); } catch (const std::exception& error) {
            reply = make_reply(Answer::exception, with_reason(error.what()));
        }
        end_captures();  // where the call threw
        std::ranges::move(running_->left_alive().grown(call), std::back_inserter(changed));
        if (run.ends()) {
            running_.reset();
            simt::report_leaks();
        }
        std::vector<Finding> findings = described_findings();
        if (is_unwritten(call)) {
            std::erase_if(findings, [](const Finding& finding) {
                return finding.kind == simt::name_of(simt::Kind::uninitialised);
            });
        }
        for (Finding& finding : findings) {
            if (finding.kind == simt::name_of(simt::Kind::null_pointer) && !call.null.empty()) {
                finding.text += fmt::format(": {} is null in this call", fmt::join(call.null, " and "));
            }
        }
        if (const std::string refusal = simt::take_refusal(); !refusal.empty() && !findings.empty()) {
            findings.front().details.push_back("earlier\t" +
                                               refusal);  // what it did not compute may be what is missing
        }
        // What ran in another stream explains most of what was seen of it.
        const auto first =
            std::ranges::find(changed, "stream", &Finding::kind) != changed.end() ? findings.begin() : findings.end();
        findings.insert(first, std::move_iterator(changed.begin()), std::move_iterator(changed.end()));
        put_findings(reply, findings);
        simt::early_exits().copy(reply.early_exits, sizeof reply.early_exits - 1);
        float_atomics_text().copy(reply.float_atomics, sizeof reply.float_atomics - 1);
        if (run.ends()) {
            static_cast<void>(cudaDeviceReset());  // frees what leaked
        }
        reply.last = simt::has_sticky_error();
        return reply;
    }

    void end_case() override {
        if (running_) {
            running_.reset();
            static_cast<void>(cudaDeviceReset());
        }
    }

  private:
    std::optional<DeviceCase> running_;
};

}  // namespace

DeviceBackend& device_backend() {
    static SimtBackend side;
    // Ends the program, with a line that says why, where the system gives no room: before anybody's code is judged.
    static_cast<void>(simt::Memory::instance());
    return side;
}

}  // namespace checker
