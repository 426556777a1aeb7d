// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/capture.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/graphs.h"

namespace simt {
namespace {

constinit thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

const char* text_of(cudaStreamCaptureMode mode) {
    return mode == cudaStreamCaptureModeGlobal        ? "cudaStreamCaptureModeGlobal"
           : mode == cudaStreamCaptureModeThreadLocal ? "cudaStreamCaptureModeThreadLocal"
                                                      : "cudaStreamCaptureModeRelaxed";
}

std::string name_of(cudaStream_t stream) {
    return Streams::instance().name_of(stream);
}

// Adds what these nodes come after, and the nodes.
void add_before(const std::vector<cudaGraphNode_t>& nodes, std::set<cudaGraphNode_t>& all) {
    std::vector<cudaGraphNode_t> open = nodes;
    while (!open.empty()) {
        cudaGraphNode_t const node = open.back();
        open.pop_back();
        if (all.insert(node).second) {
            open.insert(open.end(), node->after.begin(), node->after.end());
        }
    }
}

}  // namespace

Captures& Captures::instance() {
    static auto& captures = *new Captures;
    return captures;
}

Captures::Pointer Captures::of(cudaStream_t stream) const {
    const ApiLock turn;
    const auto entry = captured_.find(Streams::instance().key_of(stream));
    return entry == captured_.end() ? nullptr : entry->second;
}

// A capture of a blocking stream, for which the default stream would wait.
Captures::Pointer Captures::beside_default_stream() const {
    for (const auto& [stream, capture] : captured_) {
        if (capture->valid && Streams::instance().is_blocking(stream)) {
            return capture;
        }
    }
    return nullptr;
}

cudaError_t Captures::invalidate(const std::vector<Pointer>& captures, cudaError_t error, const ApiCall& call,
                                 const std::string& why) {
    std::string invalid;
    for (const Pointer& capture : captures) {
        if (capture->valid && !capture->is_over()) {
            invalid += fmt::format(". The capture that began at {} is invalid now",
                                   simt::text_of(source_of(capture->begun_at)));
            capture->valid = false;
        }
    }
    const bool is_launch = call.place.return_address == nullptr;
    report(Kind::bad_capture, "", call.place, [&] {
        return fmt::format("{}{}{} {}{}", is_launch ? "the launch of " : "", call.name, is_launch ? "" : "()", why,
                           invalid);
    });
    return error;
}

// ---- what a call asks -----------------------------------------------------------------------------------------------------

cudaError_t Captures::may_issue(cudaStream_t stream, const ApiCall& call) {
    if (!under_way()) {
        return cudaSuccess;
    }
    const ApiLock turn;
    if (const Pointer capture = of(stream)) {
        return capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
    }
    const Pointer beside = Streams::instance().key_of(stream) == cudaStreamLegacy ? beside_default_stream() : nullptr;
    return beside == nullptr
               ? cudaSuccess
               : invalidate({beside}, cudaErrorStreamCaptureImplicit, call,
                            fmt::format("uses the default stream, which waits for blocking streams, while one is being "
                                        "captured: {}. Give it that stream, or capture one that is made with "
                                        "cudaStreamNonBlocking",
                                        name_of(beside->origin)));
}

cudaError_t Captures::may_wait(cudaStream_t stream, const ApiCall& call) {
    if (!under_way()) {
        return cudaSuccess;
    }
    const ApiLock turn;
    if (const Pointer capture = of(stream)) {
        return !capture->valid
                   ? cudaErrorStreamCaptureInvalidated
                   : invalidate({capture}, cudaErrorStreamCaptureUnsupported, call,
                                fmt::format("waits for {}, which is being captured: nothing runs there before "
                                            "cudaGraphLaunch(). Wait after cudaStreamEndCapture()",
                                            name_of(stream)));
    }
    const cudaError_t error = may_issue(stream, call);
    return error == cudaSuccess ? may_be_unsafe(call) : error;
}

cudaError_t Captures::may_wait(const CUevent_st& event, const ApiCall& call) {
    if (event.capture == nullptr) {
        return may_be_unsafe(call);
    }
    const ApiLock turn;
    return invalidate(
        {event.capture}, cudaErrorCapturedEvent, call,
        fmt::format("asks for an event that was recorded in a capture, begun at {}: it stands for nodes of a "
                    "graph, and is never reached. Record it after cudaGraphLaunch()",
                    simt::text_of(source_of(event.capture->begun_at))));
}

cudaError_t Captures::may_wait_for_all(const ApiCall& call) {
    if (!under_way()) {
        return cudaSuccess;
    }
    const ApiLock turn;
    std::vector<Pointer> valid;
    for (const auto& [stream, capture] : captured_) {
        if (capture->valid && (valid.empty() || valid.back() != capture)) {
            valid.push_back(capture);
        }
    }
    return valid.empty() ? cudaSuccess
                         : invalidate(valid, cudaErrorStreamCaptureUnsupported, call,
                                      fmt::format("waits for the device while {} is being captured: nothing runs there "
                                                  "before cudaGraphLaunch(). Wait after cudaStreamEndCapture()",
                                                  name_of(valid.front()->origin)));
}

cudaError_t Captures::may_issue_and_wait(const ApiCall& call) {
    if (!under_way()) {
        return cudaSuccess;
    }
    const ApiLock turn;
    if (const Pointer capture = of(nullptr)) {
        return may_wait(nullptr, call);
    }
    const cudaError_t error = may_issue(nullptr, call);
    return error == cudaSuccess ? may_be_unsafe(call) : error;
}

// The modes are those of cudaThreadExchangeStreamCaptureMode.
cudaError_t Captures::may_be_unsafe(const ApiCall& call) {
    if (!under_way() || mode_of_thread == cudaStreamCaptureModeRelaxed) {
        return cudaSuccess;
    }
    const ApiLock turn;
    std::vector<Pointer> forbid;
    for (const auto& [stream, capture] : captured_) {
        const bool own = pthread_equal(capture->thread, pthread_self()) != 0;
        const bool forbids =
            own ? capture->mode != cudaStreamCaptureModeRelaxed
                : capture->mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
        if (forbids && capture->valid && stream == capture->origin) {
            forbid.push_back(capture);
        }
    }
    return forbid.empty()
               ? cudaSuccess
               : invalidate(forbid, cudaErrorStreamCaptureUnsupported, call,
                            fmt::format("would not be part of the graph, and is not allowed while {} is being captured "
                                        "({}). Call it before cudaStreamBeginCapture()",
                                        name_of(forbid.front()->origin), text_of(forbid.front()->mode)));
}

cudaError_t Captures::refuses(cudaStream_t stream, cudaError_t error, const char* why, const ApiCall& call) {
    if (!under_way()) {
        return cudaSuccess;
    }
    const ApiLock turn;
    const Pointer capture = of(stream);
    return capture == nullptr ? cudaSuccess
           : !capture->valid  ? cudaErrorStreamCaptureInvalidated
                              : invalidate({capture}, error, call, why);
}

// ---- capture --------------------------------------------------------------------------------------------------------------

cudaError_t Captures::begin(cudaStream_t stream, cudaStreamCaptureMode mode, const void* site) {
    const ApiLock turn;
    const ApiCall call{"cudaStreamBeginCapture", site};
    const Streams& streams = Streams::instance();
    if (!streams.exists(stream)) {
        return cudaErrorInvalidResourceHandle;
    }
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
        return cudaErrorInvalidValue;
    }
    cudaStream_t const key = streams.key_of(stream);
    if (key == cudaStreamLegacy) {
        return invalidate({}, cudaErrorStreamCaptureUnsupported, call,
                          "is given the default stream, which cannot be captured: make a stream of your own, and issue "
                          "into it what the graph is to hold");
    }
    if (const Pointer capture = of(key)) {
        return invalidate({}, cudaErrorIllegalState, call,
                          fmt::format("is given {}, which is being captured already, since {}", name_of(key),
                                      simt::text_of(source_of(capture->begun_at))));
    }
    const auto capture = std::make_shared<Capture>(Capture{.graph = Graphs::instance().create(site),
                                                           .origin = key,
                                                           .mode = mode,
                                                           .thread = pthread_self(),
                                                           .id = ++begun_,
                                                           .begun_at = site});
    capture->streams[key] = {};
    captured_[key] = capture;
    streams_captured_++;
    return cudaSuccess;
}

