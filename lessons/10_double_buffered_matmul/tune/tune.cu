// SPDX-License-Identifier: MIT
//
// make tune-lesson10: runs the kernel with each of the sizes in tiles.h, on a GPU times all of them beside cuBLAS at GPT-2's
// shapes, and prints the sizes that suit these shapes best.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checker/clock/timing.h"
#include "checker/device.h"
#include "checker/devices/gpu/event_stopwatch.h"
#include "checker/devices/gpu/gpu_libraries.h"
#include "lessons/10_double_buffered_matmul/tune/tiles.h"

namespace {

#ifdef __SIMT__
constexpr bool kGpu = false;
#else
constexpr bool kGpu = true;
#endif

using checker::DeviceBuffer;

constexpr int kCount = static_cast<int>(std::size(kTiles));

// Where make puts the op's file without its sizes.
constexpr std::string_view kMade = "build/tune/";

// GPT-2's matmuls at B=4, T=1024, and the square that is compared with cuBLAS.
struct Shape {
    int N, C, OC;
};
constexpr Shape kShapes[] = {{4096, 4096, 4096}, {4096, 768, 768},  {4096, 768, 2304},
                             {4096, 768, 3072},  {4096, 3072, 768}, {4096, 768, 50257}};
constexpr Shape kDryRun[] = {{16, 24, 16}, {272, 8, 144}};
constexpr Shape kRagged{150, 37, 203};  // whole blocks and parts of them, a stage and a part of one

std::vector<float> draw(std::size_t count, unsigned int seed) {
    std::minstd_rand random(seed);
    std::vector<float> values(count);
    for (float& value : values) { value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F; }
    return values;
}

// The tensors of a shape on the device.
class Tensors {
  public:
    explicit Tensors(const Shape& shape)
        : shape_(shape),
          inp_host_(draw(size(shape.N, shape.C), 1)),
          weight_host_(draw(size(shape.OC, shape.C), 2)),
          out_(size(shape.N, shape.OC)),
          inp_(inp_host_.size()),
          weight_(weight_host_.size()) {
        check(cudaMemcpy(inp_.data(), inp_host_.data(), inp_.bytes(), cudaMemcpyHostToDevice));
        check(cudaMemcpy(weight_.data(), weight_host_.data(), weight_.bytes(), cudaMemcpyHostToDevice));
    }

    void run(int number) {
        Context ctx;
        kTiles[number].run(out_.data(), inp_.data(), weight_.data(), nullptr, shape_.N, shape_.C, shape_.OC, shape_.OC,
                           ctx);
    }
    void run(const checker::Cublas& cublas) {
        cublas.matmul(checker::Cublas::Precision::fp32, out_.data(), inp_.data(), weight_.data(),
                      {.N = shape_.N, .OC = shape_.OC, .C = shape_.C});
    }

    // Whether a tile's outputs are those of a sum in double, up to the rounding of C terms below 1.
    bool is_right(int number) {
        check(cudaMemset(out_.data(), 0xff, out_.bytes()));
        run(number);
        std::vector<float> out(out_.size());
        check(cudaMemcpy(out.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost));
        for (int n = 0; n < shape_.N; n++) {
            for (int o = 0; o < shape_.OC; o++) {
                double sum = 0;
                for (int c = 0; c < shape_.C; c++) {
                    sum += static_cast<double>(inp_host_[size(n, shape_.C) + c]) * weight_host_[size(o, shape_.C) + c];
                }
                if (!(std::abs(out[size(n, shape_.OC) + o] - sum) <= 1e-6 * shape_.C)) {
                    return false;
                }
            }
        }
        return true;
    }

  private:
    static std::size_t size(int rows, int columns) { return static_cast<std::size_t>(rows) * columns; }

    Shape shape_;
    std::vector<float> inp_host_, weight_host_;
    DeviceBuffer<float> out_, inp_, weight_;
};

// A row of the first table; returns whether the tile may be chosen.
bool describe(int number) {
    const Tile& tile = kTiles[number];
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, tile.kernel));
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile.kernel, tile.threads, 0));
    const bool right = Tensors(kRagged).is_right(number);
    const std::string registers = kGpu ? std::to_string(attributes.numRegs) : "-";
    const std::string spilled = kGpu ? std::to_string(attributes.localSizeBytes) : "-";
    std::printf("%4d  %3dx%-3d  %4d  %dx%d  %-9s  %7d  %4s  %5s  %6zu  %6s  %s\n", number, tile.block_n, tile.block_oc,
                tile.step, tile.thread_n, tile.thread_oc, tile.async ? "async" : "registers", tile.threads,
                registers.c_str(), spilled.c_str(), attributes.sharedSizeBytes,
                (kGpu ? std::to_string(blocks) : "-").c_str(), right ? "right" : "WRONG");
    return right;
}

