// SPDX-License-Identifier: MIT
//
// Measures the roof of a GPU: what its memory, its arithmetic, its launches and its link to the host do at best.
// One JSON object goes to stdout, once everything is measured. Takes under a minute and changes no setting of the card,
// the first that CUDA_VISIBLE_DEVICES names. With --settle nothing is measured: the card is kept at work until its clock
// stays the same, for 3 s at most, and the JSON has the clock's readings.
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/clock/timing.h"
#include "checker/device.h"
#include "checker/devices/gpu/calibrate_kernels.cuh"
#include "checker/devices/gpu/gpu_libraries.h"
#include "checker/devices/gpu/gpu_roof.h"
#include "checker/devices/gpu/gpu_sampler.h"

namespace checker {
namespace {

constexpr double kHotSeconds = 5e-4;  // of a sample of passes inside one kernel: launching is 1% of it
constexpr double kComputeSeconds = 2e-3;
constexpr double kLongestGemm = 0.06;  // a shape that takes longer is left out
constexpr int kMostLaunches = 32;      // in one sample

void say(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
}

int attribute(cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

// The first device that CUDA_VISIBLE_DEVICES leaves. Throws, with the mend, where there is none to measure.
Device open_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        throw std::runtime_error(format(
            "no GPU to measure (%s): `nvidia-smi` must list one, a container needs --gpus all, and a driver that "
            "is older than CUDA %s a newer one",
            cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status),
            cuda_version(CUDART_VERSION).c_str()));
    }
    check(cudaSetDevice(0));
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    char bus_id[32] = "";
    check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
    Device device;
    device.name = properties.name;
    device.pci_bus_id = bus_id;
    device.major = properties.major;
    device.minor = properties.minor;
    device.sm_count = properties.multiProcessorCount;
    device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    device.shared_bytes_per_sm = properties.sharedMemPerMultiprocessor;
    const MemoryLeft memory = memory_left();
    device.free_bytes = memory.free;
    device.memory_bytes = memory.all;
    check(cudaDriverGetVersion(&device.driver_cuda));
    if (const int kilohertz = attribute(cudaDevAttrClockRate); kilohertz > 0) {
        device.clock_hz = kilohertz * 1e3;
    }
    device.pageable_memory_access = attribute(cudaDevAttrPageableMemoryAccess) != 0;
    device.integrated = attribute(cudaDevAttrIntegrated) != 0;
    if (!device.integrated) {
        device.bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
        device.memory_clock_hz = attribute(cudaDevAttrMemoryClockRate) * 1e3;
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

template <class... Params, class... Args>
void launch(void (*kernel)(Params...), int blocks, cudaStream_t stream, Args... args) {
    kernel<<<blocks, kBlock, 0, stream>>>(args...);
    check(cudaGetLastError());
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

constexpr int kFillBlocks = 4096;

void fill_bits(uint4* out, std::size_t count, std::uint32_t seed, cudaStream_t stream) {
    launch(fill_bits_kernel, kFillBlocks, stream, reinterpret_cast<std::uint32_t*>(out), 4 * count, seed);
}

// The memory kernels by the 16-byte accesses that a thread has in flight.
struct MemoryKernels {
    int loads;
    decltype(&copy_kernel<4>) copy;
    decltype(&read_kernel<4>) read;
    decltype(&write_kernel<4>) write;

    std::size_t tiles(std::size_t bytes) const { return bytes / (tile_size(loads) * sizeof(uint4)); }
    int resident(Operation operation, const Device& device) const {
        return operation == Operation::copy   ? resident_blocks(copy, device)
               : operation == Operation::read ? resident_blocks(read, device)
                                              : resident_blocks(write, device);
    }
};
const MemoryKernels kMemoryKernels[] = {{4, copy_kernel<4>, read_kernel<4>, write_kernel<4>},
                                        {1, copy_kernel<1>, read_kernel<1>, write_kernel<1>}};

// All sizes are multiples of this, so that a copy's halves are whole tiles.
constexpr std::size_t kTile = tile_size(4) * sizeof(uint4);
constexpr std::size_t kCopyStep = 2 * kTile;

// How a call is run; of cudaMemcpy nothing is chosen.
struct Variant {
    const MemoryKernels* kernels = nullptr;
    int blocks = 0;
};

bool same(uint4 a, uint4 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// The kernels move every byte they should and no other, as often as they should.
void verify(const MemoryKernels& kernels, cudaStream_t stream) {
    constexpr std::size_t kBytes = 203 * kTile;
    constexpr std::size_t kCount = kBytes / sizeof(uint4);
    constexpr std::size_t kBehind = tile_size(4);  // uint4 that must not be written
    constexpr int kPasses = 3, kPoison = 0xA5;
    constexpr int kBlocks = 31;  // does not divide the number of tiles
    constexpr std::uint32_t kSeed = 11, kPoisonWord = 0x01010101U * kPoison;
    const std::size_t tiles = kernels.tiles(kBytes);
    const DeviceBuffer<uint4> inp(kCount), out(kCount + kBehind);
    const DeviceBuffer<std::uint32_t> total(1);
    fill_bits(inp.data(), kCount, kSeed, stream);
    std::vector<uint4> copied(kCount + kBehind, {kPoisonWord, kPoisonWord, kPoisonWord, kPoisonWord});
    std::vector<uint4> written = copied;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kCount; i++) {
        const std::uint32_t first = kSeed + 4 * i;
        copied[i] = {scramble(first), scramble(first + 1), scramble(first + 2), scramble(first + 3)};
        written[i] = pattern(i, kSeed + kPasses - 1);
        sum += sum_of(copied[i]);
    }
    const auto holds = [&](const std::vector<uint4>& expected) {
        const std::vector<uint4> got = to_host(out.data(), out.size(), stream);
        return std::equal(got.begin(), got.end(), expected.begin(), same);
    };

    check(cudaMemsetAsync(out.data(), kPoison, out.bytes(), stream));
    launch(kernels.copy, kBlocks, stream, out.data(), inp.data(), tiles, kPasses);
    require(holds(copied), "copy");

    set(total.data(), 0U, stream);
    launch(kernels.read, kBlocks, stream, total.data(), inp.data(), tiles, kPasses, 0U);
    require(to_host(total.data(), 1, stream)[0] == kPasses * sum, "read");

    check(cudaMemsetAsync(out.data(), kPoison, out.bytes(), stream));
    launch(kernels.write, kBlocks, stream, out.data(), tiles, kPasses, kSeed);
    require(holds(written), "write");
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
          other_(4 * device.l2_bytes / kTile * tile_size(4)),
          total_(1) {
        fill_bits(arena_.data(), arena_.size(), 1, sampler.stream());
        fill_bits(other_.data(), other_.size(), 2, sampler.stream());
    }

    std::vector<std::size_t> sizes() const { return memory_sizes(device_.l2_bytes, kCopyStep, arena_.bytes()); }

    // The fastest of the ways to run it; which one that is differs between cards and sizes.
    MemoryRow measure(Operation operation, Cache cache, std::size_t bytes) {
        MemoryRow best{operation, cache, bytes, 0, 0, {}};
        for (const Variant& variant : variants(operation, cache, bytes)) {
            Result result = measure(operation, cache, bytes, variant);
            if (!best.result.seconds || (result.seconds && result.seconds->median < best.result.seconds->median)) {
                best = {operation,        cache, bytes, variant.kernels ? variant.kernels->loads : 0, variant.blocks,
                        std::move(result)};
            }
        }
        best.result.work = static_cast<double>(bytes);
        if (operation != Operation::memcpy) {
            best.result.sm_cycles = best.result.work / (kPortBytesPerCycle * device_.sm_count);
        }
        return best;
    }

  private:
    static bool copies(Operation operation) { return operation == Operation::copy || operation == Operation::memcpy; }

    // Bytes that one call goes over in the arena; a copy takes as many in each half of it.
    static std::size_t extent(Operation operation, std::size_t bytes) { return copies(operation) ? bytes / 2 : bytes; }

    // Each number of loads with as many blocks as are resident at once, and with one for each tile. Passes inside one
    // kernel need the first, or a block would go over its own tile again and again.
    std::vector<Variant> variants(Operation operation, Cache cache, std::size_t bytes) const {
        if (operation == Operation::memcpy) {
            return {Variant{}};
        }
        std::vector<Variant> variants;
        for (const MemoryKernels& kernels : kMemoryKernels) {
            const auto tiles = static_cast<int>(kernels.tiles(extent(operation, bytes)));
            const int resident = kernels.resident(operation, device_);
            variants.push_back({&kernels, std::min(tiles, resident)});
            if (tiles > resident && cache != Cache::hot_in_kernel) {
                variants.push_back({&kernels, tiles});
            }
        }
        return variants;
    }

    // One call on the slice-th part of the arena.
    void call(Operation operation, std::size_t bytes, int slice, int passes, const Variant& variant) const {
        const cudaStream_t stream = sampler_.stream();
        const std::size_t part = extent(operation, bytes);
        uint4* first = arena_.data() + static_cast<std::size_t>(slice) * part / sizeof(uint4);
        uint4* second = first + arena_.size() / 2;
        if (operation == Operation::memcpy) {
            return check(cudaMemcpyAsync(second, first, part, cudaMemcpyDeviceToDevice, stream));
        }
        const MemoryKernels& kernels = *variant.kernels;
        if (operation == Operation::copy) {
            launch(kernels.copy, variant.blocks, stream, second, first, kernels.tiles(part), passes);
        } else if (operation == Operation::read) {
            read(kernels, variant.blocks, first, part, passes);
        } else {
            launch(kernels.write, variant.blocks, stream, first, kernels.tiles(part), passes, 3U);
        }
    }

    void read(const MemoryKernels& kernels, int blocks, const uint4* inp, std::size_t bytes, int passes) const {
        launch(kernels.read, blocks, sampler_.stream(), total_.data(), inp, kernels.tiles(bytes), passes, kNever32);
    }

    // At most L2 of a call's bytes can still be there when the next call or pass comes to them.
    double beyond_l2(std::size_t bytes) const {
        return bytes > device_.l2_bytes ? static_cast<double>(bytes - device_.l2_bytes) : 0.0;
    }

    Result measure(Operation operation, Cache cache, std::size_t bytes, const Variant& variant) {
        if (cache == Cache::cold) {
            return cold(operation, bytes, variant);
        }
        Result result;
        if (cache == Cache::hot_in_kernel) {
            const auto run = [&](int passes) { call(operation, bytes, 0, passes, variant); };
            const int passes = sampler_.repeats_for(kHotSeconds, run);
            result = sampler_.on_device([] {}, [&] { run(passes); }, passes);
        } else {
            const auto one = [&] { call(operation, bytes, 0, 1, variant); };
            sampler_.once(one);
            const double seconds = std::max(sampler_.once(one), 1e-6);
            const int launches = std::clamp(static_cast<int>(2e-4 / seconds), 1, kMostLaunches);
            const auto all = [&] {
                for (int i = 0; i < launches; i++) { one(); }
            };
            result = sampler_.on_device(one, all, launches);
        }
        result.bus_bytes = beyond_l2(bytes);
        return result;
    }

    // As many slices as half of L2 holds, so that none is there before its call and what they write need not leave. The
    // other buffer, which L2 is full of before, is four times as large.
    Result cold(Operation operation, std::size_t bytes, const Variant& variant) {
        const int slices = std::clamp(static_cast<int>(device_.l2_bytes / 2 / bytes), 1, kMostLaunches);
        const auto all = [&] {
            for (int i = 0; i < slices; i++) { call(operation, bytes, i, 1, variant); }
        };
        const MemoryKernels& kernels = kMemoryKernels[0];
        const int blocks = kernels.resident(Operation::read, device_);
        const auto fill_l2 = [&] { read(kernels, blocks, other_.data(), other_.bytes(), 1); };
        Result result = sampler_.on_device(fill_l2, all, slices);
        const std::size_t read = copies(operation) ? bytes / 2 : operation == Operation::read ? bytes : 0;
        const std::size_t written = bytes - read;
        result.bus_bytes = static_cast<double>(read) + beyond_l2(static_cast<std::size_t>(slices) * written) / slices;
        return result;
    }

    Sampler& sampler_;
    const Device& device_;
    DeviceBuffer<uint4> arena_;
    DeviceBuffer<uint4> other_;
    DeviceBuffer<std::uint32_t> total_;
};

void measure_memory(GpuRoof& roof, Sampler& sampler) {
    for (const MemoryKernels& kernels : kMemoryKernels) { verify(kernels, sampler.stream()); }
    MemoryBench bench(sampler, *roof.device);
    const std::vector<std::size_t> sizes = bench.sizes();
    for (const Operation operation : kOperations) {
        for (const std::size_t bytes : sizes) {
            for (const Cache cache : kCaches) { roof.memory.push_back(bench.measure(operation, cache, bytes)); }
        }
    }
    // The library's own copy, to see that the kernel is no worse.
    roof.memory.push_back(bench.measure(Operation::memcpy, Cache::cold, sizes.back()));
}

// ---- Arithmetic and shared memory

constexpr float kNever = std::numeric_limits<float>::infinity();
constexpr float kAlways = -kNever;

// The same points turned on the host.
void verify_fma(cudaStream_t stream) {
    constexpr int kRounds = 3;
    constexpr std::uint32_t kSeed = 5;
    const DeviceBuffer<float> out(kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    launch(fma_kernel, 1, stream, out.data(), clock.data(), kRounds, kAlways, kSeed);
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
    launch(mma_kernel<Precision>, 1, stream, out.data(), clock.data(), kRounds, kAlways, 0.5F, 0.0F, 7U);
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
    launch(shared_read_kernel, kGrid, stream, total.data(), clock.data(), kRounds, 0U, kSeed);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kSharedBytes / 4 * kGrid; i++) { sum += scramble(kSeed + i); }
    require(to_host(total.data(), 1, stream)[0] == kRounds * sum, "shared-memory");
}

// Samples of a kernel on all multiprocessors that repeats its work `rounds` times inside: kernel(out, clock, rounds,
// more...). `work` is what a block does in one round, and per_cycle what a multiprocessor can do of it in a cycle.
template <class Out, class... Params, class... More>
Result measure_rounds(Sampler& sampler, const Device& device, void (*kernel)(Out*, ClockReading*, int, Params...),
                      double work, double per_cycle, More... more) {
    const int grid = resident_blocks(kernel, device);
    const DeviceBuffer<Out> out(static_cast<std::size_t>(grid) * kBlock);
    const DeviceBuffer<ClockReading> clock(1);
    const auto run = [&](int rounds) {
        launch(kernel, grid, sampler.stream(), out.data(), clock.data(), rounds, more...);
    };
    const int rounds = sampler.repeats_for(kComputeSeconds, run);
    Result result = sampler.on_device([] {}, [&] { run(rounds); }, 1);
    result.work = work * grid * rounds;
    result.sm_cycles = per_cycle > 0 ? result.work / (per_cycle * device.sm_count) : 0;
    const ClockReading reading = to_host(clock.data(), 1, sampler.stream())[0];
    if (result.seconds && reading.nanoseconds > 0) {
        result.sm_clock = static_cast<double>(reading.cycles) / static_cast<double>(reading.nanoseconds) * 1e9;
    }
    return result;
}

Result measure_fma(const Device& device, Sampler& sampler) {
    verify_fma(sampler.stream());
    return measure_rounds(sampler, device, fma_kernel, kFmaFlopPerRound * kBlock, fma_flop_per_cycle(device), kNever,
                          1U);
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
    constexpr int kWarpsPerBlock = kBlock / 32;
    return measure_rounds(sampler, device, mma_kernel<Precision>, kMmaFlopPerRound<Precision> * kWarpsPerBlock,
                          flop_per_cycle, kNever, 0.0F, 1.0F, 1U);
}

Result measure_shared_read(const Device& device, Sampler& sampler) {
    verify_shared_read(sampler.stream());
    return measure_rounds(sampler, device, shared_read_kernel, static_cast<double>(kSharedBytes), kPortBytesPerCycle,
                          kNever32, 1U);
}

// ---- cuBLAS

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
            expected += double{static_cast<float>(inp_n[c])} * double{static_cast<float>(weight_oc[c])};
        }
        const double got =
            double{static_cast<float>(to_host(out + n * static_cast<std::size_t>(shape.OC) + oc, 1, stream)[0])};
        if (!(std::abs(got - expected) <= 0.02 * std::sqrt(static_cast<double>(shape.C)))) {
            throw std::runtime_error(format("out[%zu, %zu] is %g where %g is right", n, oc, got, expected));
        }
    }
}

