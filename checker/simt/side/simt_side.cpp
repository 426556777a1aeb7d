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
#include <optional>
#include <vector>

#include "checker/gpu/device.h"
#include "checker/judge/describe.h"
#include "checker/simt/runtime/chosen.h"
#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/float_atomics.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/sampling.h"
#include "checker/simt/runtime/state.h"
#include "checker/simt/side/simt_counters.h"
#include "checker/simt/side/simt_traffic.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/device_side.h"

namespace checker {
namespace {

using DeviceBytes = DeviceBuffer<std::byte>;

simt::Values values_of(Element element) {
    switch (element) {
        case Element::f32:
            return simt::Values::floats;
        case Element::i32:
            return simt::Values::integers;
        case Element::byte:
            break;
    }
    return simt::Values::unknown;
}

DeviceBytes allocate(const std::string& name, const Dims& dims, Element element) {
    DeviceBytes memory(static_cast<std::size_t>(dims.elements()) * bytes_of(element));
    simt::name_buffer(memory.data(), name, dims, bytes_of(element), values_of(element));
    return memory;
}

Finding described(const simt::Finding& seen) {
    Finding finding{.kind = simt::name_of(seen.kind), .text = seen.text, .details = {}};
    if (seen.kind == simt::Kind::race) {
        finding.details = {"one\t" + seen.details[0], "other\t" + seen.details[1], "why\t" + seen.details[2],
                           (seen.kernel.empty() ? "again\t" : "in\t") + simt::again_text(seen)};
        return finding;
    }
    if (!seen.line.file.empty()) {
        finding.details.push_back(fmt::format("at\t{}:{}{}", seen.line.file, seen.line.line,
                                              seen.kernel.empty() ? "" : " in " + seen.kernel));
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
    for (const simt::Finding& seen : simt::findings()) { findings.push_back(described(seen)); }
    return findings;
}

// The device's memory is open.
void fetch_sampled(const DeviceBuffer<std::byte>& output, SampledElements& sampled) {
    const auto* const values = reinterpret_cast<const float*>(output.data());
    sampled.count = 0;
    for (const std::size_t element : simt::written_elements(values, sizeof(float), SampledElements::kMost)) {
        sampled.written[sampled.count++] = {static_cast<std::int64_t>(element), values[element]};
    }
}

// With `counts` launches are not searched for races.
Reply run_on_device(const Call& call, const Library& library, Schedule schedule, bool counts,
                    std::vector<Finding>& findings) {
    const SharedMemory shared(dup(kWorkerMemory));
    const std::vector<BufferSpec> specs = shared_specs(call);
    const std::vector<Placement> placements = place(specs, schedule);
    std::vector<DeviceBytes> memory;
    Buffers buffers;
    for (std::size_t i = 0; i < specs.size(); i++) {
        memory.push_back(allocate(specs[i].name, specs[i].dims, specs[i].element));
        const std::span<const std::byte> host = shared.data(placements[i]);
        if (specs[i].role == Role::input) {
            check(cudaMemcpy(memory.back().data(), host.data(), host.size(), cudaMemcpyHostToDevice));
        } else {  // the poison is there, but counts as written by nobody
            const simt::OpenMemory open;
            std::memcpy(memory.back().data(), host.data(), host.size());
        }
        buffers.add(specs[i].name, specs[i].element, memory.back().data());
    }
    for (const Scratch& scratch : call.scratch) {
        const auto bytes = static_cast<long>(scratch_bytes(scratch, library));
        memory.push_back(allocate(scratch.name, Dims("bytes/i", {bytes}), Element::byte));
        buffers.add(scratch.name, Element::byte, memory.back().data());
    }
    std::optional<simt::SamplingBlocks> sampling;
    if (call.sampled) {
        const BufferSpec& spec = call.sampled->output;
        memory.push_back(allocate(spec.name, spec.dims, spec.element));
        buffers.add(spec.name, spec.element, memory.back().data());
        sampling.emplace(
            simt::Sampling{.others = call.sampled->blocks, .seed = schedule == Schedule::end_aligned ? 1U : 2U});
    }
    std::optional<CountingCall> counting;
    if (counts) {
        counting.emplace();
    }
    call.run(library, buffers);
    if (counting) {
        counting->host_is_done();
    }
    static_cast<void>(cudaDeviceSynchronize());  // the work runs now; its error is looked at below
    Reply reply;
    if (counting) {
        put_counted(reply, counting->of(call.needed));
    }
    simt::report_unchecked_error();
    check(cudaGetLastError());
    const simt::OpenMemory open;
    for (std::size_t i = 0; i < specs.size(); i++) {
        const std::span<std::byte> host = shared.data(placements[i]);
        if (call.sampled && specs[i].role != Role::input) {
            fetch_sampled(memory.back(), *reinterpret_cast<SampledElements*>(host.data()));
        } else if (specs[i].role != Role::input) {
            std::memcpy(host.data(), memory[i].data(), host.size());
        } else if (std::optional<Finding> changed =
                       find_changed_input(specs[i], host, {memory[i].data(), memory[i].size()})) {
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

class SimtSide final : public DeviceSide {
  public:
    std::string name() const override { return "CPU device"; }

    bool takes_two_orders() const override { return true; }
    bool samples_blocks() const override { return true; }

    bool broken() const override { return simt::has_sticky_error(); }

    void start() override {
        simt::report_at_exit(false);
        simt::hand_on_at_fatal_finding(send_last_reply);
    }

    bool chosen_launch_is_over() const override { return simt::chosen_launch_is_over(); }

    int show_traffic(const Lesson& lesson, const Options& options) override {
        return checker::show_traffic(*this, lesson, options);
    }

    Reply run(const Call& call, const Library& library, Schedule schedule) override {
        return run(call, library, schedule, false);
    }

    std::vector<Counter> counters() const override { return simt_counters(); }

    Reply count(const Call& call, const Library& library) override {
        return run(call, library, Schedule::end_aligned, true);
    }

  private:
    Reply run(const Call& call, const Library& library, Schedule schedule, bool counts) const {
        simt::forget_findings();
        simt::forget_float_atomics();
        simt::set_seed(schedule == Schedule::end_aligned ? 1 : 2);
        std::vector<Finding> changed;
        Reply reply;
        try {
            reply = run_on_device(call, library, schedule, counts, changed);
        } catch (const std::exception& error) {
            reply.answer = Answer::exception;
            std::string_view(error.what()).copy(reply.text, sizeof reply.text - 1);
        }
        simt::report_leaks();
        std::vector<Finding> findings = described_findings();
        for (Finding& finding : findings) {
            if (finding.kind == simt::name_of(simt::Kind::null_pointer) && !call.null.empty()) {
                finding.text += fmt::format(": {} is null in this call", fmt::join(call.null, " and "));
            }
        }
        std::ranges::move(changed, std::back_inserter(findings));
        put_findings(reply, findings);
        float_atomics_text().copy(reply.float_atomics, sizeof reply.float_atomics - 1);
        static_cast<void>(cudaDeviceReset());  // frees what leaked
        reply.last = broken();
        return reply;
    }
};

}  // namespace

DeviceSide* device_side() {
    static SimtSide side;
    // Ends the program, with a line that says why, where the system gives no room: before anybody's code is judged.
    static_cast<void>(simt::Memory::instance());
    return &side;
}

}  // namespace checker
