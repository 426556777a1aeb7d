// SPDX-License-Identifier: MIT
//
// Launches: a configuration and the call of a kernel become a run of the scheduler, with CUDA's limits and error
// codes.
#include "checker/simt/include/simt/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/api/operations.h"
#include "checker/simt/runtime/base/device.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/shadows.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/orders.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

struct Configuration {
    dim3 grid, block;
    std::size_t dynamic_bytes = 0;
    SourceLine line;
    void** raw_arguments = nullptr;
    KernelAttributes attributes = {};
    cudaStream_t stream = nullptr;
    bool describe_only = false;  // the kernel is called only to learn its bounds
    Operation* made = nullptr;   // it is not issued, but left here
};

// What the runtime knows of a kernel, by its function's address.
struct KernelFacts {
    LaunchBounds bounds;
    std::size_t static_shared_bytes = 0;
    std::size_t dynamic_limit = kStaticSharedLimit;  // cudaFuncAttributeMaxDynamicSharedMemorySize raises it
    bool described = false;
};

// Of a thread of the host.
struct Pending {
    std::optional<Configuration> configuration;  // between <<<…>>> and the kernel's call
    cudaError_t refused = cudaSuccess;           // why the last launch by address was not made
};

Pending& pending() {
    static thread_local Pending instance;
    return instance;
}

KernelFacts& facts_of(std::uintptr_t kernel) {
    static auto& kernels = *new std::map<std::uintptr_t, KernelFacts>;
    const ApiLock turn;
    return kernels[kernel];
}

// "void scale(float*, int) [with int N = 4]" -> "scale [int N = 4]"
std::string kernel_name(std::string_view signature) {
    const std::size_t with = signature.find(" [with ");
    const std::string_view head = signature.substr(0, with);
    std::size_t open = head.find('(');
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < open && i < head.size(); i++) {
        depth += head[i] == '<' ? 1 : head[i] == '>' ? -1 : 0;
        if (head[i] == ' ' && depth == 0) {
            begin = i + 1;
        }
    }
    std::string name(head.substr(begin, open - begin));
    constexpr std::string_view kUnnamed = "{anonymous}::";
    while (name.find(kUnnamed) != std::string::npos) { name.erase(name.find(kUnnamed), kUnnamed.size()); }
    if (with != std::string_view::npos) {
        name += " [" + std::string(signature.substr(with + std::string_view(" [with ").size()));
    }
    return name;
}

// How many blocks of a kernel the imaginary device can hold at once.
std::size_t resident_blocks(const KernelFacts& facts, std::size_t threads, std::size_t dynamic_bytes) {
    const std::size_t warps = (threads + kLanes - 1) / kLanes;
    const std::size_t shared = facts.static_shared_bytes + dynamic_bytes + kReservedSharedPerBlock;
    const std::size_t most = facts.bounds.max_threads == 0 ? kMaxThreads : facts.bounds.max_threads;
    return threads > most ? 0
                          : std::min({kMaxThreadsPerMultiprocessor / (warps * kLanes),
                                      kSharedPerMultiprocessor / shared, kMaxBlocksPerMultiprocessor});
}

struct Refusal {
    cudaError_t error;
    std::string why;
};

