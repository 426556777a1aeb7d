// SPDX-License-Identifier: MIT
//
// A GPU as the side that a lesson's kernels run on, by the CUDA runtime. Compiled for the CPU device instead, it rehearses
// itself: the same code where no GPU is.
//
// A GPU sees less than the CPU device does. Every buffer lies between guard bands, everything that is no input is
// poisoned, also the pinned memory that an op allocates, and after a call the guards and the inputs are compared with what
// they were.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <vector>

#include "checker/base/text.h"
#include "checker/device.h"
#include "checker/device_order.h"
#include "checker/devices/gpu/cupti.h"
#include "checker/devices/gpu/event_stopwatch.h"
#include "checker/devices/gpu/gpu_launch.h"
#include "checker/devices/gpu/gpu_libraries.h"
#include "checker/judge/describe.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/host_tensors.h"
#ifdef __SIMT__
#include "checker/devices/simt/dry_run.h"
#endif

namespace checker {
namespace {

#ifdef __SIMT__
constexpr bool kDryRun = true;
#else
constexpr bool kDryRun = false;
#endif

// ---- pinned memory -------------------------------------------------------------------------------------------------

// The schedule whose poison fresh pinned memory holds: the running case's.
Schedule pinned_schedule = Schedule::end_aligned;

#ifndef __SIMT__
// Poisons memory that the runtime has just allocated. A driver hands out zeros, which are tokens: what an op forgets to
// write there would go unseen.
cudaError_t poisoned(cudaError_t status, void* const* memory, std::size_t bytes) {
    if (status == cudaSuccess && *memory != nullptr) {
        fill_with_poison({static_cast<std::byte*>(*memory), bytes}, Element::f32, pinned_schedule);
    }
    return status;
}

// Returns the function of this name that this program's own definition hides: the CUDA runtime's.
template <class Function>
Function* of_runtime(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#endif

// ---- one call ------------------------------------------------------------------------------------------------------

// Throws OutOfMemory if the card has less than `bytes` of memory left.
DeviceBuffer<std::byte> allocate_or_throw(std::size_t bytes) {
    try {
        return DeviceBuffer<std::byte>(std::max<std::size_t>(bytes, 1));
    } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation) {
            throw;
        }
    }
    const MemoryLeft left = memory_left();
    throw OutOfMemory(fmt::format("it wants {} more of the card's memory, of which {} is free (the card has {})",
                                  gib(bytes), gib(left.free), gib(left.all)));
}

// Far enough for a row or two beside the data of the cases' shapes.
constexpr std::size_t kGuardBytes = std::size_t{64} << 10;

// A buffer on the device between guard bands, and the host's picture of both.
class GuardedBuffer {
  public:
    // Throws OutOfMemory.
    GuardedBuffer(BufferSpec spec, Schedule schedule)
        : spec_(std::move(spec)),
          schedule_(schedule),
          place_{.mapped_bytes = kGuardBytes + (spec_.bytes() + 63) / 64 * 64 + kGuardBytes,
                 .data_offset = kGuardBytes + spec_.misalignment,
                 .bytes = spec_.bytes(),
                 .element = spec_.element},
          picture_(place_.mapped_bytes),
          device_(allocate_or_throw(place_.mapped_bytes)) {
        poison();
    }

    // For another call of the sequence, in which it may have another role.
    void use_as(const BufferSpec& spec) { spec_ = spec; }

    void poison() {
        fill_with_poison(picture_, spec_.element, schedule_);
        show();
    }
    void set(std::span<const std::byte> content) {
        std::ranges::copy(content, picture_.begin() + static_cast<std::ptrdiff_t>(place_.data_offset));
        show();
    }

    const BufferSpec& spec() const { return spec_; }
    std::byte* data() const { return device_.data() + place_.data_offset; }

    // Brings the device's state here; what should not have changed and did is a finding.
    std::optional<Finding> fetch() {
        std::vector<std::byte> now(picture_.size());
        check(cudaMemcpy(now.data(), device_.data(), now.size(), cudaMemcpyDeviceToHost));
        const GuardViolation guard_violation = find_guard_violation(now, place_, schedule_);
        std::optional<Finding> finding;
        if (spec_.role == Role::input) {
            finding = find_changed_input(spec_, data_in(picture_), data_in(now));
        }
        picture_ = std::move(now);
        return guard_violation.found ? describe_guard_violation(spec_, guard_violation.offset) : finding;
    }
    std::span<const std::byte> fetched() const { return data_in(picture_); }