template <class T>
GemmRow measure_gemm(const Cublas& cublas, Cublas::Precision precision, const MatmulShape& shape, const Device& device,
                     double flop_per_cycle, Sampler& sampler) {
    const cudaStream_t stream = sampler.stream();
    const auto elements = [](int rows, int cols) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    };
    GemmRow row{shape, {}};
    const std::size_t needed =
        sizeof(T) * (elements(shape.N, shape.OC) + elements(shape.N, shape.C) + elements(shape.OC, shape.C));
    if (needed > memory_left().free / 2 || sampler.out_of_time()) {
        row.result = not_measured(sampler.out_of_time() ? kOutOfTime : "not measured: too little memory is free");
        return row;
    }
    const DeviceBuffer<T> out(elements(shape.N, shape.OC));     // (N, OC)
    const DeviceBuffer<T> inp(elements(shape.N, shape.C));      // (N, C)
    const DeviceBuffer<T> weight(elements(shape.OC, shape.C));  // (OC, C)
    launch(fill_uniform_kernel<T>, kFillBlocks, stream, inp.data(), inp.size(), 1U);
    launch(fill_uniform_kernel<T>, kFillBlocks, stream, weight.data(), weight.size(), 0x40000000U);
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
void measure_cublas(TensorRoof& tensor, const Cublas& cublas, Cublas::Precision precision, const Device& device,
                    double flop_per_cycle, Sampler& sampler) {
    for (const MatmulShape& shape : kGemmShapes) {
        GemmRow row{shape, {}};
        try {
            row = measure_gemm<T>(cublas, precision, shape, device, flop_per_cycle, sampler);
        } catch (const std::exception& error) { row.result = not_measured(error.what()); }
        tensor.cublas.push_back(row);
    }
}