std::optional<Refusal> refusal(const Configuration& c, const KernelFacts& facts, const Module* module) {
    const auto zero = [](dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; };
    if (zero(c.grid) || zero(c.block)) {
        return Refusal{cudaErrorInvalidConfiguration, "a grid or block with an extent of 0"};
    }
    const std::size_t threads = std::size_t{c.block.x} * c.block.y * c.block.z;
    if (threads > kMaxThreads || c.block.z > kMaxBlockZ) {
        return Refusal{cudaErrorInvalidConfiguration,
                       fmt::format("a block of {}×{}×{} threads; it may have {}, and {} along z", c.block.x, c.block.y,
                                   c.block.z, kMaxThreads, kMaxBlockZ)};
    }
    if (c.grid.x > kMaxGridX || c.grid.y > kMaxGridYZ || c.grid.z > kMaxGridYZ) {
        return Refusal{cudaErrorInvalidConfiguration,
                       fmt::format("a grid of {}×{}×{} blocks; it may have {}×{}×{}", c.grid.x, c.grid.y, c.grid.z,
                                   kMaxGridX, kMaxGridYZ, kMaxGridYZ)};
    }
    if (facts.bounds.max_threads != 0 && threads > facts.bounds.max_threads) {
        return Refusal{cudaErrorLaunchOutOfResources,
                       fmt::format("a block of {} threads; the kernel has __launch_bounds__({})", threads,
                                   facts.bounds.max_threads)};
    }
    if (module != nullptr && module->constant_bytes > kConstantBytes) {
        return Refusal{cudaErrorInvalidValue,
                       fmt::format("{} bytes of __constant__ memory in one file, which nvcc refuses; it may have {}",
                                   module->constant_bytes, kConstantBytes)};
    }
    if (facts.static_shared_bytes > kStaticSharedLimit) {
        return Refusal{cudaErrorInvalidValue, fmt::format("{} bytes of static shared memory; a kernel may have {}",
                                                          facts.static_shared_bytes, kStaticSharedLimit)};
    }
    if (c.dynamic_bytes + facts.static_shared_bytes >
            std::max(facts.dynamic_limit + facts.static_shared_bytes, kStaticSharedLimit) ||
        c.dynamic_bytes > facts.dynamic_limit || c.dynamic_bytes + facts.static_shared_bytes > kDynamicSharedLimit) {
        return Refusal{
            cudaErrorInvalidValue,
            fmt::format("{} bytes of dynamic shared memory beside {} static ones; the kernel may have {} in all (up to "
                        "{} after cudaFuncSetAttribute("
                        "…, cudaFuncAttributeMaxDynamicSharedMemorySize, …))",
                        c.dynamic_bytes, facts.static_shared_bytes, facts.dynamic_limit, kDynamicSharedLimit)};
    }
    if (facts.dynamic_limit == kStaticSharedLimit && c.dynamic_bytes + facts.static_shared_bytes > kStaticSharedLimit) {
        return Refusal{
            cudaErrorInvalidValue,
            fmt::format(
                "{} bytes of dynamic and {} of static shared memory; together a kernel may have {} without the opt-in",
                c.dynamic_bytes, facts.static_shared_bytes, kStaticSharedLimit)};
    }
    const std::uint64_t blocks = std::uint64_t{c.grid.x} * c.grid.y * c.grid.z;
    if (const std::size_t resident = resident_blocks(facts, threads, c.dynamic_bytes);
        is_cooperative(c.attributes) && blocks > resident) {
        return Refusal{cudaErrorCooperativeLaunchTooLarge,
                       fmt::format("{} blocks in a cooperative launch; with {} threads and {} bytes of shared memory "
                                   "each, the device has {} at once",
                                   blocks, threads, c.dynamic_bytes + facts.static_shared_bytes, resident)};
    }
    return std::nullopt;
}

[[noreturn]] void misuse(const std::string& what) {
    fmt::print(stderr, "simt: {}\n", what);
    std::exit(1);
}

// Calls the kernel's function, which replaces its arguments or never uses them. There are as many as registers may have
// to hold, and each points to memory of its own, for parameters that are passed by reference; behind them the stack has
// room for all that are passed by value.
void call_kernel(const void* kernel) {
    constexpr std::size_t kParameterBytes = 32764;  // CUDA's limit for all of them
    static std::array<std::array<char, kParameterBytes>, 32> scratch;
    struct Room {
        std::array<char, kParameterBytes> bytes;
    };
    static const Room room = {};
    using Any = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                         void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                         void*, void*, void*, void*, void*, void*, Room);
    const auto call = reinterpret_cast<Any>(const_cast<void*>(kernel));
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        call(scratch[i].data()..., room);
    }
    (std::make_index_sequence<32>());
}

KernelFacts& facts_of(const void* kernel) {
    KernelFacts& facts = facts_of(reinterpret_cast<std::uintptr_t>(kernel));
    if (!facts.described) {
        const auto outer = std::move(pending().configuration);
        pending().configuration = Configuration{};
        pending().configuration->describe_only = true;
        call_kernel(kernel);
        pending().configuration = outer;
    }
    return facts;
}

bool is_kernel(const void* kernel) {
    const Module* module = kernel == nullptr ? nullptr : module_of(kernel);
    const Symbol* function =
        module == nullptr ? nullptr : module->function_at(reinterpret_cast<std::uintptr_t>(kernel));
    return function != nullptr && function->begin == reinterpret_cast<std::uintptr_t>(kernel) &&
           module->is_kernel(*function);
}