  private:
    std::span<const std::byte> data_in(const std::vector<std::byte>& region) const {
        return std::span(region).subspan(place_.data_offset, place_.bytes);
    }
    void show() { check(cudaMemcpy(device_.data(), picture_.data(), picture_.size(), cudaMemcpyHostToDevice)); }

    BufferSpec spec_;
    Schedule schedule_;
    BufferSlot place_;
    std::vector<std::byte> picture_;
    DeviceBuffer<std::byte> device_;
};

// An output that the host has no room for, between guard bands. 0xFF is the poison: NaN in every floating-point element.
class LargeOutput {
  public:
    // Throws OutOfMemory.
    explicit LargeOutput(BufferSpec spec) : spec_(std::move(spec)), device_(allocate(spec_.bytes())) {
        check(cudaMemset(device_.data(), kPoison, device_.bytes()));
    }

    const BufferSpec& spec() const { return spec_; }
    std::byte* data() const { return device_.data() + kGuardBytes; }

    std::optional<Finding> guard_violation() const {
        std::vector<std::uint8_t> guard(kGuardBytes);
        for (const bool behind : {false, true}) {
            const std::size_t at = behind ? kGuardBytes + spec_.bytes() : 0;
            check(cudaMemcpy(guard.data(), device_.data() + at, guard.size(), cudaMemcpyDeviceToHost));
            const auto written = std::ranges::find_if(guard, [](std::uint8_t byte) { return byte != kPoison; });
            if (written != guard.end()) {
                return describe_guard_violation(
                    spec_, static_cast<long>(at) + (written - guard.begin()) - static_cast<long>(kGuardBytes));
            }
        }
        return std::nullopt;
    }

    // Runs of neighbours, half of them from all of it, half from its last 250,000 elements.
    void sample(SampledElements& to) const {
        constexpr long kRun = 256, kRuns = 64, kEnd = 250'000;
        static_assert(kRun * kRuns <= static_cast<long>(SampledElements::kMost));
        const long elements = spec_.dims.elements(), length = std::min(kRun, elements);
        const std::size_t size = bytes_of(spec_.element);
        std::vector<std::byte> bytes(static_cast<std::size_t>(length) * size);
        to.count = 0;
        to.blocks = to.blocks_run = 1;
        to.all_written = static_cast<std::uint64_t>(elements);  // what is not is NaN
        for (long i = 0; i < kRuns; i++) {
            const long within = std::min(i % 2 == 0 ? elements : kEnd, elements) - length;
            const long first = elements - length - within * (i / 2) / (kRuns / 2 - 1);
            check(cudaMemcpy(bytes.data(), data() + static_cast<std::size_t>(first) * size, bytes.size(),
                             cudaMemcpyDeviceToHost));
            const Decoded decoded = decode(bytes, spec_.element);
            for (long k = 0; k < length; k++) {
                to.written[to.count++] = {first + k, decoded.values[static_cast<std::size_t>(k)]};
            }
        }
    }

  private:
    static constexpr std::uint8_t kPoison = 0xFF;

    static DeviceBuffer<std::byte> allocate(std::size_t bytes) { return allocate_or_throw(bytes + 2 * kGuardBytes); }

