// SPDX-License-Identifier: MIT
//
// What a capture takes, what it forbids, and what is left of it then.
#include "checker/simt/runtime/streams/capture.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/graphs.h"

namespace {

class Capture : public testing::Test {
  protected:
    static constexpr std::size_t kBytes = 64;

    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking);
        cudaStreamCreate(&blocking_);
        cudaEventCreate(&event_);
        cudaEventCreate(&outside_);
        cudaMalloc(&memory_, kBytes);
        cudaEventRecord(outside_, other_);
        cudaDeviceSynchronize();
    }
    void TearDown() override {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        for (cudaStream_t const stream : {stream_, other_, blocking_}) {
            cudaStreamIsCapturing(stream, &status);
            EXPECT_EQ(status, cudaStreamCaptureStatusNone);
            cudaStreamDestroy(stream);
        }
        cudaEventDestroy(event_);
        cudaEventDestroy(outside_);
        cudaFree(memory_);
        EXPECT_EQ(simt::Graphs::instance().graphs(), 0U);
        cudaGetLastError();
    }

    void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    }
    void work(cudaStream_t stream) { ASSERT_EQ(cudaMemsetAsync(memory_, 1, kBytes, stream), cudaSuccess); }
    // The error of the end; what graph there is goes away.
    cudaError_t end(cudaStream_t stream) {
        cudaGraph_t graph = nullptr;
        const cudaError_t error = cudaStreamEndCapture(stream, &graph);
        EXPECT_EQ(graph != nullptr, error == cudaSuccess);
        if (graph != nullptr) {
            cudaGraphDestroy(graph);
        }
        return error;
    }
    // The text of the one finding since the last call; empty: there is none.
    static std::string told() {
        const std::vector<simt::DeviceFinding> all = simt::findings();
        simt::forget_findings();
        EXPECT_LE(all.size(), 1U);
        EXPECT_TRUE(all.empty() || all.front().kind == simt::Kind::bad_capture);
        return all.empty() ? "" : all.front().text;
    }

    cudaStream_t stream_ = nullptr, other_ = nullptr, blocking_ = nullptr;
    cudaEvent_t event_ = nullptr, outside_ = nullptr;
    void* memory_ = nullptr;
};

// A call in a capture that forbids it: its error, and what is said.
struct Forbidden {
    const char* what;
    std::function<cudaError_t()> call;
    cudaError_t error;
    const char* told;
};

