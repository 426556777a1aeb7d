// SPDX-License-Identifier: MIT
//
// No exercise. Does it pay to keep the residual stream in L2 while the MLP's activations go by? One kernel writes x, the
// next moves as much else as the MLP writes, the third adds x to something: out[i] = x[i] + y[i]. A window of
// cudaAccessPolicyWindow over x asks for its lines to persist.
//
//   make run FILE=lessons/17_cuda_graphs/l2_persistence.cu                 on the CPU device: right or wrong, no times
//   make run FILE=lessons/17_cuda_graphs/l2_persistence.cu DEVICE=gpu      ARGS='4096 2304': a layer's qkv as x
//
// Lines that persist do so until they are reset, after the window is gone and in spite of the flush before the next sample:
// without a reset a sample with the window off measures the window of the one before. The last row shows that.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/device.h"

using checker::check;
using Tensor = checker::DeviceBuffer<float>;

namespace {

constexpr int kBlock = 256;      // threads
constexpr int kRounds = 101;     // samples of each row of the table
constexpr std::size_t kC = 768;  // channels of the stream; the MLP has four times as many

__global__ void write_kernel(float* x, std::size_t N) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < N) {
        x[i] = static_cast<float>(i % 1000);
    }
}

__global__ void go_by_kernel(float* out, const float* inp, std::size_t N) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < N) {
        out[i] = inp[i] + 1.0f;
    }
}

__global__ void add_kernel(float* out, const float* x, const float* y, std::size_t N) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < N) {
        out[i] = x[i] + y[i];
    }
}

unsigned blocks(const Tensor& tensor) {
    return static_cast<unsigned>((tensor.size() + kBlock - 1) / kBlock);
}

double megabytes(std::size_t bytes) {
    return 1e-6 * static_cast<double>(bytes);
}

struct Row {
    const char* name;
    bool goes_by;                  // whether something goes by between the write and the add
    bool window;                   // whether x's lines are to persist
    bool reset;                    // whether those of the sample before are reset first
    std::vector<double> add, all;  // microseconds of the third kernel, of all three
};

class Experiment {
  public:
    Experiment(std::size_t rows, std::size_t C, const cudaDeviceProp& card)
        : x_(rows * C),
          y_(rows * C),
          out_(rows * C),
          inp_(rows * 4 * kC),
          by_(rows * 4 * kC),
          flush_(std::max<std::size_t>(card.l2CacheSize, 1 << 14)) {
        // The same part is set aside for every row of the table. Other lines may use it too, where none persists in it.
        const auto most = static_cast<std::size_t>(card.persistingL2CacheMaxSize);
        check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::min(x_.bytes(), most)));
        check(cudaDeviceGetLimit(&aside_, cudaLimitPersistingL2CacheSize));
        const auto longest = static_cast<std::size_t>(card.accessPolicyMaxWindowSize);
        window_ = longest > 0 ? std::min(x_.bytes(), longest) : x_.bytes();
        check(cudaMemsetAsync(inp_.data(), 0, inp_.bytes(), stream_.get()));
        write(y_);
    }
    Experiment(const Experiment&) = delete;
    Experiment& operator=(const Experiment&) = delete;
    ~Experiment() { static_cast<void>(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0)); }

    std::size_t bytes() const { return x_.bytes(); }
    std::size_t bytes_between() const { return inp_.bytes() + by_.bytes(); }
    std::size_t bytes_aside() const { return aside_; }
    // The share of the window's lines that are to persist: as many as there is room for, lest they evict each other.
    float hit_ratio() const {
        return aside_ == 0 ? 1.0f : std::min(1.0f, static_cast<float>(aside_) / static_cast<float>(window_));
    }

    void sample(Row& row) {
        const cudaStream_t stream = stream_.get();
        if (row.reset) {
            check(cudaCtxResetPersistingL2Cache());
        }
        set_window(false);
        write(flush_);
        check(cudaMemsetAsync(out_.data(), 0, out_.bytes(), stream));
        set_window(row.window);
        begin_.record(stream);
        write(x_);
        if (row.goes_by) {
            go_by_kernel<<<blocks(by_), kBlock, 0, stream>>>(by_.data(), inp_.data(), by_.size());
            check(cudaGetLastError());
        }
        middle_.record(stream);
        add_kernel<<<blocks(x_), kBlock, 0, stream>>>(out_.data(), x_.data(), y_.data(), x_.size());
        check(cudaGetLastError());
        end_.record(stream);
        end_.wait();
        row.add.push_back(1e6 * end_.seconds_since(middle_));
        row.all.push_back(1e6 * end_.seconds_since(begin_));
    }

    // Of the last sample: y is what x is.
    void check_out(const std::string& name) const {
        std::vector<float> out(out_.size());
        check(cudaMemcpy(out.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < out.size(); i++) {
            const std::size_t expected = 2 * (i % 1000);
            if (!(out[i] == static_cast<float>(expected))) {
                throw std::runtime_error(name + ": out[" + std::to_string(i) + "] is " + std::to_string(out[i]) +
                                         ", not " + std::to_string(expected));
            }
        }
    }

  private:
    void write(const Tensor& tensor) {
        write_kernel<<<blocks(tensor), kBlock, 0, stream_.get()>>>(tensor.data(), tensor.size());
        check(cudaGetLastError());
    }

    // A window of 0 bytes is none.
    void set_window(bool on) {
        cudaStreamAttrValue value = {};
        value.accessPolicyWindow.base_ptr = x_.data();
        value.accessPolicyWindow.num_bytes = on ? window_ : 0;
        value.accessPolicyWindow.hitRatio = on ? hit_ratio() : 0.0f;
        value.accessPolicyWindow.hitProp = on ? cudaAccessPropertyPersisting : cudaAccessPropertyNormal;
        value.accessPolicyWindow.missProp = on ? cudaAccessPropertyStreaming : cudaAccessPropertyNormal;
        check(cudaStreamSetAttribute(stream_.get(), cudaStreamAttributeAccessPolicyWindow, &value));
    }

    Tensor x_, y_, out_;  // (rows, C)
    Tensor inp_, by_;     // (rows, 4 * kC): fc and fc_gelu
    Tensor flush_;        // four times as many bytes as L2 has
    checker::Stream stream_{cudaStreamNonBlocking};
    checker::Event begin_, middle_, end_;
    std::size_t aside_ = 0, window_ = 0;  // bytes
};