    BufferSpec spec_;
    DeviceBuffer<std::byte> device_;
};

// What the driver says when it ends a kernel, as the kinds of finding that the CPU device has.
Finding describe_error(cudaError_t status) {
    const auto [kind, text] = [&]() -> std::pair<const char*, const char*> {
        switch (status) {
            case cudaErrorIllegalAddress:
                return {"out_of_bounds", "a kernel read or wrote memory that is not its own"};
            case cudaErrorMisalignedAddress:
                return {"misaligned", "a kernel used an address that is no multiple of the access's size"};
            case cudaErrorInvalidAddressSpace:
                return {"out_of_bounds", "a kernel used an address of the wrong kind of memory"};
            case cudaErrorHardwareStackError:
                return {"stack_overflow", "a thread overran its stack"};
            case cudaErrorAssert:
                return {"assertion", "an assertion in a kernel failed"};
            case cudaErrorIllegalInstruction:
                return {"trap", "a kernel ran into an illegal instruction"};
            case cudaErrorLaunchTimeout:
                return {
                    "spin",
                    "the driver stopped a kernel that did not end in the few seconds that it allows under WSL2, and "
                    "on a card with a display"};
            default:
                return {"crash", "the device stopped a kernel"};
        }
    }();
    return {.kind = kind,
            .text = fmt::format("{} ({})", text, cudaGetErrorName(status)),
            .details = {"where\ta GPU does not say: " + on_cpu("the lesson's check with DEVICE=cpu") +
                        " names line and thread"}};
}

// What mends an error that no kernel makes; nullptr where one may.
#ifdef __SIMT__
const char* mend_of_the_machine(cudaError_t) {
    return nullptr;
}
#else
const char* mend_of_the_machine(cudaError_t status) {
    switch (status) {
        case cudaErrorInsufficientDriver:
            return "the driver is older than nvcc's toolkit: make doctor says which goes with which";
        case cudaErrorDevicesUnavailable:
            return "another program may have the card for itself: nvidia-smi names it";
        case cudaErrorECCUncorrectable:
            return "the card's memory is at fault, and no kernel: nvidia-smi -q -d ECC says where; restart the machine";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion:
            return "what was built is for another card or driver: rm -r build/gpu, and the same command builds it anew";
        case cudaErrorSystemNotReady:
            return "a machine whose cards are joined by NVSwitch needs its fabric manager: systemctl status "
                   "nvidia-fabricmanager";
        case cudaErrorSystemDriverMismatch:
            return "the driver was updated under the running system: restart the machine";
        default:
            return nullptr;
    }
}
#endif

std::string no_gpu(cudaError_t status, const char* mend) {
    return fmt::format("no GPU can be used: {} ({}); {}", cudaGetErrorString(status), cudaGetErrorName(status), mend);
}

// Two CUDA runtimes run kernels in one context, and each has its own last error: a launch that one refused, the other knows
// nothing of.
struct TwoRuntimes : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws TwoRuntimes.
void require_one_runtime() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
            const std::string path = info->dlpi_name;
            if (path.substr(path.rfind('/') + 1).starts_with("libcudart.so")) {
                static_cast<std::vector<std::string>*>(found)->push_back(path);
            }
            return 0;
        },
        &paths);
    if (paths.size() > 1) {
        throw TwoRuntimes(
            fmt::format("two CUDA runtimes in one process, {} and {}: build/gpu was built by two toolkits; rm -r "
                        "build/gpu, and the "
                        "same command builds it anew",
                        paths[0], paths[1]));
    }
}

BufferSpec bytes_spec(std::string name, std::size_t bytes) {
    return {std::move(name), Role::scratch, Element::byte, Dims("bytes/i", {static_cast<long>(bytes)})};
}

// What lives as long as a case's calls share buffers: tensors and scratch by name, and the workspaces of the Context.
class GpuCase final : public Allocator {
  public:
    explicit GpuCase(Schedule schedule) : schedule_(schedule) {}

    // Returns the buffer of this name, a new one if an earlier call had it in another size, as scratch may be, or at another
    // distance from an aligned address.
    GuardedBuffer& at(const BufferSpec& spec) {
        if (const auto known = memory_.find(spec.name);
            known != memory_.end() &&
            (known->second.spec().bytes() != spec.bytes() || known->second.spec().misalignment != spec.misalignment)) {
            memory_.erase(known);
        }
        GuardedBuffer& buffer = memory_.try_emplace(spec.name, spec, schedule_).first->second;
        buffer.use_as(spec);
        return buffer;
    }
    // Returns the buffers of a call, whose work belongs in the stream that they name.
    Buffers& buffers(const Call& call) {
        buffers_.set_stream((call.on_other_stream ? other_stream_ : stream_).get());
        return buffers_;
    }
    HostTensors& host_tensors() { return host_tensors_; }