// Null arguments: the kernel has none.
cudaError_t launch_by_address(const void* kernel, Configuration configuration, void** arguments) {
    if (!is_kernel(kernel)) {
        return result(cudaErrorInvalidDeviceFunction);
    }
    static void* none[] = {nullptr};
    configuration.raw_arguments = arguments == nullptr ? none : arguments;
    pending().configuration = configuration;
    pending().refused = cudaSuccess;
    call_kernel(kernel);
    return result(pending().refused);
}

std::size_t bytes_of(const Parameter& parameter) {
    return parameter.is_reference ? sizeof(void*) : parameter.bytes;
}

// A launch's copy of its parameters' bits, one after the other.
struct ParameterBits {
    std::size_t bytes = 0;
    std::shared_ptr<char> block;
    std::vector<const void*> places;

    // `raw`: a pointer to each, which replaces what the kernel's function got; null if there are none.
    ParameterBits(const KernelCall& call, void* const* raw) {
        std::size_t alignment = 1;
        std::vector<std::size_t> offsets;
        for (std::size_t i = 0; i < call.parameter_count; i++) {
            const Parameter& parameter = call.parameters[i];
            const std::size_t its = parameter.is_reference ? alignof(void*) : parameter.alignment;
            alignment = std::max(alignment, its);
            offsets.push_back((bytes + its - 1) / its * its);
            bytes = offsets.back() + bytes_of(parameter);
        }
        const auto aligned = std::align_val_t(alignment);
        block = {static_cast<char*>(::operator new(bytes, aligned)), [=](char* p) { ::operator delete(p, aligned); }};
        std::memset(block.get(), 0, bytes);
        for (std::size_t i = 0; i < call.parameter_count; i++) {
            const Parameter& parameter = call.parameters[i];
            const void* const from = raw != nullptr           ? raw[i]
                                     : parameter.is_reference ? static_cast<const void*>(&parameter.object)
                                                              : parameter.object;
            char* const to = block.get() + offsets[i];
            std::memcpy(to, from, bytes_of(parameter));
            places.push_back(to);
        }
    }
};

// The return address by which a report names the line where the kernel's body begins.
const void* first_line_of(const void* code) {
    return static_cast<const char*>(code) + 1;
}

// Does not launch. An API function returns the error; after a launch <<<…>>> somebody has yet to ask for it.
void fail(cudaError_t error, const SourceLine& line, bool by_address) {
    if (by_address) {
        pending().refused = error;
    } else {
        launch_failed(error, false, line);
    }
}

void refuse(cudaError_t error, const Launch& launch, bool by_address, const std::string& why) {
    fail(error, launch.line, by_address);
    report(Kind::bad_launch, "", launch.line, [&] { return launch.kernel + ": " + why; });
}

}  // namespace

void configure(dim3 grid, dim3 block, std::size_t dynamic_bytes, cudaStream_t stream, const char* file,
               unsigned int line) {
    if (running_lane() != nullptr) {
        misuse("a launch from a kernel is not on the CPU device");
    }
    const SourceLine here{file, static_cast<int>(line), ""};
    note_launch_by_configuration(here);
    pending().configuration =
        Configuration{.grid = grid, .block = block, .dynamic_bytes = dynamic_bytes, .line = here, .stream = stream};
}

bool in_kernel() {
    return running_lane() != nullptr;
}

void launched() {
    if (pending().configuration) {
        const SourceLine& line = pending().configuration->line;
        misuse(fmt::format("{}:{}: a launch <<<…>>> of a function that is no kernel: it has run once, on the host",
                           line.file, line.line));
    }
}