bool Captures::builds(cudaGraph_t graph) const {
    const ApiLock turn;
    return std::any_of(captured_.begin(), captured_.end(),
                       [&](const auto& entry) { return entry.second->graph == graph; });
}

// None of its streams is being captured from now on. What its events stand for is no more.
void Captures::leave(Capture& capture) {
    for (const auto& [stream, nodes] : capture.streams) { streams_captured_ -= captured_.erase(stream); }
    capture.graph = nullptr;
}

// Nobody gets its graph.
void Captures::abandon(Capture& capture) {
    Graphs::instance().destroy(capture.graph, capture.begun_at);
    leave(capture);
}

void Captures::lose(cudaStream_t stream, const ApiCall& call) {
    const ApiLock turn;
    const Pointer capture = of(stream);
    if (capture == nullptr) {
        return;
    }
    if (capture->valid) {
        invalidate({capture}, cudaErrorStreamCaptureInvalidated, call,
                   fmt::format("destroys {}, which is being captured: end the capture first", name_of(stream)));
    }
    if (stream == capture->origin) {
        abandon(*capture);
    } else {
        capture->streams.erase(stream);
        streams_captured_ -= captured_.erase(stream);
    }
}

cudaError_t Captures::end(cudaStream_t stream, cudaGraph_t& graph, const void* site) {
    const ApiLock turn;
    const ApiCall call{"cudaStreamEndCapture", site};
    graph = nullptr;
    const Pointer capture = Streams::instance().exists(stream) ? of(stream) : nullptr;
    if (capture == nullptr) {
        return invalidate({}, cudaErrorIllegalState, call, "is given a stream that is not being captured");
    }
    const std::string begun = simt::text_of(source_of(capture->begun_at));
    if (capture->origin != Streams::instance().key_of(stream)) {
        return invalidate({capture}, cudaErrorStreamCaptureUnmatched, call,
                          fmt::format("is given {}; the capture must end in {}, where it began", name_of(stream),
                                      name_of(capture->origin)));
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && pthread_equal(capture->thread, pthread_self()) == 0) {
        return invalidate({capture}, cudaErrorStreamCaptureWrongThread, call,
                          fmt::format("is called in another thread than the one that began the capture, at {}; only "
                                      "cudaStreamCaptureModeRelaxed allows it",
                                      begun));
    }
    std::set<cudaGraphNode_t> joined;
    add_before(capture->streams[capture->origin], joined);
    cudaError_t error = capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
    for (const auto& [other, nodes] : capture->streams) {
        const auto left = std::find_if(nodes.begin(), nodes.end(), [&](auto node) { return !joined.contains(node); });
        if (error == cudaSuccess && left != nodes.end()) {
            error = invalidate(
                {}, cudaErrorStreamCaptureUnjoined, call,
                fmt::format("ends the capture that began at {}, and {} is not joined to it: its last node "
                            "is {}. Let {} wait for an event that is recorded behind it",
                            begun, name_of(other), text_of_operation((*left)->operation), name_of(capture->origin)));
        }
    }
    if (error == cudaSuccess) {
        graph = capture->graph;
        graph->made_at = site;
    } else {
        Graphs::instance().destroy(capture->graph, site);
    }
    leave(*capture);
    return error;
}