    std::byte* allocate(std::size_t bytes) override {
        workspaces_.emplace_back(bytes_spec("workspace", bytes), schedule_);
        check(cudaStreamSynchronize(cudaStreamLegacy));  // ctx.stream does not wait for its poison
        return workspaces_.back().data();
    }
    void release(std::byte* memory) override {
        workspaces_.remove_if([&](const GuardedBuffer& buffer) { return buffer.data() == memory; });
    }
    // What was written beside a workspace.
    void look_at_workspaces(std::vector<Finding>& findings) {
        for (GuardedBuffer& workspace : workspaces_) {
            if (std::optional<Finding> finding = workspace.fetch()) {
                findings.push_back(std::move(*finding));
            }
        }
    }

  private:
    Schedule schedule_;
    std::map<std::string, GuardedBuffer> memory_;
    HostTensors host_tensors_;
    std::list<GuardedBuffer> workspaces_;
    const Stream stream_{cudaStreamNonBlocking}, other_stream_{cudaStreamNonBlocking};
    Buffers buffers_{this, stream_.get()};  // destroyed first: what it keeps gives its workspace back
};

std::vector<Finding> run_on_gpu(const CallRun& run, GpuCase& running) {
    const Call& call = run.call();
    const MemoryFile shared(dup(kWorkerMemory));
    const std::vector<BufferSpec> specs = shared_specs(call);
    const std::vector<BufferSlot> slots = run.slots();
    std::vector<GuardedBuffer*> memory;  // as specs; null: of the host
    Buffers& buffers = running.buffers(call);
    running.host_tensors().initialise(run, shared, buffers);
    for (std::size_t i = 0; i < specs.size(); i++) {
        if (specs[i].on_host) {
            memory.push_back(nullptr);
            continue;
        }
        memory.push_back(&running.at(specs[i]));
        if (before(call, i) != Before::left) {
            memory.back()->set(shared.data(slots[i]));
        }
        buffers.add(specs[i].name, specs[i].element, memory.back()->data());
    }
    for (const Scratch& scratch : call.scratch) {
        memory.push_back(&running.at(bytes_spec(scratch.name, scratch_bytes(scratch, run.library))));
        memory.back()->poison();
        buffers.add(scratch.name, Element::byte, memory.back()->data());
    }
    for (const std::string& name : call.null) { buffers.add_null(name); }

    std::optional<LargeOutput> large;
    if (call.sampled) {
        large.emplace(call.sampled->output);
        buffers.add(large->spec().name, large->spec().element, large->data());
    }

    check(cudaDeviceSynchronize());  // ctx.stream does not wait for the copies
    call.run(run.library, buffers);
    running.host_tensors().fetch(shared);
    std::vector<Finding> findings;
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
        findings.push_back({.kind = "unchecked_error",
                            .text = fmt::format("a launch was refused, and nobody looked: {} ({})",
                                                cudaGetErrorString(status), cudaGetErrorName(status))});
    }
    check(cudaStreamSynchronize(buffers.stream()));
    if (cudaStreamQuery(cudaStreamLegacy) == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());  // an answer, not an error
        findings.push_back(
            {.kind = "stream",
             .text = "work in the default stream is not done when ctx.stream is: launch it in ctx.stream"});
    }
    check(cudaDeviceSynchronize());
    std::ranges::move(running.host_tensors().written_late(shared), std::back_inserter(findings));
    for (std::size_t i = 0; i < memory.size(); i++) {
        if (memory[i] == nullptr) {
            continue;
        }
        if (std::optional<Finding> finding = memory[i]->fetch()) {
            findings.push_back(std::move(*finding));
        }
        if (i < specs.size() && specs[i].role != Role::input && !large) {
            std::ranges::copy(memory[i]->fetched(), shared.data(slots[i]).begin());
        }
    }
    running.look_at_workspaces(findings);
    if (large) {
        if (std::optional<Finding> finding = large->guard_violation()) {
            findings.push_back(std::move(*finding));
        }
        large->sample(*reinterpret_cast<SampledElements*>(shared.data(slots.back()).data()));
    }
    return findings;
}

