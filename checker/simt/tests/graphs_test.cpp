// SPDX-License-Identifier: MIT
//
// What executables run, when and in which order. That races between nodes are found is corpus_test's.
#include "checker/simt/runtime/streams/graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/api/lifecycle.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"

namespace {

class Graph : public testing::Test {
  protected:
    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking);
        cudaEventCreate(&event_);
    }
    void TearDown() override {
        if (executable_ != nullptr) {
            cudaGraphExecDestroy(executable_);
        }
        cudaStreamDestroy(stream_);
        cudaStreamDestroy(other_);
        cudaEventDestroy(event_);
        cudaGetLastError();
    }

    void begin() { ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess); }
    // Makes an executable of the capture; the graph goes away.
    void end() {
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
        ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    // A host function that adds the letter to `ran_`.
    void say(cudaStream_t stream, char letter) {
        letters_.push_back(std::make_unique<std::pair<Graph*, char>>(this, letter));
        const auto append = [](void* data) {
            const auto& [test, said] = *static_cast<std::pair<Graph*, char>*>(data);
            test->ran_ += said;
        };
        ASSERT_EQ(cudaLaunchHostFunc(stream, append, letters_.back().get()), cudaSuccess);
    }
    // All later work of `to` comes after what is in `from` now.
    void order(cudaStream_t from, cudaStream_t to) {
        ASSERT_EQ(cudaEventRecord(event_, from), cudaSuccess);
        ASSERT_EQ(cudaStreamWaitEvent(to, event_, 0), cudaSuccess);
    }
    std::string launch() {
        ran_.clear();
        EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaSuccess);
        EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
        return ran_;
    }

    cudaStream_t stream_ = nullptr, other_ = nullptr;
    cudaEvent_t event_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
    std::vector<std::unique_ptr<std::pair<Graph*, char>>> letters_;
    std::string ran_;
};

TEST_F(Graph, RunsWhatWasCapturedAtEachLaunchAndNotBefore) {
    begin();
    say(stream_, 'a');
    say(stream_, 'b');
    end();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(ran_, "");
    EXPECT_EQ(launch(), "ab");
    EXPECT_EQ(launch(), "ab");
    EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaSuccess);
    EXPECT_EQ(ran_, "ab") << "a launch returns before it has ended";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(ran_, "abab");
}

TEST_F(Graph, ReadsTheHostsMemoryAtEachLaunch) {
    constexpr std::size_t kBytes = 16;
    std::array<char, kBytes> pageable{};
    void *pinned = nullptr, *device = nullptr, *back = nullptr;
    cudaMallocHost(&pinned, kBytes);
    cudaMallocHost(&back, 2 * kBytes);
    cudaMalloc(&device, 2 * kBytes);
    char* const upper = static_cast<char*>(device) + kBytes;
    begin();
    cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, stream_);
    cudaMemcpyAsync(upper, pageable.data(), kBytes, cudaMemcpyHostToDevice, stream_);
    cudaMemcpyAsync(back, device, 2 * kBytes, cudaMemcpyDeviceToHost, stream_);
    end();
    for (const int value : {1, 2, 3}) {
        std::memset(pinned, value, kBytes);
        pageable.fill(static_cast<char>(10 * value));
        launch();
        EXPECT_EQ(static_cast<char*>(back)[kBytes - 1], value);
        EXPECT_EQ(static_cast<char*>(back)[kBytes], 10 * value);
    }
    EXPECT_TRUE(simt::findings().empty());
    cudaFreeHost(pinned);
    cudaFreeHost(back);
    cudaFree(device);
}

TEST_F(Graph, RunsWhatNoEdgeOrdersInTheSeedsOrder) {
    begin();
    say(stream_, 'a');
    order(stream_, other_);
    say(stream_, 'b');
    say(other_, 'x');
    say(other_, 'y');
    order(other_, stream_);
    say(stream_, 'c');
    end();
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 30; seed++) {
        simt::set_seed(seed);
        orders.insert(launch());
    }
    simt::set_seed(1);
    EXPECT_EQ(orders, (std::set<std::string>{"abxyc", "axbyc", "axybc"}));
}

TEST_F(Graph, TakesItsTurnInItsStreamAsOneOperation) {
    begin();
    order(stream_, other_);
    say(stream_, 'b');
    say(other_, 'b');
    order(other_, stream_);
    end();
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        simt::set_seed(seed);
        ran_.clear();
        say(stream_, 'a');
        cudaGraphLaunch(executable_, stream_);
        say(stream_, 'c');
        cudaStreamSynchronize(stream_);
        EXPECT_EQ(ran_, "abbc");
    }
    simt::set_seed(1);
}

TEST_F(Graph, WaitsForItsLastLaunchInAnotherStream) {
    begin();
    say(stream_, 'a');
    say(stream_, 'b');
    end();
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        simt::set_seed(seed);
        ran_.clear();
        cudaGraphLaunch(executable_, stream_);
        cudaGraphLaunch(executable_, other_);
        cudaStreamSynchronize(other_);
        EXPECT_EQ(ran_, "abab");
    }
    simt::set_seed(1);
}