double quantile(std::vector<double> times, double share) {
    const auto nth = times.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
    std::nth_element(times.begin(), nth, times.end());
    return *nth;
}

void run(std::size_t rows, std::size_t C, const cudaDeviceProp& card) {
    const bool has_cache = card.l2CacheSize > 0;
    Experiment experiment(rows, C, card);
    std::printf("%s: x (%zu, %zu), %.1f MB; %.1f MB go by\n", card.name, rows, C, megabytes(experiment.bytes()),
                megabytes(experiment.bytes_between()));

    Row near{"nothing goes by", false, false, true, {}, {}};
    Row off{"window off", true, false, true, {}, {}};
    Row on{"window on", true, true, true, {}, {}};
    Row left{"window off, no reset after on", true, false, false, {}, {}};
    for (int round = 0; round < (has_cache ? kRounds : 1); round++) {
        // The control comes before the window and after it in turn; `left` always follows the window.
        const bool first = round % 2 == 0;
        for (Row* row : {&near, first ? &off : &on, first ? &on : &left, first ? &left : &off}) {
            experiment.sample(*row);
            if (round == 0) {
                experiment.check_out(row->name);
            }
        }
    }
    if (!has_cache) {
        std::printf("out is right with the window on and off; this device has no L2 to keep x in, so no times\n");
        return;
    }
    std::printf("L2 %.1f MB, %.1f MB of it set aside; hit ratio %.2f; %d samples of each row, in turn\n\n",
                megabytes(static_cast<std::size_t>(card.l2CacheSize)), megabytes(experiment.bytes_aside()),
                static_cast<double>(experiment.hit_ratio()), kRounds);
    std::printf("%-31s%24s%22s\n", "median (p10 to p90), us", "the add", "all three kernels");
    for (const Row* row : {&near, &off, &on, &left}) {
        std::printf("%-31s%8.2f (%.2f to %.2f)%22.2f\n", row->name, quantile(row->add, 0.5), quantile(row->add, 0.1),
                    quantile(row->add, 0.9), quantile(row->all, 0.5));
    }
    std::printf("\nout is right in each row\n");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        cudaDeviceProp card;
        check(cudaGetDeviceProperties(&card, 0));
        const bool has_cache = card.l2CacheSize > 0;  // the CPU device has none
        const int rows = argc > 1 ? std::atoi(argv[1]) : has_cache ? 4096 : 64, C = argc > 2 ? std::atoi(argv[2]) : 768;
        if (rows < 1 || C < 1) {
            std::fprintf(stderr, "usage: l2_persistence [rows [channels]]; (4096, 768) is x at B=4, T=1024\n");
            return 2;
        }
        if (has_cache && card.persistingL2CacheMaxSize == 0) {
            std::printf("%s sets no part of its L2 aside: cards from compute capability 8.0 on do, where MIG is off\n",
                        card.name);
            return 0;
        }
        run(static_cast<std::size_t>(rows), static_cast<std::size_t>(C), card);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "l2_persistence: %s\n", error.what());
        return 1;
    }
}
