// SPDX-License-Identifier: MIT
//
// make tune-lesson09: runs every tile of tiles.h, on a GPU times them beside cuBLAS, and writes the fastest for few and
// for many outputs into tiles.h. It includes the op's file, MATMUL_FILE: so it launches tiles that matmul would not take.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/clock/timing.h"
#include "checker/gpu/device.h"
#include "checker/gpu/event_stopwatch.h"
#include "checker/gpu/gpu_libraries.h"
#include MATMUL_FILE

namespace {

#ifdef __SIMT__
constexpr bool kGpu = false;
#else
constexpr bool kGpu = true;
#endif

using checker::DeviceBuffer;

// GPT-2's matmuls at B=4, T=1024, and the square that is compared with cuBLAS.
struct Shape {
    int N, C, OC;
};
constexpr Shape kShapes[] = {{4096, 4096, 4096}, {4096, 768, 768},  {4096, 768, 2304},
                             {4096, 768, 3072},  {4096, 3072, 768}, {4096, 768, 50257}};
constexpr Shape kRehearsal[] = {{16, 24, 16}, {272, 8, 144}};
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
        with_tile(number, [&](auto tile) {
            launch<decltype(tile)>(out_.data(), inp_.data(), weight_.data(), nullptr, shape_.N, shape_.C, shape_.OC,
                                   shape_.OC, ctx);
        });
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
template <class T>
bool describe(int number, T) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, matmul_forward_kernel<T>));
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, matmul_forward_kernel<T>, T::kThreads, 0));
    const bool right = Tensors(kRagged).is_right(number);
    const std::string registers = kGpu ? std::to_string(attributes.numRegs) : "-";
    const std::string spilled = kGpu ? std::to_string(attributes.localSizeBytes) : "-";
    std::printf("%4d  %3dx%-3d  %4d  %dx%d  %-9s  %7d  %4s  %5s  %6zu  %6s  %s\n", number, T::kBlockN, T::kBlockOC,
                T::kStep, T::kThreadN, T::kThreadOC, T::kWay == Way::async ? "async" : "registers", T::kThreads,
                registers.c_str(), spilled.c_str(), attributes.sharedSizeBytes,
                (kGpu ? std::to_string(blocks) : "-").c_str(), right ? "right" : "WRONG");
    return right;
}

// Products a second of each tile (0 where it is wrong), and of cuBLAS at the end (0 without it).
std::vector<double> rates_at(const Shape& shape, const std::vector<bool>& right, const checker::Cublas* cublas) {
    Tensors tensors(shape);
    std::vector<checker::Candidate> candidates;
    std::vector<std::size_t> of;
    for (int number = 0; number < kTiles; number++) {
        if (right[number]) {
            candidates.push_back({std::to_string(number), [&tensors, number] { tensors.run(number); }});
            of.push_back(number);
        }
    }
    if (cublas != nullptr) {
        candidates.push_back({"cuBLAS", [&tensors, cublas] { tensors.run(*cublas); }});
        of.push_back(kTiles);
    }
    checker::EventStopwatch stopwatch(nullptr, kGpu ? 20'000'000U : 0U);
    const checker::TimingOptions options{.min_rounds = kGpu ? 30 : 6, .max_seconds = 2};
    const std::vector<checker::Samples> samples = checker::time_interleaved(candidates, options, stopwatch);
    std::vector<double> rates(kTiles + 1);
    for (std::size_t i = 0; i < of.size(); i++) {
        rates[of[i]] = 2.0 * shape.N * shape.C * shape.OC / checker::summarise(samples[i].seconds).median;
    }
    return rates;
}

// What tiles.h should say of a card: its own row between the marks in place of an older one. Throws where it has no marks.
std::string with_row(const std::string& text, const Choice& choice, const std::string& name) {
    const std::string key =
        "{{" + std::to_string(choice.card.capability) + ", " + std::to_string(choice.card.multiprocessors) + "},";
    const std::string row =
        "    " + key + " " + std::to_string(choice.few) + ", " + std::to_string(choice.many) + "},  // " + name + "\n";
    std::istringstream lines(text);
    std::string result;
    bool between = false, written = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "    // end tuned") {
            result += row;
            between = false;
            written = true;
        }
        if (!between || line.find(key) == std::string::npos) {
            result += line + "\n";
        }
        between = between || line == "    // tuned";
    }
    if (!written) {
        throw std::runtime_error("tiles.h has no lines `// tuned` and `// end tuned`; git checkout brings them back");
    }
    return result;
}