// ---- timing --------------------------------------------------------------------------------------------------------

std::size_t l2_bytes() {
    int device = 0;
    int bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
    return static_cast<std::size_t>(bytes);
}

class GpuBench final : public Bench {
  public:
    GpuBench()
        : sum_(1),
          clock_(16),
          // Four times what L2 holds, in whole tiles.
          other_tiles_(std::max(kLeastOther, kDryRun ? 0 : 4 * l2_bytes()) / kTileBytes + 1),
          other_(other_tiles_ * kTileBytes) {
        check(cudaMemset(other_.data(), 0, other_.bytes()));
    }

    std::byte* allocate(std::size_t bytes) override {
        std::byte* const memory = reserve(bytes);
        poison(memory, bytes, Element::byte, Schedule::end_aligned);
        return memory;
    }

    void fill(std::byte* to, std::size_t bytes, const std::function<void(std::span<std::byte>)>& draw) override {
        std::vector<std::byte> content(bytes);
        draw(content);
        check(cudaMemcpy(to, content.data(), bytes, cudaMemcpyHostToDevice));
        wait_for_legacy_stream();
    }

    void copy_content(std::byte* to, const std::byte* from, std::size_t bytes) override {
        check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
        wait_for_legacy_stream();
    }

    void fetch(std::span<std::byte> to, const std::byte* from) override {
        check(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
    }

    Stopwatch& stopwatch() override { return stopwatch_; }
    int late() const override { return kDryRun ? 0 : stopwatch_.late(); }
    BusyStopwatch& busy() override {
        if (!busy_) {
            busy_ = std::make_unique<CuptiStopwatch>();
        }
        return *busy_;
    }

    TimingOptions options(double seconds, int samples) const override {
        TimingOptions options = device_options(seconds, samples);
        if (kDryRun) {
            options.enough_samples = options.fewest_samples;
            options.max_seconds = seconds;
            options.last_seconds = 20;  // it waits for its samples where the machine stalls
        }
        return options;
    }

    std::byte* allocate_copy(const std::byte* of, std::size_t bytes) override {
        std::byte* const memory = reserve(bytes);
        copy_content(memory, of, bytes);
        return memory;
    }

    // Of the card's memory a quarter may go to what a sample's further calls work on, and as much to copies beside them.
    std::size_t calls_in_a_sample(double seconds, std::size_t bytes) const override {
        return calls_for_a_coarse_clock(seconds, bytes, memory_left().free / 4);
    }

    // The fastest of four ways to copy, by three samples of each.
    Candidate copy(std::size_t bytes, std::size_t times) override {
        const std::size_t tiles = std::max<std::size_t>((bytes / 2 + kTileBytes - 1) / kTileBytes, 1);
        std::vector<std::pair<std::byte*, const std::byte*>> copies;  // to, from
        for (std::size_t i = 0; i < times; i++) {
            std::byte* const from = reserve(tiles * kTileBytes);
            check(cudaMemset(from, 1, tiles * kTileBytes));
            copies.emplace_back(reserve(tiles * kTileBytes), from);
        }
        std::vector<std::function<void()>> ways;
        for (const int loads : {1, 4}) {
            const std::size_t all = loads == 4 ? tiles : 4 * tiles;  // one block for each
            for (const std::size_t blocks : {static_cast<std::size_t>(resident_copy_blocks(loads)), all}) {
                const auto grid = static_cast<unsigned int>(std::min(blocks, all));
                ways.emplace_back([=] {
                    for (const auto& [to, from] : copies) { launch_copy(to, from, tiles, {loads, grid}, nullptr); }
                });
            }
        }
        std::size_t fastest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < ways.size(); i++) {
            ways[i]();
            for (int sample = 0; sample < 3; sample++) {
                fill_l2();
                const double seconds = stopwatch_.once(ways[i]);
                if (seconds < least) {
                    least = seconds;
                    fastest = i;
                }
            }
        }
        return {.name = "copy", .run = ways[fastest], .calls = static_cast<int>(times)};
    }

