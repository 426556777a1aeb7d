// SPDX-License-Identifier: MIT
//
// Measures the roof of a GPU: what its memory, its arithmetic, its launches and its link to the host do at best.
// One JSON object goes to stdout, once everything is measured; progress goes to stderr. Takes under a minute and
// changes no setting of the card. It needs nvcc and nothing else:
//   nvcc -std=c++20 -O3 -arch=native -I. checker/gpu/calibrate_gpu.cu checker/gpu/gpu_roof.cpp checker/clock/timing.cpp
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/clock/timing.h"
#include "checker/gpu/calibrate_kernels.cuh"
#include "checker/gpu/device.h"
#include "checker/gpu/gpu_libraries.h"
#include "checker/gpu/gpu_roof.h"
#include "checker/gpu/gpu_sampler.h"

namespace checker {
namespace {

constexpr double kHotSeconds = 5e-4;  // of a sample of passes inside one kernel: launching is 1% of it
constexpr double kComputeSeconds = 2e-3;
constexpr double kLongestGemm = 0.06;  // a shape that takes longer is left out
constexpr int kMostLaunches = 32;      // in one sample

constexpr int kExitUsage = 2;
constexpr int kExitNoGpu = 3;

struct NoGpu : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void say(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
}

// Throws NoGpu, with the mend, where there is no device to measure.
int count_devices() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) {
        return count;
    }
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) {
        driver = 0;
    }
    if (driver == 0) {
        throw NoGpu(
            "no NVIDIA driver here, so no GPU to measure: install one (`nvidia-smi` must list the card; a "
            "container needs --gpus all)");
    }
    if (status == cudaErrorInsufficientDriver) {
        throw NoGpu(
            format("the NVIDIA driver is too old: it knows CUDA %s and this program is built with %s; install "
                   "a newer driver, or build with an older toolkit",
                   cuda_version(driver).c_str(), cuda_version(CUDART_VERSION).c_str()));
    }
    if (status == cudaSuccess || status == cudaErrorNoDevice) {
        throw NoGpu(
            "the NVIDIA driver finds no GPU: see whether `nvidia-smi` lists one and CUDA_VISIBLE_DEVICES "
            "does not hide it");
    }
    throw NoGpu(format("no GPU can be used (%s: %s): see what `nvidia-smi` says", cudaGetErrorName(status),
                       cudaGetErrorString(status)));
}

int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

Device open_device(int index) {
    const int count = count_devices();
    if (index < 0 || index >= count) {
        throw std::runtime_error(format("there is no device %d; the last is %d", index, count - 1));
    }
    check(cudaSetDevice(index));
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index));
    Device device;
    device.name = properties.name;
    char bus_id[32] = "";
    check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index));
    device.pci_bus_id = bus_id;
    device.major = properties.major;
    device.minor = properties.minor;
    device.sm_count = properties.multiProcessorCount;
    device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    device.shared_bytes_per_sm = properties.sharedMemPerMultiprocessor;
    check(cudaMemGetInfo(&device.free_bytes, &device.memory_bytes));
    check(cudaDriverGetVersion(&device.driver_cuda));
    if (const int kilohertz = attribute(cudaDevAttrClockRate, index); kilohertz > 0) {
        device.clock_hz = kilohertz * 1e3;
    }
    if (attribute(cudaDevAttrIntegrated, index) == 0) {
        device.bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
        device.memory_clock_hz = attribute(cudaDevAttrMemoryClockRate, index) * 1e3;
    }
    return device;
}

// Shapes large enough that their edges do not matter, in increasing size.
constexpr MatmulShape kGemmShapes[] = {{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 4096}, {8192, 8192, 8192}};

// Blocks that the device runs at the same time.
template <class... Args>
int resident_blocks(void (*kernel)(Args...), const Device& device) {
    int per_sm = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, kBlock, 0));
    if (per_sm < 1) {
        throw std::runtime_error("a kernel fits no multiprocessor of this card");
    }
    return per_sm * device.sm_count;
}

// The compute capability that a kernel was compiled for, 80 for 8.0: older code may run, but lacks what came later.
template <class... Args>
int compiled_for(void (*kernel)(Args...)) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion;
}