cudaError_t Captures::find(cudaStream_t stream, std::shared_ptr<const Capture>& found) const {
    const ApiLock turn;
    found = of(stream);
    return Streams::instance().key_of(stream) == cudaStreamLegacy && beside_default_stream() != nullptr
               ? cudaErrorStreamCaptureImplicit
               : cudaSuccess;
}

cudaStreamCaptureMode Captures::exchange_mode(cudaStreamCaptureMode mode) {
    return std::exchange(mode_of_thread, mode);
}

// ---- what the capture sees ------------------------------------------------------------------------------------------------

bool Captures::take(cudaStream_t stream, Operation& operation) {
    const Pointer capture = of(stream);
    if (capture != nullptr && capture->valid) {
        std::vector<cudaGraphNode_t>& last = capture->streams[Streams::instance().key_of(stream)];
        last = {Graphs::instance().add(capture->graph, std::move(operation), last)};
    }
    return capture != nullptr;
}

bool Captures::record(cudaStream_t stream, CUevent_st& event) {
    const ApiLock turn;
    const Pointer capture = of(stream);
    event.capture = capture;
    event.captured =
        capture == nullptr ? std::vector<cudaGraphNode_t>() : capture->streams[Streams::instance().key_of(stream)];
    if (capture != nullptr) {
        event.recorded = nullptr;
    }
    return capture != nullptr;
}