void measure_tensor(GpuRoof& roof, Sampler& sampler) {
    const Device& device = *roof.device;
    const double bf16_flop = bf16_flop_per_cycle(device);
    roof.tf32.mma_sync = measure_mma<Tf32>(device, sampler, bf16_flop / 2, "TF32 tensor");
    roof.bf16.mma_sync = measure_mma<Bf16>(device, sampler, bf16_flop, "bf16 tensor");
    std::string why;
    if (device.capability() < 80) {
        why = roof.tf32.mma_sync.why;
    } else {
        try {
            const Cublas cublas("", sampler.stream());
            roof.cublas_version = cublas.version();
            measure_cublas<float>(roof.tf32, cublas, Cublas::Precision::tf32, device, bf16_flop / 2, sampler);
            measure_cublas<__nv_bfloat16>(roof.bf16, cublas, Cublas::Precision::bf16, device, bf16_flop, sampler);
        } catch (const std::exception& error) {
            why = format(
                "cuBLAS cannot be used (%s): name its file in SOL_CUBLAS, or its folder in LD_LIBRARY_PATH; "
                "`find / -name 'libcublas.so*'` finds it",
                error.what());
            say(why);
        }
    }
    roof.tf32.why_no_cublas = roof.bf16.why_no_cublas = why;
}