// Products a second of each tile (0 where it is wrong), and of cuBLAS at the end (0 without it).
std::vector<double> rates_at(const Shape& shape, const std::vector<bool>& right, const checker::Cublas* cublas) {
    Tensors tensors(shape);
    std::vector<checker::Candidate> candidates;
    std::vector<std::size_t> of;
    for (int number = 0; number < kCount; number++) {
        if (right[number]) {
            candidates.push_back({std::to_string(number), [&tensors, number] { tensors.run(number); }});
            of.push_back(number);
        }
    }
    if (cublas != nullptr) {
        candidates.push_back({"cuBLAS", [&tensors, cublas] { tensors.run(*cublas); }});
        of.push_back(kCount);
    }
    checker::EventStopwatch stopwatch(nullptr, kGpu ? 20'000'000U : 0U);
    const checker::TimingOptions options{.enough_samples = kGpu ? 30 : 6, .max_seconds = 2, .min_sample_seconds = 0};
    const std::vector<checker::Samples> samples = checker::time_interleaved(candidates, options, stopwatch);
    std::vector<double> rates(kCount + 1);
    for (std::size_t i = 0; i < of.size(); i++) {
        rates[of[i]] = 2.0 * shape.N * shape.C * shape.OC / checker::summarise(samples[i].seconds).median;
    }
    return rates;
}

// The tile with the best geometric mean, over the shapes, of its share of the fastest tile's speed; and that share.
struct Best {
    int number = 0;
    double share = 0;
};
Best best_of(const std::vector<std::vector<double>>& rates) {
    Best best;
    for (int number = 0; number < kCount; number++) {
        double product = 1;
        for (const std::vector<double>& at : rates) {
            product *= at[number] / *std::max_element(at.begin(), at.end() - 1);
        }
        const double share = std::pow(product, 1.0 / static_cast<double>(rates.size()));
        if (share > best.share) {
            best = {number, share};
        }
    }
    return best;
}

void tune(bool dry_run) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    const std::string file = MATMUL_FILE;
    std::printf("%s\n%s, compute capability %d.%d, %d multiprocessor%s\n\n",
                file.starts_with(kMade) ? file.c_str() + kMade.size() : file.c_str(),
                kGpu ? properties.name : "the CPU device", properties.major, properties.minor,
                properties.multiProcessorCount, properties.multiProcessorCount == 1 ? "" : "s");
    std::printf("tile  block    step  lane way        threads  regs  local  shared  blocks\n");
    std::vector<bool> right;
    for (int number = 0; number < kCount; number++) { right.push_back(describe(number)); }
    if (std::find(right.begin(), right.end(), true) == right.end()) {
        throw std::runtime_error("no tile is right; make check-lesson10 says what is wrong");
    }
    if (!kGpu && !dry_run) {
        std::printf("\nRegisters, resident blocks and TFLOP/s: only a GPU tells.\n");
        return;
    }

    std::optional<checker::Cublas> cublas;
    try {
        if (kGpu) {
            cublas.emplace("", nullptr);
        }
    } catch (const std::exception& error) { std::printf("\nno cuBLAS: %s\n", error.what()); }
    std::printf("%s\n%-29s", dry_run ? "\na rehearsal without a GPU: no number below is a measurement" : "",
                "TFLOP/s, * the fastest tile");
    for (int number = 0; number < kCount; number++) { std::printf("%7d", number); }
    std::printf("  cuBLAS  share\n");
    std::vector<std::vector<double>> all;
    for (const Shape& shape : dry_run ? std::vector<Shape>(std::begin(kDryRun), std::end(kDryRun))
                                      : std::vector<Shape>(std::begin(kShapes), std::end(kShapes))) {
        const std::vector<double> rates = rates_at(shape, right, cublas ? &*cublas : nullptr);
        all.push_back(rates);
        char name[64];
        std::snprintf(name, sizeof name, "N=%d C=%d OC=%d", shape.N, shape.C, shape.OC);
        std::printf("%-29s", name);
        const double fastest = *std::max_element(rates.begin(), rates.end() - 1);
        for (int number = 0; number < kCount; number++) {
            std::printf("%6.3g%c", rates[number] * 1e-12, rates[number] == fastest ? '*' : ' ');
        }
        if (rates.back() > 0) {
            std::printf("  %6.3g  %5.2f", rates.back() * 1e-12, fastest / rates.back());
        }
        std::printf("\n");
    }

    const Best best = best_of(all);
    const Tile& tile = kTiles[best.number];
    std::printf(
        "\ntile %d has %.0f%% of the fastest tile's speed on average over these shapes. In matmul.cu:\n"
        "constexpr int kBlockN = %d, kBlockOC = %d;\nconstexpr int kThreadN = %d, kThreadOC = %d;\n"
        "constexpr int kStep = %d;\nconstexpr bool kAsync = %s;\n",
        best.number, 100 * best.share, tile.block_n, tile.block_oc, tile.thread_n, tile.thread_oc, tile.step,
        tile.async ? "ptx::kHasCpAsync" : "false");
}

}  // namespace

int main(int argc, char** argv) {
    const bool dry_run = argc == 2 && std::strcmp(argv[1], "--rehearse") == 0;
    if (argc > 2 || (argc == 2 && !dry_run)) {
        std::fprintf(stderr, "usage: tune [--rehearse]\n");
        return 2;
    }
    try {
        tune(dry_run);
        return 0;
    } catch (const std::exception& error) {
        std::fflush(stdout);  // what went before goes first
        std::fprintf(stderr, "tune: %s\n", error.what());
        return 1;
    }
}