std::optional<cudaError_t> Captures::wait_for(cudaStream_t stream, const CUevent_st& event, const ApiCall& call) {
    const ApiLock turn;
    const Pointer waits = of(stream), recorded = event.capture;
    cudaStream_t const key = Streams::instance().key_of(stream);
    if (waits == nullptr && recorded == nullptr) {
        return std::nullopt;
    }
    for (const Pointer& capture : {waits, recorded}) {
        if (capture != nullptr && !capture->is_over() && !capture->valid) {
            return cudaErrorStreamCaptureInvalidated;
        }
    }
    if (recorded == nullptr) {
        return event.recorded == nullptr
                   ? cudaSuccess  // never recorded: nothing to wait for
                   : invalidate({waits}, cudaErrorStreamCaptureIsolation, call,
                                fmt::format("lets {}, which is being captured, wait for work that is not part of the "
                                            "graph: its event was recorded outside the capture. Wait before "
                                            "cudaStreamBeginCapture(), or let the stream of the launch wait",
                                            name_of(stream)));
    }
    if (recorded->is_over()) {
        return invalidate(waits == nullptr ? std::vector<Pointer>() : std::vector{waits},
                          cudaErrorStreamCaptureIsolation, call,
                          fmt::format("lets {} wait for an event that was recorded in a capture, begun at {}, which is "
                                      "over: it stands for nodes of a graph. Record it again",
                                      name_of(stream), simt::text_of(source_of(recorded->begun_at))));
    }
    if (key == cudaStreamLegacy) {
        return invalidate(
            {recorded}, cudaErrorStreamCaptureImplicit, call,
            "lets the default stream wait for an event that was recorded in a capture: the default stream "
            "cannot be captured. Take a stream of your own");
    }
    if (waits != nullptr && waits != recorded) {
        return invalidate({waits, recorded}, cudaErrorStreamCaptureMerge, call,
                          fmt::format("lets {} wait for an event of another capture: two captures cannot become one",
                                      name_of(stream)));
    }
    if (waits == nullptr) {
        captured_[key] = recorded;
        streams_captured_++;
    }
    std::vector<cudaGraphNode_t>& last = recorded->streams[key];
    for (cudaGraphNode_t const node : event.captured) {
        if (std::find(last.begin(), last.end(), node) == last.end()) {
            last.push_back(node);
        }
    }
    return cudaSuccess;
}

// What made a capture invalid has been told.
void Captures::report_left() const {
    for (const auto& [stream, capture] : captured_) {
        if (capture->valid && stream == capture->origin) {
            report(Kind::bad_capture, "", capture->begun_at, [&, origin = stream] {
                return fmt::format("the capture of {} was never ended: cudaStreamEndCapture() gives the graph",
                                   name_of(origin));
            });
        }
    }
}

void Captures::abandon_all() {
    const ApiLock turn;
    while (!captured_.empty()) {
        const Pointer capture = captured_.begin()->second;
        abandon(*capture);
    }
}

}  // namespace simt