TEST_F(Graph, WithoutNodesOrdersAllTheSame) {
    begin();
    end();
    EXPECT_EQ(launch(), "");
    say(stream_, 'a');
    cudaGraphLaunch(executable_, other_);
    cudaGraphLaunch(executable_, stream_);
    cudaGraphLaunch(executable_, other_);
    cudaStreamSynchronize(other_);
    EXPECT_EQ(ran_, "a");
}

TEST_F(Graph, RunsOnWhereItsExecutableIsDestroyedMeanwhile) {
    begin();
    order(stream_, other_);
    say(stream_, 'a');
    say(other_, 'a');
    order(other_, stream_);
    end();
    cudaGraphLaunch(executable_, stream_);
    EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
    executable_ = nullptr;
    cudaDeviceSynchronize();
    EXPECT_EQ(ran_, "aa");
}

TEST_F(Graph, KeepsAsFewLanesAsItHasBranches) {
    begin();
    for (int i = 0; i < 20; i++) {
        say(stream_, 'a');
        order(stream_, other_);
        say(stream_, 'b');
        say(other_, 'b');
        order(other_, stream_);
    }
    end();
    EXPECT_EQ(executable_->lanes.size(), 1U) << "beside the launch's own stream";
    std::string wanted;
    for (int i = 0; i < 20; i++) { wanted += "abb"; }
    EXPECT_EQ(launch(), wanted);
}

TEST_F(Graph, RunsEachNodeBehindThoseThatItComesAfter) {
    constexpr int kNodes = 30;
    std::mt19937 random(1);
    for (int graphs = 0; graphs < 40; graphs++) {
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
        std::vector<cudaGraphNode_t> nodes;
        std::vector<int> ran;
        const unsigned rare = 2 + random() % 12;  // edges
        for (int i = 0; i < kNodes; i++) {
            std::vector<cudaGraphNode_t> after;
            std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(after),
                         [&](auto) { return random() % rare == 0; });
            nodes.push_back(simt::Graphs::instance().add(
                graph, {.name = "node", .run = [&ran, i] { ran.push_back(i); }}, std::move(after)));
        }
        ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
        for (const std::uint64_t seed : {1, 2}) {
            simt::set_seed(seed);
            ran.clear();
            launch();
            ASSERT_EQ(ran.size(), nodes.size());
            std::vector<std::size_t> turn(kNodes);
            for (std::size_t i = 0; i < ran.size(); i++) { turn[static_cast<std::size_t>(ran[i])] = i; }
            for (const auto& node : nodes) {
                for (const auto& before : node->after) { EXPECT_LT(turn[before->number], turn[node->number]); }
            }
        }
        cudaGraphExecDestroy(std::exchange(executable_, nullptr));
        cudaGraphDestroy(graph);
    }
    simt::set_seed(1);
}

TEST_F(Graph, WithACycleHasNoExecutable) {
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    simt::Graphs& graphs = simt::Graphs::instance();
    cudaGraphNode_t const first = graphs.add(graph, {.name = "a"}, {});
    cudaGraphNode_t const second = graphs.add(graph, {.name = "b"}, {first});
    first->after.push_back(second);
    EXPECT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaErrorInvalidValue);
    EXPECT_EQ(executable_, nullptr);
    graphs.remove(second);
    EXPECT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graph, ThatIsLaunchedByAKernelOrInACaptureIsRefused) {
    begin();
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    cudaGraphExec_t none = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&none, graph, cudaGraphInstantiateFlagDeviceLaunch), cudaErrorNotSupported);
    ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    begin();
    EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaErrorNotSupported);
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_NE(simt::findings().front().text.find("makes a child graph, which the CPU device lacks"), std::string::npos);
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graph, ThatIsNoMoreIsNamedWhereItIsUsed) {
    begin();
    end();
    cudaGraphExec_t const executable = std::exchange(executable_, nullptr);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    for (const auto& use : {+[](cudaGraphExec_t it) { return cudaGraphLaunch(it, nullptr); },
                            +[](cudaGraphExec_t it) { return cudaGraphExecDestroy(it); }}) {
        simt::forget_findings();
        EXPECT_EQ(use(executable), cudaErrorInvalidValue);
        ASSERT_EQ(simt::findings().size(), 1U);
        EXPECT_EQ(simt::findings().front().kind, simt::Kind::use_after_free);
        EXPECT_NE(simt::findings().front().text.find("is given an executable graph that was made at"),
                  std::string::npos);
    }
    EXPECT_EQ(cudaGraphLaunch(nullptr, stream_), cudaErrorInvalidValue);
}