TEST_F(Capture, IsInvalidAfterACallThatItForbids) {
    void* room = nullptr;
    std::array<char, kBytes> host{};
    const std::vector<Forbidden> calls = {
        {"wait for the stream", [&] { return cudaStreamSynchronize(stream_); }, cudaErrorStreamCaptureUnsupported,
         "cudaStreamSynchronize() waits for stream"},
        {"ask the stream", [&] { return cudaStreamQuery(stream_); }, cudaErrorStreamCaptureUnsupported,
         "cudaStreamQuery() waits for stream"},
        {"wait for the device", [&] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported,
         "cudaDeviceSynchronize() waits for the device"},
        {"wait for another stream", [&] { return cudaStreamSynchronize(other_); }, cudaErrorStreamCaptureUnsupported,
         "cudaStreamSynchronize() would not be part of the graph"},
        {"ask for an event outside", [&] { return cudaEventQuery(outside_); }, cudaErrorStreamCaptureUnsupported,
         "cudaEventQuery() would not be part of the graph"},
        {"ask for an event of the capture",
         [&] {
             cudaEventRecord(event_, stream_);
             return cudaEventQuery(event_);
         },
         cudaErrorCapturedEvent, "cudaEventQuery() asks for an event that was recorded in a capture"},
        {"wait for an event of the capture",
         [&] {
             cudaEventRecord(event_, stream_);
             return cudaEventSynchronize(event_);
         },
         cudaErrorCapturedEvent, "cudaEventSynchronize() asks for an event that was recorded in a capture"},
        {"allocate", [&] { return cudaMalloc(&room, 64); }, cudaErrorStreamCaptureUnsupported,
         "cudaMalloc() would not be part of the graph"},
        {"allocate pinned memory", [&] { return cudaMallocHost(&room, 64); }, cudaErrorStreamCaptureUnsupported,
         "cudaMallocHost() would not be part of the graph"},
        {"register memory", [&] { return cudaHostRegister(host.data(), kBytes, 0); }, cudaErrorStreamCaptureUnsupported,
         "cudaHostRegister() would not be part of the graph"},
        {"free", [&] { return cudaFree(memory_); }, cudaErrorStreamCaptureUnsupported,
         "cudaFree() would not be part of the graph"},
        {"copy and wait", [&] { return cudaMemcpy(memory_, host.data(), kBytes, cudaMemcpyHostToDevice); },
         cudaErrorStreamCaptureUnsupported, "cudaMemcpy() would not be part of the graph"},
        {"allocate in the stream", [&] { return cudaMallocAsync(&room, 64, stream_); }, cudaErrorNotSupported,
         "cudaMallocAsync() makes a memory node"},
        {"free in the stream", [&] { return cudaFreeAsync(memory_, stream_); }, cudaErrorNotSupported,
         "cudaFreeAsync() makes a memory node"},
        {"add a callback",
         [&] {
             return cudaStreamAddCallback(
                 stream_, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
         },
         cudaErrorStreamCaptureUnsupported, "cudaStreamAddCallback() is not for a stream that is being captured"},
        {"wait for work outside", [&] { return cudaStreamWaitEvent(stream_, outside_, 0); },
         cudaErrorStreamCaptureIsolation, "cudaStreamWaitEvent() lets stream"},
        {"record an external event", [&] { return cudaEventRecordWithFlags(event_, stream_, cudaEventRecordExternal); },
         cudaErrorNotSupported, "cudaEventRecordWithFlags() makes an event node"},
        {"wait for an external event", [&] { return cudaStreamWaitEvent(stream_, outside_, cudaEventWaitExternal); },
         cudaErrorNotSupported, "cudaStreamWaitEvent() makes an event node"},
    };
    for (const Forbidden& forbidden : calls) {
        SCOPED_TRACE(forbidden.what);
        begin(stream_);
        work(stream_);
        EXPECT_EQ(forbidden.call(), forbidden.error);
        const std::string text = told();
        EXPECT_EQ(text.substr(0, std::string(forbidden.told).size()), forbidden.told);
        EXPECT_NE(text.find("is invalid now"), std::string::npos) << text;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
        EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
        EXPECT_EQ(cudaMemsetAsync(memory_, 1, kBytes, stream_), cudaErrorStreamCaptureInvalidated);
        EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
        EXPECT_EQ(told(), "") << "what went wrong first has been told";
        EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "the stream is as before";
    }
}

TEST_F(Capture, CannotBeginInTheDefaultStream) {
    EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    EXPECT_NE(told().find("is given the default stream, which cannot be captured"), std::string::npos);
    EXPECT_EQ(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed),
              cudaErrorStreamCaptureUnsupported);
    EXPECT_NE(told(), "");
    begin(cudaStreamPerThread);
    EXPECT_EQ(end(cudaStreamPerThread), cudaSuccess);
}

TEST_F(Capture, OfABlockingStreamForbidsTheDefaultStream) {
    begin(blocking_);
    EXPECT_EQ(cudaMemsetAsync(memory_, 1, kBytes, nullptr), cudaErrorStreamCaptureImplicit);
    EXPECT_NE(told().find("uses the default stream, which waits for blocking streams"), std::string::npos);
    EXPECT_EQ(end(blocking_), cudaErrorStreamCaptureInvalidated);
    begin(blocking_, cudaStreamCaptureModeRelaxed);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
    EXPECT_EQ(end(blocking_), cudaSuccess) << "to ask does not make it invalid";
    begin(stream_);
    EXPECT_EQ(cudaMemsetAsync(memory_, 1, kBytes, nullptr), cudaSuccess) << "it waits for blocking streams only";
    EXPECT_EQ(end(stream_), cudaSuccess);
    EXPECT_EQ(told(), "");
}

