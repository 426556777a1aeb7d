// SPDX-License-Identifier: MIT
//
// No exercise. What does a permute of q, k and v cost? Attention's two products, by TF32 in cuBLAS, without the softmax
// between them: once with strides, where the QKV matmul left q, k and v, one call for the heads of a sequence, and straight
// into rows of out; once on permuted copies (B, NH, T, HS), one call for all heads, and out permuted back.
//
//   make run FILE=lessons/17_cuda_graphs/layouts.cu                 on the CPU device: right or wrong, no times
//   make run FILE=lessons/17_cuda_graphs/layouts.cu DEVICE=gpu      microseconds of each step
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "checker/cublas_check.h"
#include "checker/device.h"

using checker::check;
using Tensor = checker::DeviceBuffer<float>;

namespace {

constexpr int kBlock = 256;  // threads
constexpr int kRounds = 51;  // samples
constexpr int HS = 64;       // channels of a head
enum { kPermute, kProducts, kUnpermute, kSteps };

struct Sizes {
    int B, T, NH;
    __host__ __device__ long C() const { return static_cast<long>(NH) * HS; }
    __host__ __device__ long N() const { return static_cast<long>(B) * T * C(); }  // floats of q, of k, of v, of out
};

// q[b, h, t, :] = qkv[b, t, h * HS : (h + 1) * HS], and k and v the same from C and 2C on. One thread per float of q.
__global__ void permute_kernel(float* q, float* k, float* v, const float* qkv, Sizes d) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;  // ((b * NH + h) * T + t) * HS + c
    if (i < d.N()) {
        const long c = i % HS, t = i / HS % d.T, h = i / HS / d.T % d.NH, b = i / HS / d.T / d.NH;
        const float* row = qkv + (b * d.T + t) * 3 * d.C() + h * HS + c;
        q[i] = row[0];
        k[i] = row[d.C()];
        v[i] = row[2 * d.C()];
    }
}

// out[b, t, h * HS : (h + 1) * HS] = inp[b, h, t, :]
__global__ void unpermute_kernel(float* out, const float* inp, Sizes d) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < d.N()) {
        const long c = i % HS, t = i / HS % d.T, h = i / HS / d.T % d.NH, b = i / HS / d.T / d.NH;
        out[(b * d.T + t) * d.C() + h * HS + c] = inp[i];
    }
}