    Candidate read(std::size_t bytes, std::size_t times) override {
        const std::size_t tiles = std::max<std::size_t>((bytes + kTileBytes - 1) / kTileBytes, 1);
        std::vector<const std::byte*> buffers;
        for (std::size_t i = 0; i < times; i++) {
            std::byte* const from = reserve(tiles * kTileBytes);
            check(cudaMemset(from, 1, tiles * kTileBytes));
            buffers.push_back(from);
        }
        return {.name = "read",
                .run =
                    [=, this] {
                        for (const std::byte* from : buffers) { launch_read(sum_.data(), from, tiles, nullptr); }
                    },
                .calls = static_cast<int>(times)};
    }

    FmaCandidate arithmetic() override {
        constexpr int kRounds = kDryRun ? 1 : 100;
        auto* const out = reinterpret_cast<float*>(reserve(fma_threads() * sizeof(float)));
        return {{.name = "multiply-adds",
                 .run = [out, clock = clock_.data()] { launch_fma(out, clock, kRounds, nullptr); }},
                fma_flop(kRounds)};
    }

    std::function<void()> cold() override {
        return [this] { fill_l2(); };
    }

  private:
    static constexpr std::size_t kLeastOther = std::size_t{kDryRun ? 1 : 64} << 20;

    // Copies from pageable memory and within the device return before they have ended, and an op's own stream does not wait
    // for them.
    static void wait_for_legacy_stream() { check(cudaStreamSynchronize(cudaStreamLegacy)); }

    std::byte* reserve(std::size_t bytes) {
        memory_.push_back(allocate_or_throw(bytes));
        return memory_.back().data();
    }

    // Leaves L2 full of reads of another buffer.
    void fill_l2() const { launch_read(sum_.data(), other_.data(), other_tiles_, nullptr); }

    EventStopwatch stopwatch_{nullptr, kDryRun ? 0U : 20'000'000U};
    std::unique_ptr<CuptiStopwatch> busy_;
    DeviceBuffer<std::uint32_t> sum_;
    DeviceBuffer<std::byte> clock_;
    std::size_t other_tiles_;
    DeviceBuffer<std::byte> other_;
    std::deque<DeviceBuffer<std::byte>> memory_;
};

// ---- the side ------------------------------------------------------------------------------------------------------

class GpuBackend final : public DeviceBackend {
  public:
    std::string name() const override { return kDryRun ? "a rehearsal of a GPU" : "GPU"; }
    bool has_times() const override { return true; }
    bool dry_run() const override { return kDryRun; }
    bool takes_sampled() const override { return true; }

    void start() override {
        count_cards_as_nvidia_smi();
        require_device();
#ifdef __SIMT__
        silence_report_at_exit();
#endif
    }

    Gpu card() const override {
        if (kDryRun) {
            return {};
        }
        cudaDeviceProp properties{};
        int device = 0;
        require(cudaGetDevice(&device));
        require(cudaGetDeviceProperties(&properties, device));
        return {properties.name, 10 * properties.major + properties.minor};
    }

    std::unique_ptr<Bench> bench() override {
        require_one_runtime();
        return std::make_unique<GpuBench>();
    }

    std::optional<Vendor> matmul_library(int N, int C, int OC, const std::string& precision) override {
        const bool tf32 = precision == "tf32";
        return Vendor{.name = tf32 ? "cuBLAS in TF32" : "cuBLAS",
                      .run =
                          [this, tf32, shape = MatmulShape{.N = N, .OC = OC, .C = C}](const Buffers& at) {
                              cublas_->matmul(tf32 ? Cublas::Precision::tf32 : Cublas::Precision::fp32, at.f32("out"),
                                              at.f32("inp"), at.f32("weight"), shape);
                          },
                      .missing = [this] { return open_cublas(); }};
    }

    std::optional<Finding> broken() const override {
        static_cast<void>(cudaGetLastError());  // one that can be forgotten is
        const cudaError_t sticky = cudaDeviceSynchronize();
        if (mend_of_the_machine(sticky) != nullptr) {
            check(sticky);
        }
        return sticky == cudaSuccess ? std::nullopt : std::optional(describe_error(sticky));
    }