void launch(const KernelCall& call) {
    Pending& all = pending();
    if (!all.configuration) {
        // nvcc would not compile this. The caller is not known: the line is the kernel's own.
        report(Kind::bad_launch, "", first_line_of(call.code),
               [&] { return kernel_name(call.signature) + " is called like a function: a kernel needs <<<…>>>"; });
        return;
    }
    const Configuration configuration = *std::exchange(all.configuration, std::nullopt);
    const ApiLock turn;
    const Module* module = module_of(call.code);
    const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    const Symbol* function = module == nullptr ? nullptr : module->function_at(site);
    KernelFacts& facts = facts_of(function == nullptr ? site : function->begin);
    if (!facts.described) {
        facts.described = true;
        facts.bounds = call.bounds;
        facts.static_shared_bytes = function == nullptr ? 0 : static_shared_bytes(*module, *function, call.code);
    }
    if (configuration.describe_only || result(cudaSuccess) != cudaSuccess) {
        return;
    }
    const auto what = std::make_shared<Launch>(Launch{.kernel = kernel_name(call.signature),
                                                      .grid = configuration.grid,
                                                      .block = configuration.block,
                                                      .dynamic_bytes = configuration.dynamic_bytes,
                                                      .static_bytes = facts.static_shared_bytes,
                                                      .module = module,
                                                      .body = call.body,
                                                      .code = call.code,
                                                      .line = configuration.line,
                                                      .entry = first_line_of(call.code),
                                                      .counts_arithmetic = call.counts_arithmetic,
                                                      .cooperative = is_cooperative(configuration.attributes)});
    const bool by_address = configuration.raw_arguments != nullptr;
    for (std::size_t i = 0; by_address && i < call.parameter_count; i++) {
        if (configuration.raw_arguments[i] == nullptr) {
            refuse(cudaErrorInvalidValue, *what, by_address,
                   fmt::format("argument {} is missing: the array holds a pointer to each", i + 1));
            return;
        }
    }
    if (const std::optional<Refusal> refused = refusal(configuration, facts, module)) {
        refuse(refused->error, *what, by_address, refused->why);
        return;
    }
    if (Streams::instance().running()) {
        refuse(cudaErrorNotPermitted, *what, by_address, "a host function may not launch");
        return;
    }
    if (!Streams::instance().exists(configuration.stream)) {
        refuse(cudaErrorInvalidResourceHandle, *what, by_address,
               Streams::instance().reason_for_absence(configuration.stream));
        return;
    }
    const bool for_node = configuration.made != nullptr;
    if (!for_node && Captures::under_way()) {
        const cudaError_t error =
            Captures::instance().may_issue(configuration.stream, {what->kernel.c_str(), what->line});
        if (error != cudaSuccess) {
            fail(error, what->line, by_address);
            return;
        }
    }
    const auto bits = std::make_shared<const ParameterBits>(call, configuration.raw_arguments);
    what->parameters = bits->places.data();
    what->parameter_block = bits->block.get();
    what->parameter_bytes = bits->bytes;
    for (std::size_t at = 0; at + sizeof(void*) <= bits->bytes; at += sizeof(void*)) {
        const void* pointer = nullptr;
        std::memcpy(&pointer, bits->block.get() + at, sizeof pointer);
        if (const Symbol* const variable = shadow_at(pointer)) {
            what->shadows.push_back(variable);
        }
    }
    Operation operation{
        .name = what->kernel, .known_late = true, .launch = what->line, .grid = what->grid, .block = what->block};
    operation.run = [what, bits] {
        if (const cudaError_t error = Orders::instance().run(*what); error != cudaSuccess) {
            launch_failed(error, true, what->line);
        }
    };
    if (!call.has_hooks) {
        Memory::instance().mark_writes_untracked();
    }
    if (for_node || Captures::instance().is_capturing(configuration.stream)) {
        const auto arguments = std::make_shared<Arguments>();
        for (std::size_t i = 0; i < call.parameter_count; i++) {
            arguments->add(bits->places[i], bytes_of(call.parameters[i]));
        }
        operation.work =
            KernelWork{.function = reinterpret_cast<const void*>(function == nullptr ? site : function->begin),
                       .grid = what->grid,
                       .block = what->block,
                       .dynamic_bytes = what->dynamic_bytes,
                       .attributes = configuration.attributes,
                       .arguments = arguments};
    }
    if (for_node) {
        *configuration.made = std::move(operation);
    } else {
        Streams::instance().issue(configuration.stream, std::move(operation));
    }
}

cudaError_t make_kernel(const cudaKernelNodeParams& kernel, const KernelAttributes& attributes, const SourceLine& line,
                        Operation& made) {
    return launch_by_address(kernel.func,
                             {.grid = kernel.gridDim,
                              .block = kernel.blockDim,
                              .dynamic_bytes = kernel.sharedMemBytes,
                              .line = line,
                              .attributes = attributes,
                              .made = &made},
                             kernel.kernelParams);
}

}  // namespace simt

