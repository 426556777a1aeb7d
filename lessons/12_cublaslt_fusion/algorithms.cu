// SPDX-License-Identifier: MIT
//
// No exercise. Is the heuristic's first algorithm the fastest? Asks for 8 of each of GPT-2's products (TF32, no epilogue),
// runs and times them in turn, and compares their outputs.
//
//   make run FILE=lessons/12_cublaslt_fusion/algorithms.cu                 on the CPU device: right or wrong, no times
//   make run FILE=lessons/12_cublaslt_fusion/algorithms.cu DEVICE=gpu      microseconds of each algorithm
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "checker/cublas_lt.h"
#include "checker/device.h"
#include "lessons/12_cublaslt_fusion/plan.cuh"

using checker::check;
using Tensor = checker::DeviceBuffer<float>;

namespace {

constexpr int kAsked = 8;    // algorithms
constexpr int kRounds = 31;  // samples of each

#ifdef __SIMT__
constexpr bool kTimes = false;
constexpr Problem kProblems[] = {{48, 64, 96, 256, CUBLASLT_EPILOGUE_DEFAULT}};
#else
constexpr bool kTimes = true;
constexpr Problem kProblems[] = {{4096, 768, 768, 256, CUBLASLT_EPILOGUE_DEFAULT},
                                 {4096, 768, 2304, 256, CUBLASLT_EPILOGUE_DEFAULT},
                                 {4096, 768, 3072, 256, CUBLASLT_EPILOGUE_DEFAULT},
                                 {4096, 3072, 768, 256, CUBLASLT_EPILOGUE_DEFAULT}};
#endif

std::size_t size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * columns;
}

// -1, 0 and 1: TF32 has room for each, and float for every sum, so all algorithms give the same bits.
void fill(Tensor& tensor, unsigned int factor) {
    std::vector<float> values(tensor.size());
    for (std::size_t i = 0; i < values.size(); i++) { values[i] = static_cast<float>((i * factor >> 16) % 3) - 1; }
    check(cudaMemcpy(tensor.data(), values.data(), tensor.bytes(), cudaMemcpyHostToDevice));
}

class Product {
  public:
    explicit Product(const Problem& problem)
        : plan_(product_of(problem)),
          out_(size(problem.N, problem.OC)),
          inp_(size(problem.N, problem.C)),
          weight_(size(problem.OC, problem.C)),
          workspace_(most_workspace_bytes() / sizeof(float)) {
        fill(inp_, 2654435761U);
        fill(weight_, 2246822519U);
        const checker::MatmulPreference preference(workspace_.bytes(), problem.alignment);
        check(cublasLtMatmulAlgoGetHeuristic(handle_, plan_.desc, plan_.weight, plan_.inp, plan_.out, plan_.out,
                                             preference, kAsked, found_, &count_));
        if (count_ == 0) {
            throw std::runtime_error("cuBLASLt has no algorithm for this product");
        }
    }

    int count() const { return count_; }
    std::size_t workspace_bytes(int number) const { return found_[number].workspaceSize; }

    void run(int number) {
        const cublasLtMatmulHeuristicResult_t& found = found_[number];
        check(found.state);
        const float alpha = 1.0f, beta = 0.0f;
        check(cublasLtMatmul(handle_, plan_.desc, &alpha, weight_.data(), plan_.weight, inp_.data(), plan_.inp, &beta,
                             out_.data(), plan_.out, out_.data(), plan_.out, &found.algo, workspace_.data(),
                             found.workspaceSize, nullptr));
    }

    std::vector<float> outputs(int number) {
        check(cudaMemset(out_.data(), 0xff, out_.bytes()));
        run(number);
        std::vector<float> values(out_.size());
        check(cudaMemcpy(values.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    checker::CublasLtHandle handle_;
    Plan plan_;
    Tensor out_, inp_, weight_, workspace_;
    cublasLtMatmulHeuristicResult_t found_[kAsked] = {};
    int count_ = 0;  // how many of them there are
};

// Returns the median of kRounds rounds for each algorithm, in microseconds. In a round each runs once.
std::vector<float> microseconds(Product& product) {
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> samples(product.count() * kRounds);
    for (int round = -3; round < kRounds; round++) {  // rounds below 0 warm up
        for (int number = 0; number < product.count(); number++) {
            float ms = 0;
            check(cudaEventRecord(begin));
            product.run(number);
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            check(cudaEventElapsedTime(&ms, begin, end));
            if (round >= 0) {
                samples[number * kRounds + round] = 1000 * ms;
            }
        }
    }
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    std::vector<float> medians;
    for (int number = 0; number < product.count(); number++) {
        float* first = samples.data() + number * kRounds;
        std::nth_element(first, first + kRounds / 2, first + kRounds);
        medians.push_back(first[kRounds / 2]);
    }
    return medians;
}

void report(const Problem& problem) {
    Product product(problem);
    const std::vector<float> expected = product.outputs(0);
    for (int number = 1; number < product.count(); number++) {
        if (product.outputs(number) != expected) {
            throw std::runtime_error("an algorithm gives other outputs than the first one");
        }
    }
    std::printf("N=%d C=%d OC=%d: %d of %d algorithms, the same outputs\n", problem.N, problem.C, problem.OC,
                product.count(), kAsked);
    if (kTimes) {
        const std::vector<float> us = microseconds(product);
        const float fastest = *std::min_element(us.begin(), us.end());
        for (int number = 0; number < product.count(); number++) {
            std::printf("  %d  %6.1f us  %8zu bytes of workspace%s\n", number, us[number],
                        product.workspace_bytes(number), us[number] == fastest ? "  fastest" : "");
        }
    }
}

}  // namespace

int main() {
    try {
        for (const Problem& problem : kProblems) { report(problem); }
        if (!kTimes) {
            std::printf("this device has no times\n");
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "algorithms: %s\n", error.what());
        return 1;
    }
}