class Layouts {
  public:
    explicit Layouts(Sizes sizes)
        : d_(sizes),
          qkv_(3 * d_.N()),
          scores_(static_cast<std::size_t>(d_.B) * d_.NH * d_.T * d_.T),
          out_(d_.N()),
          q_(d_.N()),
          k_(d_.N()),
          v_(d_.N()),
          heads_(d_.N()) {
        // -1, 0 and 1: TF32 has room for every score, float for every sum, so both ways give the same bits.
        std::vector<float> values(qkv_.size());
        for (std::size_t i = 0; i < values.size(); i++) {
            values[i] = static_cast<float>((i * 2654435761U >> 16) % 3) - 1;
        }
        check(cudaMemcpyAsync(qkv_.data(), values.data(), qkv_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
        check(cudaStreamSynchronize(stream_.get()));
        check(cublasSetStream(cublas_, stream_.get()));
        check(cublasSetMathMode(cublas_, CUBLAS_TF32_TENSOR_OP_MATH));
    }

    std::size_t permuted_bytes() const { return 2 * (qkv_.bytes() + out_.bytes()); }

    void with_strides() {
        const long C = d_.C(), of_scores = static_cast<long>(d_.NH) * d_.T * d_.T;
        events_[kPermute].record(stream_.get());
        for (long b = 0; b < d_.B; b++) {
            const float* q = qkv_.data() + b * d_.T * 3 * C;
            const Head query{q, 3 * C, HS}, key{q + C, 3 * C, HS}, value{q + 2 * C, 3 * C, HS};
            multiply(out_.data() + b * d_.T * C, C, HS, query, key, value, scores_.data() + b * of_scores, d_.NH);
        }
        events_[kProducts].record(stream_.get());
        events_[kProducts].wait();
    }

    void with_permutes() {
        const long of_head = static_cast<long>(d_.T) * HS;
        const auto blocks = static_cast<unsigned>((d_.N() + kBlock - 1) / kBlock);
        events_[kPermute].record(stream_.get());
        permute_kernel<<<blocks, kBlock, 0, stream_.get()>>>(q_.data(), k_.data(), v_.data(), qkv_.data(), d_);
        check(cudaGetLastError());
        events_[kProducts].record(stream_.get());
        multiply(heads_.data(), HS, of_head, {q_.data(), HS, of_head}, {k_.data(), HS, of_head},
                 {v_.data(), HS, of_head}, scores_.data(), d_.B * d_.NH);
        events_[kUnpermute].record(stream_.get());
        unpermute_kernel<<<blocks, kBlock, 0, stream_.get()>>>(out_.data(), heads_.data(), d_);
        check(cudaGetLastError());
        events_[kSteps].record(stream_.get());
        events_[kSteps].wait();
    }

    // Microseconds between two steps of the last way.
    double between(int begin, int end) const { return 1e6 * events_[end].seconds_since(events_[begin]); }

    // What the last way gave; forgotten for the next.
    std::vector<float> take_out() {
        std::vector<float> out(out_.size());
        check(cudaMemcpyAsync(out.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
        check(cudaMemsetAsync(out_.data(), 0xff, out_.bytes(), stream_.get()));
        check(cudaStreamSynchronize(stream_.get()));
        return out;
    }

  private:
    struct Head {
        const float* first;
        long row, next;  // floats to the next token, to the next head
    };

    // scores = query key^T (T, T), out = scores value (T, HS), of `heads` heads.
    void multiply(float* out, long out_row, long out_next, Head query, Head key, Head value, float* scores, int heads) {
        const int T = d_.T;
        const long of_scores = static_cast<long>(T) * T;
        const float alpha = 1.0f, beta = 0.0f;
        check(cublasSgemmStridedBatched(cublas_, CUBLAS_OP_T, CUBLAS_OP_N, T, T, HS, &alpha, key.first,
                                        static_cast<int>(key.row), key.next, query.first, static_cast<int>(query.row),
                                        query.next, &beta, scores, T, of_scores, heads));
        check(cublasSgemmStridedBatched(cublas_, CUBLAS_OP_N, CUBLAS_OP_N, HS, T, T, &alpha, value.first,
                                        static_cast<int>(value.row), value.next, scores, T, of_scores, &beta, out,
                                        static_cast<int>(out_row), out_next, heads));
    }

    Sizes d_;
    Tensor qkv_;                // (B, T, 3C)
    Tensor scores_;             // (B, NH, T, T)
    Tensor out_;                // (B, T, C)
    Tensor q_, k_, v_, heads_;  // (B, NH, T, HS)
    checker::Stream stream_{cudaStreamNonBlocking};
    checker::CublasHandle cublas_;
    checker::Event events_[kSteps + 1];
};

double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main() {
    try {
        cudaDeviceProp card;
        check(cudaGetDeviceProperties(&card, 0));
        const bool has_times = card.l2CacheSize > 0;  // the CPU device has no cache, and no times
        const Sizes d = has_times ? Sizes{4, 1024, 12} : Sizes{2, 32, 3};
        Layouts layouts(d);
        std::printf("%s: B=%d T=%d C=%ld NH=%d; the permutes move %.2f MB\n", card.name, d.B, d.T, d.C(), d.NH,
                    1e-6 * static_cast<double>(layouts.permuted_bytes()));
        std::vector<double> strides, permute, products, unpermute, all;
        for (int round = 0; round < (has_times ? kRounds : 1); round++) {
            layouts.with_strides();
            strides.push_back(layouts.between(kPermute, kProducts));
            const std::vector<float> expected = round == 0 ? layouts.take_out() : std::vector<float>();
            layouts.with_permutes();
            permute.push_back(layouts.between(kPermute, kProducts));
            products.push_back(layouts.between(kProducts, kUnpermute));
            unpermute.push_back(layouts.between(kUnpermute, kSteps));
            all.push_back(layouts.between(kPermute, kSteps));
            if (round == 0 && layouts.take_out() != expected) {
                throw std::runtime_error("the two ways give different outputs");
            }
        }
        if (!has_times) {
            std::printf("both ways give the same outputs; this device has no times\n");
            return 0;
        }
        std::printf("medians of %d rounds, us\n\n%-18s%9s%10s%11s%9s\n", kRounds, "", "permute", "products",
                    "unpermute", "all");
        std::printf("%-18s%9s%10.1f%11s%9.1f\n", "strides", "", median(strides), "", median(strides));
        std::printf("%-18s%9.1f%10.1f%11.1f%9.1f\n", "permuted copies", median(permute), median(products),
                    median(unpermute), median(all));
        std::printf("\nboth ways give the same outputs\n");
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "layouts: %s\n", error.what());
        return 1;
    }
}