// The file is the old one or the new one, whatever ends the program in between.
void replace(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path beside = file.string() + ".new";
    std::ofstream out(beside);
    out << text;
    out.close();
    if (!out) {
        throw std::runtime_error(beside.string() + " cannot be written; " + file.string() + " is as it was");
    }
    std::filesystem::permissions(beside, std::filesystem::status(file).permissions());
    std::filesystem::rename(beside, file);
}

// The tile with the best mean share of the fastest at these shapes; `otherwise` where there are none.
int best_of(const std::vector<std::vector<double>>& rates, int otherwise) {
    int best = otherwise;
    double best_share = 0;
    for (int number = 0; number < kTiles; number++) {
        double share = 1;
        for (const std::vector<double>& at : rates) {
            share *= at[number] / *std::max_element(at.begin(), at.end() - 1);
        }
        if (!rates.empty() && share > best_share) {
            best_share = share;
            best = number;
        }
    }
    return best;
}

void tune(const std::string& table, bool rehearsal) {
    const Card card = card_here();
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s\n%s, compute capability %d.%d, %d multiprocessor%s\n\n", MATMUL_FILE,
                kGpu ? properties.name : "the CPU device", properties.major, properties.minor, card.multiprocessors,
                card.multiprocessors == 1 ? "" : "s");
    std::printf("tile  block    step  lane way        threads  regs  local  shared  blocks\n");
    std::vector<bool> right;
    for (int number = 0; number < kTiles; number++) {
        with_tile(number, [&](auto tile) { right.push_back(describe(number, tile)); });
    }
    if (std::find(right.begin(), right.end(), true) == right.end()) {
        throw std::runtime_error("no tile is right; make check-lesson09 says what is wrong");
    }
    if (!kGpu && !rehearsal) {
        std::printf(
            "\nTFLOP/s: not measured yet. A GPU tells registers, resident blocks and times;\n"
            "without one nothing is stored.\n");
        return;
    }

    std::optional<checker::Cublas> cublas;
    try {
        if (kGpu) {
            cublas.emplace("", nullptr);
        }
    } catch (const std::runtime_error& error) { std::printf("\nno cuBLAS: %s\n", error.what()); }
    std::printf("%s\n%-29s", rehearsal ? "\na rehearsal without a GPU: no number below is a measurement" : "",
                "TFLOP/s, * the fastest tile");
    for (int number = 0; number < kTiles; number++) { std::printf("%7d", number); }
    std::printf("  cuBLAS  share\n");
    std::vector<std::vector<double>> few, many;
    for (const Shape& shape : rehearsal ? std::vector<Shape>(std::begin(kRehearsal), std::end(kRehearsal))
                                        : std::vector<Shape>(std::begin(kShapes), std::end(kShapes))) {
        const std::vector<double> rates = rates_at(shape, right, cublas ? &*cublas : nullptr);
        const bool is_small = is_few(card, shape.N, shape.OC);
        (is_small ? few : many).push_back(rates);
        char name[64];
        std::snprintf(name, sizeof name, "N=%d C=%d OC=%d %s", shape.N, shape.C, shape.OC, is_small ? "few" : "many");
        std::printf("%-29s", name);
        const double fastest = *std::max_element(rates.begin(), rates.end() - 1);
        for (int number = 0; number < kTiles; number++) {
            std::printf("%6.3g%c", rates[number] * 1e-12, rates[number] == fastest ? '*' : ' ');
        }
        if (rates.back() > 0) {
            std::printf("  %6.3g  %5.2f", rates.back() * 1e-12, fastest / rates.back());
        }
        std::printf("\n");
    }

    // A card may have shapes of one kind only; the other kind keeps what a card that was not measured takes.
    const Choice choice{card, best_of(few, 4), best_of(many, card.capability >= 80 ? 0 : 3)};
    std::ostringstream text;
    text << std::ifstream(table).rdbuf();
    const std::string result = with_row(text.str(), choice, kGpu ? properties.name : "a rehearsal: no measurement");
    replace(table, result);
    std::printf("\nstored in %s: tile %d for few outputs, %d for many\n", table.c_str(), choice.few, choice.many);
}

}  // namespace

int main(int argc, char** argv) {
    const bool rehearsal = argc > 2 && std::strcmp(argv[2], "--rehearse") == 0;
    if (argc < 2 || argc > 3 || (argc == 3 && !rehearsal)) {
        std::fprintf(stderr, "usage: tune TILES_H [--rehearse]\n");
        return 2;
    }
    try {
        tune(argv[1], rehearsal);
        return 0;
    } catch (const std::exception& error) {
        std::fflush(stdout);  // what went before goes first
        std::fprintf(stderr, "tune: %s\n", error.what());
        return 1;
    }
}