TEST_F(Capture, InRelaxedModeAllowsWhatItDoesNotSee) {
    begin(stream_, cudaStreamCaptureModeRelaxed);
    void* room = nullptr;
    EXPECT_EQ(cudaMalloc(&room, 64), cudaSuccess);
    EXPECT_EQ(cudaMemset(room, 0, 64), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(outside_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
    EXPECT_EQ(cudaFree(room), cudaSuccess);
    EXPECT_EQ(end(stream_), cudaSuccess);
    EXPECT_EQ(told(), "");
}

// The error of cudaEventQuery in another thread, whose mode is `mode`.
cudaError_t query_elsewhere(cudaEvent_t event, cudaStreamCaptureMode mode) {
    cudaError_t error = cudaSuccess;
    std::thread([&] {
        cudaThreadExchangeStreamCaptureMode(&mode);
        error = cudaEventQuery(event);
    }).join();
    return error;
}

TEST_F(Capture, ForbidsOtherThreadsWhatTheModesOfBothSay) {
    begin(stream_, cudaStreamCaptureModeThreadLocal);
    EXPECT_EQ(query_elsewhere(outside_, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(end(stream_), cudaSuccess);
    begin(stream_);
    EXPECT_EQ(query_elsewhere(outside_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(query_elsewhere(outside_, cudaStreamCaptureModeRelaxed), cudaSuccess);
    EXPECT_EQ(told(), "");
    EXPECT_EQ(query_elsewhere(outside_, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    EXPECT_NE(told(), "");
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ForbidsAThreadNothingWhileItsModeIsRelaxed) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    begin(stream_);
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(cudaEventQuery(outside_), cudaSuccess);
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
    EXPECT_EQ(end(stream_), cudaSuccess);
    EXPECT_EQ(told(), "");
}

TEST_F(Capture, EndsInTheThreadThatBeganItUnlessItIsRelaxed) {
    cudaError_t error = cudaSuccess;
    begin(stream_, cudaStreamCaptureModeThreadLocal);
    std::thread([&] { error = end(stream_); }).join();
    EXPECT_EQ(error, cudaErrorStreamCaptureWrongThread);
    EXPECT_NE(told().find("is called in another thread"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
    begin(stream_, cudaStreamCaptureModeRelaxed);
    std::thread([&] { error = end(stream_); }).join();
    EXPECT_EQ(error, cudaSuccess);
}

TEST_F(Capture, EndsOnceAndWhereItBegan) {
    EXPECT_EQ(end(stream_), cudaErrorIllegalState);
    EXPECT_NE(told().find("is given a stream that is not being captured"), std::string::npos);
    begin(stream_);
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    EXPECT_NE(told().find("which is being captured already"), std::string::npos);
    cudaEventRecord(event_, stream_);
    EXPECT_EQ(cudaStreamWaitEvent(other_, event_, 0), cudaSuccess);
    EXPECT_EQ(end(other_), cudaErrorStreamCaptureUnmatched);
    EXPECT_NE(told().find("the capture must end in stream"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(end(stream_), cudaErrorIllegalState);
    EXPECT_NE(told(), "");
}

TEST_F(Capture, TakesInAStreamThatWaitsForItsEventAndMustJoinIt) {
    for (const bool joined : {false, true}) {
        begin(stream_);
        work(stream_);
        cudaEventRecord(event_, stream_);
        EXPECT_EQ(cudaStreamWaitEvent(other_, event_, 0), cudaSuccess);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(other_, &status);
        EXPECT_EQ(status, cudaStreamCaptureStatusActive);
        work(other_);
        cudaEventRecord(event_, other_);
        if (joined) {
            EXPECT_EQ(cudaStreamWaitEvent(stream_, event_, 0), cudaSuccess);
        }
        EXPECT_EQ(end(stream_), joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
        EXPECT_EQ(told().find("is not joined to it: its last node is cudaMemsetAsync") == std::string::npos, joined);
    }
}

TEST_F(Capture, IsOverWhereItsStreamIsDestroyed) {
    for (const bool first_forbidden : {false, true}) {
        cudaStream_t lost = nullptr;
        cudaStreamCreateWithFlags(&lost, cudaStreamNonBlocking);
        begin(lost);
        work(lost);
        cudaEventRecord(event_, lost);
        cudaStreamWaitEvent(other_, event_, 0);
        if (first_forbidden) {
            EXPECT_EQ(cudaStreamSynchronize(lost), cudaErrorStreamCaptureUnsupported);
            EXPECT_NE(told(), "");
        }
        EXPECT_EQ(cudaStreamDestroy(lost), cudaSuccess);
        EXPECT_EQ(told().find("which is being captured: end the capture first") == std::string::npos, first_forbidden);
        EXPECT_FALSE(simt::Captures::under_way());
        EXPECT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
        EXPECT_EQ(end(other_), cudaErrorIllegalState);
        EXPECT_NE(told(), "");
    }
    begin(stream_);
    cudaEventRecord(event_, stream_);
    cudaStream_t joined = nullptr;
    cudaStreamCreateWithFlags(&joined, cudaStreamNonBlocking);
    cudaStreamWaitEvent(joined, event_, 0);
    EXPECT_EQ(cudaStreamDestroy(joined), cudaSuccess);
    EXPECT_NE(told(), "");
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ThatIsNeverEndedIsSaidUnlessItsMistakeWas) {
    for (const bool forbidden : {false, true}) {
        begin(stream_);
        work(stream_);
        if (forbidden) {
            cudaDeviceSynchronize();
            simt::forget_findings();
        }
        simt::Captures::instance().report_left();
        EXPECT_EQ(told().find("was never ended") == std::string::npos, forbidden);
        simt::Captures::instance().abandon_all();
        EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    }
}

TEST_F(Capture, DoesNotMergeWithAnother) {
    begin(stream_);
    begin(other_);
    cudaEventRecord(event_, other_);
    EXPECT_EQ(cudaStreamWaitEvent(stream_, event_, 0), cudaErrorStreamCaptureMerge);
    EXPECT_NE(told().find("two captures cannot become one"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(end(other_), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, LeavesEventsThatNobodyCanWaitForUntilTheyAreRecordedAgain) {
    begin(stream_);
    cudaEventRecord(event_, stream_);
    EXPECT_EQ(end(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other_, event_, 0), cudaErrorStreamCaptureIsolation);
    EXPECT_NE(told(), "");
    EXPECT_EQ(cudaEventSynchronize(event_), cudaErrorCapturedEvent);
    EXPECT_NE(told(), "");
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, outside_, event_), cudaErrorCapturedEvent);
    EXPECT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(event_), cudaSuccess);
    EXPECT_EQ(told(), "");
}

TEST_F(Capture, OfTheDefaultStreamIsNotMadeByAnEvent) {
    begin(stream_);
    cudaEventRecord(event_, stream_);
    EXPECT_EQ(cudaStreamWaitEvent(nullptr, event_, 0), cudaErrorStreamCaptureImplicit);
    EXPECT_NE(told().find("the default stream cannot be captured"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, MayWaitForAnEventThatWasNeverRecorded) {
    begin(stream_);
    EXPECT_EQ(cudaStreamWaitEvent(stream_, event_, 0), cudaSuccess);
    EXPECT_EQ(end(stream_), cudaSuccess);
}

TEST_F(Capture, SaysWhatTheNextNodeOfAStreamComesAfter) {
    std::array<unsigned long long, 2> ids{};
    for (unsigned long long& id : ids) {
        begin(stream_);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaGraph_t graph = nullptr;
        const cudaGraphNode_t* before = nullptr;
        const cudaGraphEdgeData* edges = nullptr;
        std::size_t count = 7;
        EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, &id, &graph, &before, &edges, &count), cudaSuccess);
        EXPECT_EQ(status, cudaStreamCaptureStatusActive);
        EXPECT_EQ(count, 0U);
        cudaEventRecord(event_, stream_);
        cudaStreamWaitEvent(other_, event_, 0);
        work(stream_);
        work(other_);
        cudaEventRecord(event_, other_);
        cudaStreamWaitEvent(stream_, event_, 0);
        EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &before, &edges, &count), cudaSuccess);
        ASSERT_EQ(count, 2U);
        count = 0;
        EXPECT_EQ(cudaStreamGetCaptureInfo_v2(stream_, &status, nullptr, nullptr, &before, &count), cudaSuccess);
        ASSERT_EQ(count, 2U) << "as CUDA 12 has it";
        EXPECT_EQ(before[0], graph->nodes[0].get());
        EXPECT_EQ(before[1], graph->nodes[1].get());
        EXPECT_EQ(edges[1].type, cudaGraphDependencyTypeDefault);
        EXPECT_EQ(end(stream_), cudaSuccess);
    }
    EXPECT_NE(ids[0], ids[1]);
}

TEST_F(Capture, ForbidsALibraryToMakeAHandleOrToReturnAResult) {
    cublasHandle_t handle = nullptr, late = nullptr;
    ASSERT_EQ(cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
    cublasSetStream_v2(handle, stream_);
    begin(stream_);
    EXPECT_EQ(cublasCreate_v2(&late), CUBLAS_STATUS_ALLOC_FAILED);
    EXPECT_NE(told().find("cublasCreate() would not be part of the graph"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
    float norm = -1;
    begin(stream_);
    EXPECT_EQ(cublasSnrm2_v2(handle, 4, static_cast<const float*>(memory_), 1, &norm), CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT_NE(told().find("cublasSnrm2() waits for stream"), std::string::npos);
    EXPECT_EQ(end(stream_), cudaErrorStreamCaptureInvalidated);
    cublasDestroy_v2(handle);
}

}  // namespace