template <class T>
std::vector<T> to_host(const T* data, std::size_t count, cudaStream_t stream) {
    std::vector<T> host(count);
    check(cudaMemcpyAsync(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return host;
}

template <class T>
void set(T* data, T value, cudaStream_t stream) {
    check(cudaMemcpyAsync(data, &value, sizeof value, cudaMemcpyHostToDevice, stream));
    check(cudaStreamSynchronize(stream));
}

void require(bool right, const char* what) {
    if (!right) {
        throw std::runtime_error(std::string("the ") + what +
                                 " kernel computes something else than it should, so its rate would mean nothing; "
                                 "nothing is reported");
    }
}

// ---- Memory

constexpr std::uint32_t kNever32 = std::numeric_limits<std::uint32_t>::max();  // a needle: not to be found

void fill_bits(std::uint32_t* out, std::size_t count, std::uint32_t seed, cudaStream_t stream) {
    constexpr int kGrid = 4096;
    fill_bits_kernel<<<kGrid, kBlock, 0, stream>>>(out, count, seed);
    check(cudaGetLastError());
}

// How a memory kernel is run: 16-byte accesses in flight in each thread (4 or 1), and blocks.
struct Variant {
    int loads = 0;
    int blocks = 0;
};

constexpr int kLoadChoices[] = {4, 1};

constexpr std::size_t tile_bytes(int loads) {
    return tile_size(loads) * sizeof(uint4);
}

// All sizes are multiples of this, so that a copy's halves are whole tiles.
constexpr std::size_t kCopyStep = 2 * tile_bytes(4);

void copy(uint4* out, const uint4* inp, std::size_t bytes, int passes, Variant variant, cudaStream_t stream) {
    const auto kernel = variant.loads == 4 ? copy_kernel<4> : copy_kernel<1>;
    kernel<<<variant.blocks, kBlock, 0, stream>>>(out, inp, bytes / tile_bytes(variant.loads), passes);
    check(cudaGetLastError());
}

void read(std::uint32_t* total, const uint4* inp, std::size_t bytes, int passes, std::uint32_t needle, Variant variant,
          cudaStream_t stream) {
    const auto kernel = variant.loads == 4 ? read_kernel<4> : read_kernel<1>;
    kernel<<<variant.blocks, kBlock, 0, stream>>>(total, inp, bytes / tile_bytes(variant.loads), passes, needle);
    check(cudaGetLastError());
}

void write(uint4* out, std::size_t bytes, int passes, std::uint32_t seed, Variant variant, cudaStream_t stream) {
    const auto kernel = variant.loads == 4 ? write_kernel<4> : write_kernel<1>;
    kernel<<<variant.blocks, kBlock, 0, stream>>>(out, bytes / tile_bytes(variant.loads), passes, seed);
    check(cudaGetLastError());
}

int resident_blocks(Operation operation, int loads, const Device& device) {
    switch (operation) {
        case Operation::copy:
            return resident_blocks(loads == 4 ? copy_kernel<4> : copy_kernel<1>, device);
        case Operation::read:
            return resident_blocks(loads == 4 ? read_kernel<4> : read_kernel<1>, device);
        case Operation::write:
            return resident_blocks(loads == 4 ? write_kernel<4> : write_kernel<1>, device);
        case Operation::memcpy:
            break;
    }
    return 0;
}

bool same(uint4 a, uint4 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// The kernels move every byte they should and no other, as often as they should.
void verify_memory_kernels(int loads, cudaStream_t stream) {
    constexpr std::size_t kBytes = 203 * tile_bytes(4);
    constexpr std::size_t kCount = kBytes / sizeof(uint4);
    constexpr std::size_t kBehind = tile_size(4);  // uint4 that must not be written
    constexpr int kPasses = 3;
    constexpr std::uint32_t kSeed = 11;
    constexpr int kPoison = 0xA5;
    const Variant variant{loads, 31};  // 31 does not divide the number of tiles
    const DeviceBuffer<uint4> inp(kCount), out(kCount + kBehind);
    const DeviceBuffer<std::uint32_t> total(1);
    fill_bits(reinterpret_cast<std::uint32_t*>(inp.data()), 4 * kCount, kSeed, stream);

    const auto untouched_behind = [&](const std::vector<uint4>& all) {
        constexpr std::uint32_t kWord = 0x01010101U * kPoison;
        return std::all_of(all.begin() + kCount, all.end(), [](uint4 v) {
            return same(v, {kWord, kWord, kWord, kWord});
        });
    };
    const auto poison = [&] { check(cudaMemsetAsync(out.data(), kPoison, out.bytes(), stream)); };

    poison();
    copy(out.data(), inp.data(), kBytes, kPasses, variant, stream);
    std::vector<uint4> got = to_host(out.data(), out.size(), stream);
    bool right = untouched_behind(got);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kCount; i++) {
        const std::uint32_t first = kSeed + 4 * i;
        const uint4 expected = {scramble(first), scramble(first + 1), scramble(first + 2), scramble(first + 3)};
        right = right && same(got[i], expected);
        sum += sum_of(expected);
    }
    require(right, "copy");

    set(total.data(), 0U, stream);
    read(total.data(), inp.data(), kBytes, kPasses, 0, variant, stream);
    require(to_host(total.data(), 1, stream)[0] == kPasses * sum, "read");

    poison();
    write(out.data(), kBytes, kPasses, kSeed, variant, stream);
    got = to_host(out.data(), out.size(), stream);
    right = untouched_behind(got);
    for (std::uint32_t i = 0; i < kCount; i++) { right = right && same(got[i], pattern(i, kSeed + kPasses - 1)); }
    require(right, "write");
}

// The size of the buffer that memory is measured on: 64 times L2 where half of the free memory holds that. Throws
// where it holds less than 6 times L2.
std::size_t arena_bytes(const Device& device) {
    if (device.l2_bytes == 0) {
        throw std::runtime_error("the driver does not tell the size of L2, which the sizes are chosen by");
    }
    constexpr std::size_t kLeastShare = 12;  // of free memory, in L2 sizes: this buffer and the one that fills L2
    if (device.free_bytes < kLeastShare * device.l2_bytes) {
        throw std::runtime_error(
            format("%zu MiB of the GPU's memory are free and %zu are needed: end other programs on it (`nvidia-smi` "
                   "lists them)",
                   device.free_bytes / kMiB, kLeastShare * device.l2_bytes / kMiB + 1));
    }
    return std::min(64 * device.l2_bytes, device.free_bytes / 2) / kCopyStep * kCopyStep;
}

// Runs the three kernels on slices of one large buffer, and fills L2 from another.
class MemoryBench {
  public:
    MemoryBench(Sampler& sampler, const Device& device)
        : sampler_(sampler),
          device_(device),
          arena_(arena_bytes(device) / sizeof(uint4)),
          other_(4 * device.l2_bytes / tile_bytes(4) * tile_size(4)),
          total_(1),
          fill_l2_{4, resident_blocks(Operation::read, 4, device)} {
        fill_bits(reinterpret_cast<std::uint32_t*>(arena_.data()), 4 * arena_.size(), 1, sampler.stream());
        fill_bits(reinterpret_cast<std::uint32_t*>(other_.data()), 4 * other_.size(), 2, sampler.stream());
    }

    std::vector<std::size_t> sizes() const { return memory_sizes(device_.l2_bytes, kCopyStep, arena_.bytes()); }

    // The fastest of the ways to run it; which one that is differs between cards and sizes.
    MemoryRow measure(Operation operation, Cache cache, std::size_t bytes) {
        MemoryRow best{operation, cache, bytes, 0, 0, {}};
        for (const Variant variant : variants(operation, cache, bytes)) {
            Result result = measure(operation, cache, bytes, variant);
            if (!best.result.seconds || (result.seconds && result.seconds->median < best.result.seconds->median)) {
                best = {operation, cache, bytes, variant.loads, variant.blocks, std::move(result)};
            }
        }
        best.result.work = static_cast<double>(bytes);
        if (operation != Operation::memcpy) {
            best.result.sm_cycles = best.result.work / (kPortBytesPerCycle * device_.sm_count);
        }
        return best;
    }

  private:
    static std::size_t bytes_read(Operation operation, std::size_t bytes) {
        switch (operation) {
            case Operation::read:
                return bytes;
            case Operation::write:
                return 0;
            default:
                return bytes / 2;
        }
    }

    // Bytes that one call goes over in the arena; a copy takes as many in each half of it.
    static std::size_t extent(Operation operation, std::size_t bytes) {
        return operation == Operation::copy || operation == Operation::memcpy ? bytes / 2 : bytes;
    }

    // Each number of loads with as many blocks as are resident at once, and with one for each tile. Passes inside one
    // kernel need the first, or a block would go over its own tile again and again.
    std::vector<Variant> variants(Operation operation, Cache cache, std::size_t bytes) const {
        if (operation == Operation::memcpy) {
            return {Variant{}};
        }
        std::vector<Variant> variants;
        for (const int loads : kLoadChoices) {
            const auto tiles = static_cast<int>(extent(operation, bytes) / tile_bytes(loads));
            const int resident = resident_blocks(operation, loads, device_);
            variants.push_back({loads, std::min(tiles, resident)});
            if (tiles > resident && cache != Cache::hot_in_kernel) {
                variants.push_back({loads, tiles});
            }
        }
        return variants;
    }

    Result measure(Operation operation, Cache cache, std::size_t bytes, Variant variant) {
        switch (cache) {
            case Cache::hot_in_kernel:
                return hot_in_kernel(operation, bytes, variant);
            case Cache::hot:
                return hot(operation, bytes, variant);
            case Cache::cold:
                return cold(operation, bytes, variant);
        }
        return {};
    }

    // One call on the slice-th part of the arena.
    void launch(Operation operation, std::size_t bytes, int slice, int passes, Variant variant) const {
        const cudaStream_t stream = sampler_.stream();
        const std::size_t part = extent(operation, bytes);
        uint4* first = arena_.data() + static_cast<std::size_t>(slice) * part / sizeof(uint4);
        uint4* second = first + arena_.size() / 2;
        switch (operation) {
            case Operation::copy:
                return copy(second, first, part, passes, variant, stream);
            case Operation::read:
                return read(total_.data(), first, part, passes, kNever32, variant, stream);
            case Operation::write:
                return write(first, part, passes, 3, variant, stream);
            case Operation::memcpy:
                return check(cudaMemcpyAsync(second, first, part, cudaMemcpyDeviceToDevice, stream));
        }
    }

    // Leaves L2 full of the other buffer, which is four times as large.
    void fill_l2() const {
        read(total_.data(), other_.data(), other_.bytes(), 1, kNever32, fill_l2_, sampler_.stream());
    }

    // At most L2 of a call's bytes can still be there when the next call or pass comes to them.
    double beyond_l2(std::size_t bytes) const {
        return bytes > device_.l2_bytes ? static_cast<double>(bytes - device_.l2_bytes) : 0.0;
    }

    Result hot_in_kernel(Operation operation, std::size_t bytes, Variant variant) {
        const int passes = sampler_.repeats_for(kHotSeconds, [&](int n) { launch(operation, bytes, 0, n, variant); });
        Result result = sampler_.on_device([] {}, [&] { launch(operation, bytes, 0, passes, variant); }, passes);
        result.bus_bytes = beyond_l2(bytes);
        return result;
    }

    Result hot(Operation operation, std::size_t bytes, Variant variant) {
        const auto one = [&] { launch(operation, bytes, 0, 1, variant); };
        sampler_.once(one);
        const double seconds = std::max(sampler_.once(one), 1e-6);
        const int launches = std::clamp(static_cast<int>(2e-4 / seconds), 1, kMostLaunches);
        const auto all = [&] {
            for (int i = 0; i < launches; i++) { one(); }
        };
        Result result = sampler_.on_device(one, all, launches);
        result.bus_bytes = beyond_l2(bytes);
        return result;
    }

    // As many slices as half of L2 holds, so that none is there before its call and what they write need not leave.
    Result cold(Operation operation, std::size_t bytes, Variant variant) {
        const int slices = std::clamp(static_cast<int>(device_.l2_bytes / 2 / bytes), 1, kMostLaunches);
        const auto all = [&] {
            for (int i = 0; i < slices; i++) { launch(operation, bytes, i, 1, variant); }
        };
        Result result = sampler_.on_device([&] { fill_l2(); }, all, slices);
        const std::size_t read = bytes_read(operation, bytes);
        const std::size_t written = bytes - read;
        result.bus_bytes = static_cast<double>(read) + beyond_l2(static_cast<std::size_t>(slices) * written) / slices;
        return result;
    }

    Sampler& sampler_;
    const Device& device_;
    DeviceBuffer<uint4> arena_;
    DeviceBuffer<uint4> other_;
    DeviceBuffer<std::uint32_t> total_;
    Variant fill_l2_;
};

std::string gigabytes(const Result& result) {
    const std::optional<double> rate = result.rate();
    if (rate) {
        return format("%.4g GB/s", *rate / 1e9);
    }
    return result.seconds ? "impossible" : "-";
}

void measure_memory(GpuRoof& roof, Sampler& sampler) {
    for (const int loads : kLoadChoices) { verify_memory_kernels(loads, sampler.stream()); }
    MemoryBench bench(sampler, *roof.device);
    const std::vector<std::size_t> sizes = bench.sizes();
    // Measures one row and returns its rate in words.
    const auto measure = [&](Operation operation, Cache cache, std::size_t bytes) {
        MemoryRow row = bench.measure(operation, cache, bytes);
        add_bound(row.result, *roof.device, fastest_clock(roof));
        roof.memory.push_back(row);
        return gigabytes(row.result);
    };
    const auto line = [](Operation operation, std::size_t bytes, const std::string& hot_in_kernel,
                         const std::string& hot, const std::string& cold) {
        say(format("%-10s %9.4g MiB %16s %16s %16s", name(operation), static_cast<double>(bytes) / kMiB,
                   hot_in_kernel.c_str(), hot.c_str(), cold.c_str()));
    };
    say(format("%-10s %13s %16s %16s %16s", "memory", "size", "hot in kernel", "hot", "cold"));
    for (const Operation operation : kOperations) {
        for (const std::size_t bytes : sizes) {
            const std::string hot_in_kernel = measure(operation, Cache::hot_in_kernel, bytes);
            const std::string hot = measure(operation, Cache::hot, bytes);
            line(operation, bytes, hot_in_kernel, hot, measure(operation, Cache::cold, bytes));
        }
    }
    // The library's own copy, to see that the kernel is no worse.
    line(Operation::memcpy, sizes.back(), "", "", measure(Operation::memcpy, Cache::cold, sizes.back()));
}

// ---- Arithmetic and shared memory

constexpr float kNever = std::numeric_limits<float>::infinity();
constexpr float kAlways = -kNever;

void fma(float* out, ClockReading* clock, int rounds, float needle, std::uint32_t seed, int grid, cudaStream_t stream) {
    fma_kernel<<<grid, kBlock, 0, stream>>>(out, clock, rounds, needle, seed);
    check(cudaGetLastError());
}

template <class Precision>
void mma(float* out, ClockReading* clock, int rounds, float needle, float middle, float spread, std::uint32_t seed,
         int grid, cudaStream_t stream) {
    mma_kernel<Precision><<<grid, kBlock, 0, stream>>>(out, clock, rounds, needle, middle, spread, seed);
    check(cudaGetLastError());
}

void shared_read(std::uint32_t* total, ClockReading* clock, int rounds, std::uint32_t needle, std::uint32_t seed,
                 int grid, cudaStream_t stream) {
    shared_read_kernel<<<grid, kBlock, 0, stream>>>(total, clock, rounds, needle, seed);
    check(cudaGetLastError());
}

// The same points turned on the host.
void verify_fma(cudaStream_t stream) {
    constexpr int kRounds = 3;
    constexpr std::uint32_t kSeed = 5;
    const DeviceBuffer<float> out(kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    fma(out.data(), clock.data(), kRounds, kAlways, kSeed, 1, stream);
    const std::vector<float> got = to_host(out.data(), out.size(), stream);
    bool right = true;
    for (std::uint32_t thread = 0; thread < kBlock; thread++) {
        const std::uint32_t first = kSeed + thread * (2 * kFmaPairs + 1);
        const float s = 0.5F + 0.25F * uniform(first);
        float sum = 0;
        for (std::uint32_t i = 0; i < kFmaPairs; i++) {
            float x = uniform(first + 1 + 2 * i);
            float y = uniform(first + 2 + 2 * i);
            for (int step = 0; step < kRounds * kFmaSteps; step++) {
                x = std::fma(s, y, x);
                y = std::fma(-s, x, y);
            }
            sum += x + y;
        }
        right = right && std::abs(got[thread] - sum) <= 1e-3F;
    }
    require(right, "fp32 multiply-add");
}

// With every operand 1/2 each product adds kDepth / 4 to each output, wherever the warp's registers hold it.
template <class Precision>
void verify_mma(cudaStream_t stream, const char* what) {
    constexpr int kRounds = 3;
    const DeviceBuffer<float> out(kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    mma<Precision>(out.data(), clock.data(), kRounds, kAlways, 0.5F, 0.0F, 7, 1, stream);
    constexpr float kExpected = kMmaOutputs * kRounds * kMmaSteps * Precision::kDepth / 4.0F;
    const std::vector<float> got = to_host(out.data(), out.size(), stream);
    require(std::all_of(got.begin(), got.end(), [](float value) { return value == kExpected; }), what);
}

void verify_shared_read(cudaStream_t stream) {
    constexpr int kRounds = 5, kGrid = 2;
    constexpr std::uint32_t kSeed = 9;
    const DeviceBuffer<std::uint32_t> total(1);
    const DeviceBuffer<ClockReading> clock(1);
    set(total.data(), 0U, stream);
    shared_read(total.data(), clock.data(), kRounds, 0, kSeed, kGrid, stream);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kSharedBytes / 4 * kGrid; i++) { sum += scramble(kSeed + i); }
    require(to_host(total.data(), 1, stream)[0] == kRounds * sum, "shared-memory");
}

// Samples of a kernel that repeats its work `rounds` times inside; `work` and `sm_cycles` are those of one round.
Result measure_rounds(Sampler& sampler, const ClockReading* clock, double work, double sm_cycles,
                      const std::function<void(int)>& launch) {
    const int rounds = sampler.repeats_for(kComputeSeconds, launch);
    Result result = sampler.on_device([] {}, [&] { launch(rounds); }, 1);
    result.work = work * rounds;
    result.sm_cycles = sm_cycles * rounds;
    const ClockReading reading = to_host(clock, 1, sampler.stream())[0];
    if (result.seconds && reading.nanoseconds > 0) {
        result.sm_clock = static_cast<double>(reading.cycles) / static_cast<double>(reading.nanoseconds) * 1e9;
    }
    return result;
}

// Adds the bound to a result and prints it.
void conclude(GpuRoof& roof, Result& result, const std::string& what, double unit, const char* unit_name) {
    add_bound(result, *roof.device, fastest_clock(roof));
    const std::optional<double> rate = result.rate();
    if (rate) {
        say(format("%-36s %8.4g %s%s", what.c_str(), *rate / unit, unit_name,
                   result.sm_clock ? format(" at %.4g MHz", *result.sm_clock / 1e6).c_str() : ""));
    } else {
        say(format("%-36s %s", what.c_str(), result.seconds ? "impossible" : result.why.c_str()));
    }
}

void measure_fma(GpuRoof& roof, Sampler& sampler) {
    verify_fma(sampler.stream());
    const int grid = resident_blocks(fma_kernel, *roof.device);
    const DeviceBuffer<float> out(static_cast<std::size_t>(grid) * kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    const double work = kFmaFlopPerRound * kBlock * grid;
    roof.fma =
        measure_rounds(sampler, clock.data(), work, work / (fma_flop_per_cycle(*roof.device) * roof.device->sm_count),
                       [&](int rounds) { fma(out.data(), clock.data(), rounds, kNever, 1, grid, sampler.stream()); });
    conclude(roof, roof.fma, "fp32 multiply-adds", 1e12, "TFLOP/s");
}

template <class Precision>
Result measure_mma(const Device& device, Sampler& sampler, double flop_per_cycle, const char* what) {
    if (device.capability() < 80) {
        return not_measured(format("needs compute capability 8.0; this card has %d.%d", device.major, device.minor));
    }
    const int built = compiled_for(mma_kernel<Precision>);
    if (built < 80) {
        return not_measured(format("this program was built for sm_%d; build it with -arch=native", built));
    }
    verify_mma<Precision>(sampler.stream(), what);
    const int grid = resident_blocks(mma_kernel<Precision>, device);
    const DeviceBuffer<float> out(static_cast<std::size_t>(grid) * kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    constexpr int kWarpsPerBlock = kBlock / 32;
    const double work = kMmaFlopPerRound<Precision> * kWarpsPerBlock * grid;
    const double cycles = flop_per_cycle > 0 ? work / (flop_per_cycle * device.sm_count) : 0;
    return measure_rounds(sampler, clock.data(), work, cycles, [&](int rounds) {
        mma<Precision>(out.data(), clock.data(), rounds, kNever, 0.0F, 1.0F, 1, grid, sampler.stream());
    });
}

void measure_shared_read(GpuRoof& roof, Sampler& sampler) {
    verify_shared_read(sampler.stream());
    const int grid = resident_blocks(shared_read_kernel, *roof.device);
    const DeviceBuffer<std::uint32_t> total(1);
    const DeviceBuffer<ClockReading> clock(1);
    const double work = static_cast<double>(kSharedBytes) * grid;
    roof.shared_read = measure_rounds(
        sampler, clock.data(), work, work / (kPortBytesPerCycle * roof.device->sm_count),
        [&](int rounds) { shared_read(total.data(), clock.data(), rounds, kNever32, 1, grid, sampler.stream()); });
    conclude(roof, roof.shared_read, "shared memory, read", 1e9, "GB/s");
}

// ---- cuBLAS

float to_float(float value) {
    return value;
}
float to_float(__nv_bfloat16 value) {
    return __bfloat162float(value);
}

// A few outputs against sums in double. Inputs are uniform in [-1, 1], so that an output is about sqrt(C) / 3; bf16
// rounds it by at most 1/256 of itself, and TF32 rounds the inputs by 1/2048.
template <class T>
void verify_matmul(const T* out, const T* inp, const T* weight, const MatmulShape& shape, cudaStream_t stream) {
    for (int i = 0; i < 8; i++) {
        const auto n = static_cast<std::size_t>(scramble(static_cast<std::uint32_t>(i)) % shape.N);
        const auto oc = static_cast<std::size_t>(scramble(static_cast<std::uint32_t>(i + 100)) % shape.OC);
        const auto C = static_cast<std::size_t>(shape.C);
        const std::vector<T> inp_n = to_host(inp + n * C, C, stream);          // inp[n, :]
        const std::vector<T> weight_oc = to_host(weight + oc * C, C, stream);  // weight[oc, :]
        double expected = 0;
        for (std::size_t c = 0; c < C; c++) {
            expected += static_cast<double>(to_float(inp_n[c])) * static_cast<double>(to_float(weight_oc[c]));
        }
        const T got = to_host(out + n * static_cast<std::size_t>(shape.OC) + oc, 1, stream)[0];
        const double error = std::abs(static_cast<double>(to_float(got)) - expected);
        if (!(error <= 0.02 * std::sqrt(static_cast<double>(shape.C)))) {
            throw std::runtime_error(
                format("out[%zu, %zu] is %g where %g is right", n, oc, static_cast<double>(to_float(got)), expected));
        }
    }
}

template <class T>
GemmRow measure_gemm(const Cublas& cublas, Cublas::Precision precision, const MatmulShape& shape, const Device& device,
                     double flop_per_cycle, Sampler& sampler) {
    constexpr int kGrid = 4096;
    const cudaStream_t stream = sampler.stream();
    const auto elements = [](int rows, int cols) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    };
    GemmRow row{shape, {}};
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t needed =
        sizeof(T) * (elements(shape.N, shape.OC) + elements(shape.N, shape.C) + elements(shape.OC, shape.C));
    if (needed > free_bytes / 2 || sampler.out_of_time()) {
        row.result = not_measured(sampler.out_of_time() ? kOutOfTime : "not measured: too little memory is free");
        return row;
    }
    const DeviceBuffer<T> out(elements(shape.N, shape.OC));     // (N, OC)
    const DeviceBuffer<T> inp(elements(shape.N, shape.C));      // (N, C)
    const DeviceBuffer<T> weight(elements(shape.OC, shape.C));  // (OC, C)
    fill_uniform_kernel<T><<<kGrid, kBlock, 0, stream>>>(inp.data(), inp.size(), 1);
    check(cudaGetLastError());
    fill_uniform_kernel<T><<<kGrid, kBlock, 0, stream>>>(weight.data(), weight.size(), 0x40000000U);
    check(cudaGetLastError());
    check(cudaMemsetAsync(out.data(), 0xFF, out.bytes(), stream));  // NaN
    const auto matmul = [&] { cublas.matmul(precision, out.data(), inp.data(), weight.data(), shape); };
    sampler.once(matmul);
    verify_matmul(out.data(), inp.data(), weight.data(), shape, stream);
    if (sampler.once(matmul) > kLongestGemm) {
        row.result = not_measured("not measured: too large for this card");
        return row;
    }
    row.result = sampler.on_device([] {}, matmul, 1);
    row.result.work = shape.flop();
    row.result.sm_cycles = flop_per_cycle > 0 ? shape.flop() / (flop_per_cycle * device.sm_count) : 0;
    return row;
}

template <class T>
void measure_cublas(GpuRoof& roof, TensorRoof& tensor, const Cublas& cublas, Cublas::Precision precision,
                    double flop_per_cycle, const char* what, Sampler& sampler) {
    for (const MatmulShape& shape : kGemmShapes) {
        GemmRow row{shape, {}};
        try {
            row = measure_gemm<T>(cublas, precision, shape, *roof.device, flop_per_cycle, sampler);
        } catch (const std::exception& error) { row.result = not_measured(error.what()); }
        conclude(roof, row.result, format("%s, cuBLAS, %d x %d x %d", what, shape.N, shape.OC, shape.C), 1e12,
                 "TFLOP/s");
        tensor.cublas.push_back(row);
    }
}

void measure_tensor(GpuRoof& roof, Sampler& sampler, const std::string& cublas_path) {
    const Device& device = *roof.device;
    const double bf16_flop = bf16_flop_per_cycle(device);
    roof.tf32.mma_sync = measure_mma<Tf32>(device, sampler, bf16_flop / 2, "TF32 tensor");
    conclude(roof, roof.tf32.mma_sync, "TF32, mma.sync", 1e12, "TFLOP/s");
    roof.bf16.mma_sync = measure_mma<Bf16>(device, sampler, bf16_flop, "bf16 tensor");
    conclude(roof, roof.bf16.mma_sync, "bf16, mma.sync", 1e12, "TFLOP/s");

    std::string why;
    if (device.capability() < 80) {
        why = roof.tf32.mma_sync.why;
    } else {
        try {
            const Cublas cublas(cublas_path, sampler.stream());
            roof.cublas_version = cublas.version();
            measure_cublas<float>(roof, roof.tf32, cublas, Cublas::Precision::tf32, bf16_flop / 2, "TF32", sampler);
            measure_cublas<__nv_bfloat16>(roof, roof.bf16, cublas, Cublas::Precision::bf16, bf16_flop, "bf16", sampler);
        } catch (const std::runtime_error& error) {
            why = format(
                "cuBLAS cannot be used (%s): name its file with --cublas, or its folder in LD_LIBRARY_PATH; "
                "`find / -name 'libcublas.so*'` finds it",
                error.what());
        }
    }
    roof.tf32.why_no_cublas = roof.bf16.why_no_cublas = why;
    if (!why.empty()) {
        say("cuBLAS: " + why);
    }
}

// ---- Launches and host copies

void launch_empty(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
    check(cudaGetLastError());
}

void measure_launches(GpuRoof& roof, Sampler& sampler) {
    constexpr int kQueued = 200;  // fewer than a stream holds without making the host wait
    constexpr int kBackToBack = 1000;
    constexpr int kSynchronised = 20;
    const cudaStream_t stream = sampler.stream();
    const auto launches = [stream](int count) {
        for (int i = 0; i < count; i++) { launch_empty(stream); }
    };
    LaunchRoof& launch = roof.launch;
    launch.queued = sampler.on_device([] {}, [&] { launches(kQueued); }, kQueued);
    launch.event_pair = sampler.on_device([] {}, [&] { launches(1); }, 1);
    launch.back_to_back = sampler.on_host(
        [&] {
            launches(kBackToBack);
            check(cudaStreamSynchronize(stream));
        },
        kBackToBack);
    launch.launch_and_sync = sampler.on_host(
        [&] {
            for (int i = 0; i < kSynchronised; i++) {
                launch_empty(stream);
                check(cudaStreamSynchronize(stream));
            }
        },
        kSynchronised);
    const auto line = [](const char* what, const Result& result) {
        const std::optional<double> time = result.time();
        say(format("%-36s %s", what, time ? format("%8.4g us", *time * 1e6).c_str() : result.why.c_str()));
    };
    line("empty kernel, queued", launch.queued);
    line("empty kernel, back to back", launch.back_to_back);
    line("empty kernel, then synchronise", launch.launch_and_sync);
    line("two events around an empty kernel", launch.event_pair);
}

// `pinned` copies are timed by events, the others by the host, which takes part in them.
void measure_host_copies(GpuRoof& roof, Sampler& sampler) {
    const cudaStream_t stream = sampler.stream();
    const std::size_t words = std::min(64 * kMiB, roof.device->free_bytes / 4) / sizeof(std::uint32_t);
    const std::size_t bytes = words * sizeof(std::uint32_t);
    const DeviceBuffer<std::uint32_t> device(words);
    std::vector<std::uint32_t> pageable(words), back(words);
    for (std::size_t i = 0; i < words; i++) { pageable[i] = scramble(static_cast<std::uint32_t>(i)); }

    // Returns when the bytes have arrived.
    const auto copy = [&](void* out, const void* inp, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(out, inp, bytes, kind, stream));
        check(cudaStreamSynchronize(stream));
    };
    copy(device.data(), pageable.data(), cudaMemcpyHostToDevice);
    copy(back.data(), device.data(), cudaMemcpyDeviceToHost);
    if (back != pageable) {
        throw std::runtime_error("what was copied to the device and back has changed on the way");
    }
    HostCopyRoof& host = roof.host;
    host.to_device_pageable = sampler.on_host([&] { copy(device.data(), pageable.data(), cudaMemcpyHostToDevice); }, 1);
    host.to_host_pageable = sampler.on_host([&] { copy(back.data(), device.data(), cudaMemcpyDeviceToHost); }, 1);
    try {
        const PinnedBuffer<std::uint32_t> pinned(words);
        std::copy(pageable.begin(), pageable.end(), pinned.data());
        host.to_device_pinned = sampler.on_device(
            [] {}, [&] { check(cudaMemcpyAsync(device.data(), pinned.data(), bytes, cudaMemcpyHostToDevice, stream)); },
            1);
        host.to_host_pinned = sampler.on_device(
            [] {}, [&] { check(cudaMemcpyAsync(pinned.data(), device.data(), bytes, cudaMemcpyDeviceToHost, stream)); },
            1);
    } catch (const CudaError& error) {
        host.to_device_pinned = host.to_host_pinned =
            not_measured(format("no pinned memory could be had (%s)", error.what()));
    }
    for (Result* result :
         {&host.to_device_pinned, &host.to_host_pinned, &host.to_device_pageable, &host.to_host_pageable}) {
        result->work = static_cast<double>(bytes);
    }
    conclude(roof, host.to_device_pinned, "host to device, pinned", 1e9, "GB/s");
    conclude(roof, host.to_host_pinned, "device to host, pinned", 1e9, "GB/s");
    conclude(roof, host.to_device_pageable, "host to device, pageable", 1e9, "GB/s");
    conclude(roof, host.to_host_pageable, "device to host, pageable", 1e9, "GB/s");
}

// ---- All of it

// Multiply-adds for half a second, until the clocks are up; the clock is read while they run.
void warm_up(GpuRoof& roof, Sampler& sampler, const Nvml* nvml) {
    const int grid = resident_blocks(fma_kernel, *roof.device);
    const DeviceBuffer<float> out(static_cast<std::size_t>(grid) * kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    const auto run = [&](int rounds) { fma(out.data(), clock.data(), rounds, kNever, 1, grid, sampler.stream()); };
    const int rounds = sampler.repeats_for(5e-3, run);
    for (int i = 0; i < 80; i++) {
        sampler.once([&] { run(rounds); });
    }
    for (int i = 0; i < 20; i++) { run(rounds); }
    if (nvml != nullptr) {
        roof.sm_clock = nvml->sm_clock();
        roof.sm_clock_max = nvml->sm_clock_max();
    }
    check(cudaStreamSynchronize(sampler.stream()));
}

// Throws where the program holds no code that this card can run.
void require_code_for(const Device& device) {
    try {
        compiled_for(copy_kernel<1>);
    } catch (const CudaError& error) {
        throw std::runtime_error(
            format("this program holds no code for compute capability %d.%d (%s): build it with "
                   "-arch=native",
                   device.major, device.minor, cudaGetErrorName(error.code)));
    }
}

GpuRoof measure(int index, const std::string& cublas_path) {
    GpuRoof roof;
    roof.runtime_cuda = CUDART_VERSION;
    roof.device = open_device(index);
    const Device& device = *roof.device;
    say(format("%s, compute capability %d.%d, %d multiprocessors, L2 %.4g MiB", device.name.c_str(), device.major,
               device.minor, device.sm_count, static_cast<double>(device.l2_bytes) / kMiB));
    require_code_for(device);
    arena_bytes(device);  // throws now rather than after a minute
    std::unique_ptr<Nvml> nvml;
    try {
        nvml = std::make_unique<Nvml>(device.pci_bus_id);
        roof.driver_version = nvml->driver_version();
    } catch (const std::runtime_error& error) { say(format("NVML: %s; the clocks it tells stay null", error.what())); }
    Sampler sampler;
    warm_up(roof, sampler, nvml.get());
    measure_launches(roof, sampler);
    measure_fma(roof, sampler);
    measure_tensor(roof, sampler, cublas_path);
    measure_shared_read(roof, sampler);
    measure_host_copies(roof, sampler);
    measure_memory(roof, sampler);  // last: it has the most to leave out where time is short

    const std::optional<double> clock = fastest_clock(roof);
    int impossible = 0;
    for_each(roof, [&](Result& result) {
        add_bound(result, device, clock);
        impossible += result.impossible() ? 1 : 0;
    });
    if (impossible > 0) {
        say(format("impossible results: %d; the JSON says why, and does not count them", impossible));
    }
    roof.seconds = sampler.elapsed();
    return roof;
}

// What `measure` returns, with nothing measured: for --dry-run.
GpuRoof dry_roof() {
    constexpr std::size_t kSomeL2 = 4 * kMiB, kSomeMemory = 1024 * kMiB;
    GpuRoof roof;
    roof.runtime_cuda = CUDART_VERSION;
    for (const Operation operation : kOperations) {
        for (const std::size_t bytes : memory_sizes(kSomeL2, kCopyStep, kSomeMemory / 2)) {
            for (const Cache cache : kCaches) { roof.memory.push_back({operation, cache, bytes, 0, 0, {}}); }
        }
    }
    for (TensorRoof* tensor : {&roof.tf32, &roof.bf16}) {
        for (const MatmulShape& shape : kGemmShapes) { tensor->cublas.push_back({shape, {}}); }
    }
    for_each(roof, [](Result& result) { result = not_measured("--dry-run measures nothing"); });
    roof.tf32.why_no_cublas = roof.bf16.why_no_cublas = roof.fma.why;
    return roof;
}

// ---- The command line

struct Options {
    int device = 0;
    std::string cublas_path;
    bool dry_run = false;
    bool help = false;
};

constexpr const char* kUsage =
    "usage: calibrate_gpu [--device N] [--cublas FILE] [--dry-run]\n"
    "Measures what this GPU does at best; one JSON object on stdout, progress on stderr.\n"
    "  --device N     which GPU, as CUDA counts them (0)\n"
    "  --cublas FILE  libcublas.so, where the loader does not find it by itself\n"
    "  --dry-run      measures nothing and needs no GPU: the same object, full of nulls\n";

// Throws std::invalid_argument.
Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string_view word = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == argc) {
                throw std::invalid_argument(std::string(word) + " needs a value");
            }
            return argv[++i];
        };
        if (word == "--dry-run") {
            options.dry_run = true;
        } else if (word == "--help" || word == "-h") {
            options.help = true;
        } else if (word == "--cublas") {
            options.cublas_path = value();
        } else if (word == "--device") {
            const std::string number = value();
            char* end = nullptr;
            const long device = std::strtol(number.c_str(), &end, 10);
            if (number.empty() || *end != '\0' || device < 0 || device > 1024) {
                throw std::invalid_argument("--device takes a number from 0, not '" + number + "'");
            }
            options.device = static_cast<int>(device);
        } else {
            throw std::invalid_argument("'" + std::string(word) + "' is no option");
        }
    }
    return options;
}

int run(int argc, char** argv) {
    Options options;
    try {
        options = parse(argc, argv);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "calibrate_gpu: %s\n%s", error.what(), kUsage);
        return kExitUsage;
    }
    if (options.help) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    try {
        const GpuRoof roof = options.dry_run ? dry_roof() : measure(options.device, options.cublas_path);
        std::puts(to_json(roof).c_str());
        return 0;
    } catch (const NoGpu& error) {
        std::fprintf(stderr, "calibrate_gpu: %s\n", error.what());
        return kExitNoGpu;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "calibrate_gpu: %s\n", error.what());
        return 1;
    }
}

}  // namespace
}  // namespace checker

int main(int argc, char** argv) {
    return checker::run(argc, argv);
}