TEST_F(Graph, IsCountedWhileItLives) {
    const simt::LivingObjects before = simt::living_objects();
    begin();
    order(stream_, other_);
    say(stream_, 'a');
    say(other_, 'a');
    order(other_, stream_);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    cudaGraphInstantiate(&executable_, graph, 0);
    EXPECT_EQ(simt::living_objects().graphs, before.graphs + 1);
    EXPECT_EQ(simt::living_objects().executables, before.executables + 1);
    EXPECT_EQ(simt::living_objects().streams, before.streams) << "an executable's lanes are not the program's streams";
    EXPECT_EQ(simt::living_objects().events, before.events);
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(std::exchange(executable_, nullptr));
    EXPECT_EQ(simt::living_objects().graphs, before.graphs);
    EXPECT_EQ(simt::living_objects().executables, before.executables);
}

TEST_F(Graph, IsAFindingWhereItIsLeftAndGoneOnceTheDeviceIsReset) {
    begin();
    say(stream_, 'a');
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    for (int i = 0; i < 3; i++) { cudaGraphInstantiate(&executable_, graph, 0); }
    cudaGraphDestroy(graph);
    simt::Graphs::instance().report_left();
    const std::vector<simt::DeviceFinding> found = simt::findings();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].kind, simt::Kind::leak);
    EXPECT_EQ(found[0].text, "an executable graph was never destroyed");
    EXPECT_EQ(found[0].count, 3);
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    simt::forget_findings();
    executable_ = nullptr;
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    simt::Graphs::instance().report_left();
    EXPECT_TRUE(simt::findings().empty());
    EXPECT_EQ(simt::living_objects().graphs, 0U);
}

TEST_F(Graph, SaysWhichNodeUsesMemoryThatIsFreed) {
    void* memory = nullptr;
    cudaMalloc(&memory, 16);
    begin();
    cudaMemsetAsync(memory, 0, 16, stream_);
    end();
    cudaFree(memory);
    launch();
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_EQ(simt::findings().front().kind, simt::Kind::use_after_free);
    EXPECT_NE(simt::findings().front().text.find(", by cudaMemsetAsync (made at "), std::string::npos);
    EXPECT_NE(simt::findings().front().text.find("in the graph launched at "), std::string::npos);
}

// In a call that is deeper than those which launch later.
__attribute__((noinline)) void copy_own_variable(cudaStream_t stream, void* to, int deeper = 20) {
    volatile int variable = 7;
    if (deeper > 0) {
        copy_own_variable(stream, to, deeper - 1);
        variable = variable + 1;
    } else {
        EXPECT_EQ(cudaMemcpyAsync(to, const_cast<int*>(&variable), sizeof variable, cudaMemcpyHostToDevice, stream),
                  cudaSuccess);
    }
}

TEST_F(Graph, SaysWhichCopyGoesToAVariableThatIsNoMore) {
    void* device = nullptr;
    cudaMalloc(&device, sizeof(int));
    int here = 7;
    for (const bool is_there : {true, false}) {
        begin();
        if (is_there) {
            cudaMemcpyAsync(device, &here, sizeof here, cudaMemcpyHostToDevice, stream_);
        } else {
            copy_own_variable(stream_, device);
        }
        end();
        launch();
        ASSERT_EQ(simt::findings().size(), is_there ? 0U : 1U);
        cudaGraphExecDestroy(std::exchange(executable_, nullptr));
    }
    EXPECT_EQ(simt::findings().front().kind, simt::Kind::use_after_free);
    EXPECT_NE(simt::findings().front().text.find("reads a local variable of a function that has returned"),
              std::string::npos);
    cudaFree(device);
}

// "In the case of CUBLAS_POINTER_MODE_HOST, coefficient values are captured in the graph" (cuBLAS, "CUDA Graphs Support").
TEST_F(Graph, HoldsACallOfALibraryWithTheNumbersThatItWasGiven) {
    constexpr int kN = 4;
    void *a = nullptr, *c = nullptr;
    cudaMallocManaged(&a, kN * kN * sizeof(float));
    cudaMallocManaged(&c, kN * kN * sizeof(float));
    auto *const in = static_cast<float*>(a), *const out = static_cast<float*>(c);
    std::fill(in, in + kN * kN, 1.0F);
    cublasHandle_t handle = nullptr;
    cublasCreate_v2(&handle);
    cublasSetStream_v2(handle, stream_);
    float alpha = 2;
    const float beta = 0;
    begin();
    ASSERT_EQ(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, kN, kN, kN, &alpha, in, kN, in, kN, &beta, out, kN),
              CUBLAS_STATUS_SUCCESS);
    end();
    EXPECT_EQ(simt::type_of(executable_->nodes.at(0).operation.work), cudaGraphNodeTypeKernel);
    alpha = 100;
    for (const float value : {1.0F, 3.0F}) {
        std::fill(in, in + kN * kN, value);
        launch();
        EXPECT_EQ(out[5], 2 * kN * value * value);
    }
    cublasDestroy_v2(handle);
    cudaFree(a);
    cudaFree(c);
}

}  // namespace
