// SPDX-License-Identifier: MIT
//
// Stream capture: what is issued into a stream that is being captured does not run, but becomes a node of a graph. An event
// that is recorded there stands for nodes, and another stream that waits for it is captured too ("Cross-stream Dependencies
// and Events", CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture").
//
// What a capture forbids follows "Prohibited and Unhandled Operations" there and the runtime's reference
// (cudaStreamBeginCapture, cudaThreadExchangeStreamCaptureMode): the call returns an error, the capture is invalid, and what
// is used of it from then on fails with cudaErrorStreamCaptureInvalidated, until it is ended. The first of these calls is a
// finding (kind `bad_capture`).
#pragma once

#include <pthread.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {

struct Capture {
    cudaGraph_t graph = nullptr;    // null once it is over
    cudaStream_t origin = nullptr;  // where it began, and must end
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    pthread_t thread = {};
    unsigned long long id = 0;
    const void* begun_at = nullptr;  // return address
    bool valid = true;
    // For each stream of it the nodes that its next one comes after.
    std::map<cudaStream_t, std::vector<cudaGraphNode_t>> streams = {};

    bool is_over() const { return graph == nullptr; }
};

// A call of the API or a launch, for what is said of it.
struct ApiCall {
    const char* name;  // "cudaMalloc"
    Location place;
};

class Captures {
  public:
    static Captures& instance();
    // Whether any stream is being captured.
    static bool under_way() { return streams_captured_ > 0; }

    // ---- what a call asks before it does anything: cudaSuccess, or the error that it returns. All are quick where nothing is
    // being captured.
    cudaError_t may_issue(cudaStream_t stream, const ApiCall& call);
    cudaError_t may_wait(cudaStream_t stream, const ApiCall& call);  // or ask whether it is done
    cudaError_t may_wait(const CUevent_st& event, const ApiCall& call);
    cudaError_t may_wait_for_all(const ApiCall& call);
    // Into the null stream, and waits there: cudaMemcpy.
    cudaError_t may_issue_and_wait(const ApiCall& call);
    // A call that a capture does not see, and on which what is captured may depend: cudaMalloc.
    cudaError_t may_be_unsafe(const ApiCall& call);
    // A call that no capture takes, or none on the CPU device, with the error and the reason.
    cudaError_t refuses(cudaStream_t stream, cudaError_t error, const char* why, const ApiCall& call);

    // ---- capture
    cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode, const void* site);
    cudaError_t end(cudaStream_t stream, cudaGraph_t& graph, const void* site);
    // Of the stream; null: it is not being captured. cudaErrorStreamCaptureImplicit for the default stream beside a capture
    // that it would wait for.
    cudaError_t find(cudaStream_t stream, std::shared_ptr<const Capture>& found) const;
    bool is_capturing(cudaStream_t stream) const { return under_way() && of(stream) != nullptr; }
    bool builds(cudaGraph_t graph) const;  // a capture that is not over: neither the graph nor a node of it may go
    // The stream is destroyed, and with it the capture that began there.
    void lose(cudaStream_t stream, const ApiCall& call);
    // Of the calling thread; returns the one before.
    cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

    // ---- what the capture sees. The call may be issued.
    // Whether the stream is being captured: then the operation is a node now.
    bool take(cudaStream_t stream, Operation& operation);
    // The event stands for the nodes of a capturing stream. False: the stream is not being captured.
    bool record(cudaStream_t stream, CUevent_st& event);
    // Nothing: neither the stream nor the event belongs to a capture.
    std::optional<cudaError_t> wait_for(cudaStream_t stream, const CUevent_st& event, const ApiCall& call);

    void report_left() const;  // at the end of the process: a capture that was never ended
    void abandon_all();        // the device is reset

  private:
    using Pointer = std::shared_ptr<Capture>;
    Pointer of(cudaStream_t stream) const;
    Pointer beside_default_stream() const;
    void leave(Capture& capture);
    void abandon(Capture& capture);
    // Makes them invalid, and says why. Returns the error.
    cudaError_t invalidate(const std::vector<Pointer>& captures, cudaError_t error, const ApiCall& call,
                           const std::string& why);

    static inline std::atomic<std::size_t> streams_captured_ = 0;
    std::map<cudaStream_t, Pointer> captured_;
    unsigned long long begun_ = 0;
};

}  // namespace simt