// ---- Launches and host copies

LaunchRoof measure_launches(Sampler& sampler) {
    constexpr int kQueued = 200;  // fewer than a stream holds without making the host wait
    constexpr int kBackToBack = 1000;
    constexpr int kSynchronised = 20;
    const auto synchronise = [&] { check(cudaStreamSynchronize(sampler.stream())); };
    const auto launches = [&](int count) {
        for (int i = 0; i < count; i++) {
            empty_kernel<<<1, 32, 0, sampler.stream()>>>();
            check(cudaGetLastError());
        }
    };
    const auto back_to_back = [&] {
        launches(kBackToBack);
        synchronise();
    };
    const auto one_by_one = [&] {
        for (int i = 0; i < kSynchronised; i++) {
            launches(1);
            synchronise();
        }
    };
    LaunchRoof roof;
    roof.queued = sampler.on_device([] {}, [&] { launches(kQueued); }, kQueued);
    roof.event_pair = sampler.on_device([] {}, [&] { launches(1); }, 1);
    roof.back_to_back = sampler.on_host(back_to_back, kBackToBack);
    roof.launch_and_sync = sampler.on_host(one_by_one, kSynchronised);
    return roof;
}

// `pinned` copies are timed by events, the others by the host, which takes part in them.
HostCopyRoof measure_host_copies(const Device& device, Sampler& sampler) {
    const cudaStream_t stream = sampler.stream();
    const std::size_t words = std::min(64 * kMiB, device.free_bytes / 4) / sizeof(std::uint32_t);
    const std::size_t bytes = words * sizeof(std::uint32_t);
    const DeviceBuffer<std::uint32_t> there(words);
    std::vector<std::uint32_t> here(words), back(words);
    for (std::size_t i = 0; i < words; i++) { here[i] = scramble(static_cast<std::uint32_t>(i)); }

    const auto to_device = [&](const void* inp) {
        check(cudaMemcpyAsync(there.data(), inp, bytes, cudaMemcpyHostToDevice, stream));
    };
    const auto to_host = [&](void* out) {
        check(cudaMemcpyAsync(out, there.data(), bytes, cudaMemcpyDeviceToHost, stream));
    };
    const auto all = [&](const auto& copy, auto* host) {  // returns when the bytes have arrived
        copy(host);
        check(cudaStreamSynchronize(stream));
    };
    all(to_device, here.data());
    all(to_host, back.data());
    if (back != here) {
        throw std::runtime_error("what was copied to the device and back has changed on the way");
    }
    HostCopyRoof roof;
    roof.to_device_pageable = sampler.on_host([&] { all(to_device, here.data()); }, 1);
    roof.to_host_pageable = sampler.on_host([&] { all(to_host, back.data()); }, 1);
    try {
        const PinnedBuffer<std::uint32_t> pinned(words);
        std::copy(here.begin(), here.end(), pinned.data());
        roof.to_device_pinned = sampler.on_device([] {}, [&] { to_device(pinned.data()); }, 1);
        roof.to_host_pinned = sampler.on_device([] {}, [&] { to_host(pinned.data()); }, 1);
    } catch (const CudaError& error) {
        roof.to_device_pinned = roof.to_host_pinned =
            not_measured(format("no pinned memory could be had (%s)", error.what()));
    }
    for (Result* result :
         {&roof.to_device_pinned, &roof.to_host_pinned, &roof.to_device_pageable, &roof.to_host_pageable}) {
        result->work = static_cast<double>(bytes);
    }
    return roof;
}