extern "C" {

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t dynamic_bytes,
                             cudaStream_t stream) {
    return simt::launch_by_address(kernel,
                                   {.grid = grid,
                                    .block = block,
                                    .dynamic_bytes = dynamic_bytes,
                                    .line = simt::source_of(__builtin_return_address(0)),
                                    .stream = stream},
                                   arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_bytes, cudaStream_t stream) {
    cudaLaunchAttributeValue cooperative = {};
    cooperative.cooperative = 1;
    return simt::launch_by_address(kernel,
                                   {.grid = grid,
                                    .block = block,
                                    .dynamic_bytes = dynamic_bytes,
                                    .line = simt::source_of(__builtin_return_address(0)),
                                    .attributes = {{cudaLaunchAttributeCooperative, cooperative}},
                                    .stream = stream},
                                   arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
    if (config == nullptr) {
        return simt::result(cudaErrorInvalidValue);
    }
    simt::KernelAttributes attributes;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute& attribute = config->attrs[i];
        if (simt::is_of_kernels(attribute.id)) {
            attributes[attribute.id] = attribute.val;
        } else if (attribute.id != cudaLaunchAttributeIgnore) {
            return simt::result(cudaErrorNotSupported);
        }
    }
    return simt::launch_by_address(kernel,
                                   {.grid = config->gridDim,
                                    .block = config->blockDim,
                                    .dynamic_bytes = config->dynamicSmemBytes,
                                    .line = simt::source_of(__builtin_return_address(0)),
                                    .attributes = attributes,
                                    .stream = config->stream},
                                   arguments);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (!simt::is_kernel(kernel)) {
        return simt::result(cudaErrorInvalidDeviceFunction);
    }
    simt::KernelFacts& facts = simt::facts_of(kernel);
    switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize:
            if (value < 0 || static_cast<std::size_t>(value) + facts.static_shared_bytes > simt::kDynamicSharedLimit) {
                return simt::result(cudaErrorInvalidValue);
            }
            facts.dynamic_limit = static_cast<std::size_t>(value);
            return simt::result(cudaSuccess);
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            return simt::result(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    }
    return simt::result(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
    return simt::result(simt::is_kernel(kernel) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    if (attributes == nullptr || !simt::is_kernel(kernel)) {
        return simt::result(attributes == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    }
    const simt::KernelFacts& facts = simt::facts_of(kernel);
    *attributes = {};
    attributes->sharedSizeBytes = facts.static_shared_bytes;
    attributes->maxThreadsPerBlock = facts.bounds.max_threads == 0 ? static_cast<int>(simt::kMaxThreads)
                                                                   : static_cast<int>(facts.bounds.max_threads);
    attributes->numRegs = simt::kRegistersPerThread;
    attributes->ptxVersion = attributes->binaryVersion = 10 * simt::kMajor + simt::kMinor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(facts.dynamic_limit);
    attributes->preferredShmemCarveout = -1;
    return simt::result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t dynamic_bytes) {
    if (blocks == nullptr || threads <= 0 || !simt::is_kernel(kernel)) {
        return simt::result(blocks == nullptr || threads <= 0 ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    }
    *blocks = static_cast<int>(
        simt::resident_blocks(simt::facts_of(kernel), static_cast<std::size_t>(threads), dynamic_bytes));
    return simt::result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                   std::size_t dynamic_bytes, unsigned int flags) {
    if (flags != cudaOccupancyDefault && flags != cudaOccupancyDisableCachingOverride) {
        return simt::result(cudaErrorInvalidValue);
    }
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, dynamic_bytes);
}

cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* kernel, std::size_t dynamic_bytes,
                                               int most_threads) {
    if (grid == nullptr || block == nullptr || most_threads < 0) {
        return simt::result(cudaErrorInvalidValue);
    }
    *grid = *block = 0;
    int threads_at_once = 0;
    const int largest = most_threads == 0 ? static_cast<int>(simt::kMaxThreads) : most_threads;
    for (int threads = largest; threads > 0; threads -= static_cast<int>(simt::kLanes)) {
        int blocks = 0;
        if (const cudaError_t error =
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_bytes);
            error != cudaSuccess) {
            return error;
        }
        if (blocks * threads > threads_at_once) {
            threads_at_once = blocks * threads;
            *grid = blocks;
            *block = threads;
        }
    }
    return simt::result(cudaSuccess);
}

}  // extern "C"