    std::string environment_hint(const std::exception& error) const override {
        if (dynamic_cast<const TwoRuntimes*>(&error) != nullptr) {
            return error.what();
        }
        const auto* const of_cuda = dynamic_cast<const CudaError*>(&error);
        const char* const mend = of_cuda == nullptr ? nullptr : mend_of_the_machine(of_cuda->code);
        return mend == nullptr ? "" : no_gpu(of_cuda->code, mend);
    }

    Reply run(const CallRun& run) override {
        require_one_runtime();
        if (run.begins()) {
            pinned_schedule = run.schedule;
            running_.emplace(run.schedule);
        }
        Reply reply;
        std::vector<Finding> findings;
        try {
            findings = run_on_gpu(run, running_.value());
        } catch (const OutOfMemory& error) {
            reply = make_reply(Answer::out_of_memory, error.what());
        } catch (const LeftChanged& error) { reply = reply_of(error); } catch (const std::exception& error) {
            if (const std::string no_fault = environment_hint(error); !no_fault.empty()) {
                return make_reply(Answer::no_device, no_fault);
            }
            const auto* const of_cuda = dynamic_cast<const CudaError*>(&error);
            const bool too_large = of_cuda != nullptr && of_cuda->code == cudaErrorLaunchOutOfResources;
            reply = make_reply(
                Answer::exception,
                error.what() + std::string(too_large ? ": a block's threads, times the registers of each, are "
                                                       "more than a multiprocessor has; fewer threads a "
                                                       "block, or __launch_bounds__"
                                                     : ""));
        }
        if (run.ends()) {
            running_.reset();
        }
        if (const std::optional<Finding> sticky = broken()) {
            reply = make_reply(Answer::broken, "");
            findings.insert(findings.begin(), *sticky);
            reply.last = true;
        }
        put_findings(reply, findings);
        return reply;
    }

    void end_case() override {
        running_.reset();
    }

  private:
    // Why it cannot be used; empty where it can.
    std::string open_cublas() {
        try {
            if (!cublas_) {
                cublas_ = std::make_unique<Cublas>("", nullptr);
            }
            return "";
        } catch (const std::exception& error) { return error.what(); }
    }

    std::unique_ptr<Cublas> cublas_;
    std::optional<GpuCase> running_;

    // The context is made here, so that what keeps it from being made is not taken for a mistake of the first op.
    static void require_device() {
        int count = 0;
        require(cudaGetDeviceCount(&count));
        require(count == 0 ? cudaErrorNoDevice : cudaFree(nullptr));
        constexpr std::size_t kLeast = std::size_t{1} << 20;  // else no case would run, and none be wrong
        require(memory_left().free < kLeast ? cudaErrorMemoryAllocation : cudaSuccess);
    }
    // Throws std::runtime_error with what mends it.
    static void require(cudaError_t status) {
        if (status == cudaSuccess) {
            return;
        }
        static_cast<void>(cudaGetLastError());
        const char* const mend = mend_of_the_machine(status);
        const std::string hidden = why_no_card("make doctor says what is missing; without a GPU: " +
                                               on_cpu("the lesson's check with DEVICE=cpu"));
        throw std::runtime_error(
            no_gpu(status, mend != nullptr ? mend
                           : status == cudaErrorMemoryAllocation
                               ? "less than 257 MiB of its memory is free, and 256 of that are left "
                                 "to others: nvidia-smi names the programs that have the rest"
                           : status == cudaErrorNoDevice ? hidden.c_str()
                                                         : "nvidia-smi may say why, a restart mends it"));
    }
};

}  // namespace

DeviceBackend& device_backend() {
    static GpuBackend side;
    return side;
}

}  // namespace checker

#ifndef __SIMT__
// Ops call these, as the dynamic linker looks into the program first. The CPU device poisons by itself.
extern "C" cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    static const auto allocate = checker::of_runtime<cudaError_t(void**, std::size_t)>("cudaMallocHost");
    return checker::poisoned(allocate(memory, bytes), memory, bytes);
}
extern "C" cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned int flags) {
    static const auto allocate = checker::of_runtime<cudaError_t(void**, std::size_t, unsigned)>("cudaHostAlloc");
    return checker::poisoned(allocate(memory, bytes, flags), memory, bytes);
}
#endif