// ---- All of it

// Multiply-adds on all multiprocessors.
class MultiplyAdds {
  public:
    MultiplyAdds(const Device& device, Sampler& sampler)
        : sampler_(sampler),
          grid_(resident_blocks(fma_kernel, device)),
          out_(static_cast<std::size_t>(grid_) * kBlock),
          clock_(1) {}

    void run(int rounds) const {
        launch(fma_kernel, grid_, sampler_.stream(), out_.data(), clock_.data(), rounds, kNever, 1U);
    }
    int rounds_for(double seconds) const {
        return sampler_.repeats_for(seconds, [this](int rounds) { run(rounds); });
    }

    // Returns the multiprocessors' clock in Hz while the last run worked, by their own counters; 0 where they do not tell.
    double clock() const {
        const ClockReading reading = to_host(clock_.data(), 1, sampler_.stream())[0];
        return reading.nanoseconds > 0
                   ? static_cast<double>(reading.cycles) / static_cast<double>(reading.nanoseconds) * 1e9
                   : 0;
    }

  private:
    Sampler& sampler_;
    int grid_;
    DeviceBuffer<float> out_;
    DeviceBuffer<ClockReading> clock_;
};

// Multiply-adds for half a second, until the clocks are up; the clock is read while they run.
void warm_up(GpuRoof& roof, Sampler& sampler, const Nvml* nvml) {
    const MultiplyAdds work(*roof.device, sampler);
    const int rounds = work.rounds_for(5e-3);
    for (int i = 0; i < 80; i++) {
        sampler.once([&] { work.run(rounds); });
    }
    for (int i = 0; i < 20; i++) { work.run(rounds); }
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

// Keeps the card at work until its clock stays the same.
Settling settle() {
    const Device device = open_device();
    require_code_for(device);
    Sampler sampler;
    const MultiplyAdds work(device, sampler);
    const int rounds = work.rounds_for(2e-2);
    const auto reading = [&] {
        for (const double begin = sampler.elapsed(); sampler.elapsed() - begin < kSettleStepSeconds;) {
            sampler.once([&] { work.run(rounds); });
        }
        return work.clock();
    };
    return settle_clock(reading, [&] { return sampler.elapsed(); });
}

GpuRoof measure() {
    GpuRoof roof;
    roof.runtime_cuda = CUDART_VERSION;
    roof.device = open_device();
    const Device& device = *roof.device;
    require_code_for(device);
    arena_bytes(device);  // throws now rather than after a minute
    std::unique_ptr<Nvml> nvml;
    try {
        nvml = std::make_unique<Nvml>(device.pci_bus_id);
        roof.driver_version = nvml->driver_version();
    } catch (const std::exception& error) { say(format("NVML: %s; the clocks it tells stay null", error.what())); }
    say("measuring " + device.name + ", under a minute …");
    Sampler sampler;
    warm_up(roof, sampler, nvml.get());
    roof.launch = measure_launches(sampler);
    roof.fma = measure_fma(device, sampler);
    measure_tensor(roof, sampler);
    roof.shared_read = measure_shared_read(device, sampler);
    roof.host = measure_host_copies(device, sampler);
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

}  // namespace
}  // namespace checker

int main(int argc, char** argv) {
    const bool settles = argc == 2 && std::string(argv[1]) == "--settle";
    if (argc > 1 && !settles) {
        checker::say("calibrate-gpu: its only option is --settle, alone");
        return 2;
    }
    try {
        std::puts(settles ? checker::to_json(checker::settle()).c_str() : checker::to_json(checker::measure()).c_str());
        return 0;
    } catch (const std::exception& error) {
        checker::say(std::string("calibrate-gpu: ") + error.what());
        return 1;
    }
}
