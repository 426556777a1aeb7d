// SPDX-License-Identifier: MIT
//
// The runtime's functions for streams and events.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/api/lifecycle.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

// Events that exist: a call with another handle is an error, not a crash.
std::set<cudaEvent_t>& events() {
    static auto& instance = *new std::set<cudaEvent_t>;
    return instance;
}

bool is_event(cudaEvent_t event) {
    const ApiLock turn;
    return events().contains(event);
}

Streams& streams() {
    return Streams::instance();
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cudaError_t stream_result(cudaStream_t stream) {
    return result(streams().exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t create(cudaStream_t* stream, unsigned int flags, const void* site) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
        return result(cudaErrorInvalidValue);
    }
    *stream = streams().create(flags == cudaStreamDefault, site);
    note_object(*stream, "a stream", site);
    return result(cudaSuccess);
}

cudaError_t create(cudaEvent_t* event, unsigned int flags, const void* site) {
    if (event == nullptr || (flags & ~static_cast<unsigned>(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) {
        return result(cudaErrorInvalidValue);
    }
    *event = new CUevent_st{.timing = (flags & cudaEventDisableTiming) == 0, .recorded = {}, .at = {}};
    const ApiLock turn;
    events().insert(*event);
    note_object(*event, "an event", site);
    return result(cudaSuccess);
}

using Attributes = std::map<std::pair<cudaStream_t, cudaStreamAttrID>, cudaStreamAttrValue>;
Attributes& attributes() {
    static auto& instance = *new Attributes;
    return instance;
}

bool is_stream_attribute(cudaStreamAttrID attribute) {
    return attribute == cudaStreamAttributeAccessPolicyWindow ||
           attribute == cudaStreamAttributeSynchronizationPolicy || attribute == cudaStreamAttributePriority;
}

// "A host function must not make any CUDA API calls" (cudaLaunchHostFunc).
bool may_wait() {
    return !streams().running();
}

Captures& captures() {
    return Captures::instance();
}

// An event that a capture takes for an external one is a node of its own.
cudaError_t refuses_event_node(cudaStream_t stream, unsigned int flags, const ApiCall& call) {
    static_assert(cudaEventRecordExternal == cudaEventWaitExternal);
    return flags != cudaEventRecordExternal
               ? cudaSuccess
               : captures().refuses(
                     stream, cudaErrorNotSupported,
                     "makes an event node in a stream that is being captured, which the CPU device lacks: "
                     "record the event, or wait for it, in the stream of the launch",
                     call);
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, const void* site) {
    const ApiLock turn;
    if (!is_event(event) || !streams().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    if (!may_wait()) {
        return result(cudaErrorNotPermitted);
    }
    const cudaError_t error = captures().may_issue(stream, {"cudaEventRecord", site});
    if (error == cudaSuccess && !captures().record(stream, *event)) {
        event->at = std::make_shared<double>();
        event->recorded =
            streams().issue(stream, {.name = "cudaEventRecord", .run = [at = event->at] { *at = seconds_now(); }});
    }
    return result(error);
}

}  // namespace

void null_stream_is_per_thread() {
    streams().use_per_thread_default_stream();
}

LivingObjects living_objects() {
    const ApiLock turn;
    return {.graphs = Graphs::instance().graphs(),
            .executables = Graphs::instance().executables(),
            .streams = streams().count(),
            .events = events().size()};
}

void destroy_streams_and_events() {
    const ApiLock turn;
    streams().destroy_all();
    attributes().clear();
    for (const cudaEvent_t event : events()) {
        forget_object(event);
        delete event;
    }
    events().clear();
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaDeviceSynchronize() {
    if (!simt::may_wait()) {
        return result(cudaErrorNotPermitted);
    }
    const cudaError_t error = simt::captures().may_wait_for_all({"cudaDeviceSynchronize", __builtin_return_address(0)});
    if (error == cudaSuccess) {
        simt::note_wait();
        simt::streams().wait_for_all();
    }
    return result(error);
}

cudaError_t cudaThreadSynchronize() __attribute__((alias("cudaDeviceSynchronize")));

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return simt::create(stream, cudaStreamDefault, __builtin_return_address(0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return simt::create(stream, flags, __builtin_return_address(0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
    return simt::create(stream, flags, __builtin_return_address(0));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
        !simt::streams().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    simt::captures().lose(stream, {"cudaStreamDestroy", __builtin_return_address(0)});
    simt::streams().destroy(stream);
    simt::forget_object(stream);
    std::erase_if(simt::attributes(), [&](const auto& known) { return known.first.first == stream; });
    return result(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (!simt::may_wait()) {
        return result(cudaErrorNotPermitted);
    }
    if (!simt::streams().exists(stream)) {
        return simt::stream_result(stream);
    }
    const cudaError_t error = simt::captures().may_wait(stream, {"cudaStreamSynchronize", __builtin_return_address(0)});
    if (error == cudaSuccess) {
        simt::note_wait();
        simt::streams().wait(stream);
    }
    return result(error);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (!simt::may_wait()) {
        return result(cudaErrorNotPermitted);
    }
    if (!simt::streams().exists(stream)) {
        return simt::stream_result(stream);
    }
    if (const cudaError_t error = simt::captures().may_wait(stream, {"cudaStreamQuery", __builtin_return_address(0)});
        error != cudaSuccess) {
        return result(error);
    }
    const bool ready = simt::streams().query(stream);
    const cudaError_t error = result(cudaSuccess);
    return error != cudaSuccess || ready ? error : result(cudaErrorNotReady);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    if (flags == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *flags = simt::streams().is_blocking(stream) ? cudaStreamDefault : cudaStreamNonBlocking;
    return simt::stream_result(stream);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    if (priority == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *priority = 0;
    return simt::stream_result(stream);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
    if (value == nullptr || !simt::is_stream_attribute(attribute)) {
        return result(cudaErrorInvalidValue);
    }
    if (simt::streams().exists(stream)) {
        simt::attributes()[{stream, attribute}] = *value;
    }
    return simt::stream_result(stream);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value) {
    if (value == nullptr || !simt::is_stream_attribute(attribute)) {
        return result(cudaErrorInvalidValue);
    }
    if (simt::streams().exists(stream)) {
        const auto known = simt::attributes().find({stream, attribute});
        *value = known == simt::attributes().end() ? cudaStreamAttrValue{} : known->second;
    }
    return simt::stream_result(stream);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    if (!simt::streams().exists(to)) {
        return simt::stream_result(to);
    }
    for (const cudaStreamAttrID attribute : {cudaStreamAttributeAccessPolicyWindow,
                                             cudaStreamAttributeSynchronizationPolicy, cudaStreamAttributePriority}) {
        if (const auto known = simt::attributes().find({from, attribute}); known != simt::attributes().end()) {
            simt::attributes()[{to, attribute}] = known->second;
        }
    }
    return simt::stream_result(from);
}

// After a sticky error a host function is not called, as CUDA documents; a callback is, and gets the error.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    const void* const site = __builtin_return_address(0);
    simt::Operation operation;
    cudaError_t error = simt::make_host({function, data}, site, operation);
    if (error == cudaSuccess) {
        error = simt::may_wait() ? simt::stream_result(stream) : result(cudaErrorNotPermitted);
    }
    if (error == cudaSuccess) {
        error = result(simt::captures().may_issue(stream, {"cudaLaunchHostFunc", site}));
    }
    if (error == cudaSuccess) {
        simt::streams().issue(stream, std::move(operation));
    }
    return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
    if (callback == nullptr || flags != 0) {
        return result(cudaErrorInvalidValue);
    }
    if (!simt::may_wait() || !simt::streams().exists(stream)) {
        return result(simt::may_wait() ? cudaErrorInvalidResourceHandle : cudaErrorNotPermitted);
    }
    const simt::ApiCall call{"cudaStreamAddCallback", __builtin_return_address(0)};
    cudaError_t error =
        simt::captures().refuses(stream, cudaErrorStreamCaptureUnsupported,
                                 "is not for a stream that is being captured: cudaLaunchHostFunc() makes a node", call);
    if (error == cudaSuccess) {
        error = simt::captures().may_issue(stream, call);
    }
    if (error != cudaSuccess) {
        return result(error);
    }
    simt::streams().issue(stream, {.name = "a callback",
                                   .run = [=] { callback(stream, result(cudaSuccess), data); },
                                   .after_error = true,
                                   .calls_the_host = true,
                                   .known_late = true});
    return result(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    if (!simt::is_event(event) || !simt::streams().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    const simt::ApiCall call{"cudaStreamWaitEvent", __builtin_return_address(0)};
    if (const cudaError_t refused = simt::refuses_event_node(stream, flags, call); refused != cudaSuccess) {
        return result(refused);
    }
    if (flags != cudaEventWaitDefault || !simt::may_wait()) {
        return result(flags != cudaEventWaitDefault ? cudaErrorInvalidValue : cudaErrorNotPermitted);
    }
    if (const std::optional<cudaError_t> captured = simt::captures().wait_for(stream, *event, call)) {
        return result(*captured);
    }
    const cudaError_t error = simt::captures().may_issue(stream, call);
    if (error == cudaSuccess) {
        simt::streams().wait_for_event(stream, event->recorded);
    }
    return result(error);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return simt::create(event, cudaEventDefault, __builtin_return_address(0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return simt::create(event, flags, __builtin_return_address(0));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const simt::ApiLock turn;
    if (simt::events().erase(event) == 0) {
        return result(cudaErrorInvalidResourceHandle);
    }
    simt::forget_object(event);
    delete event;
    return result(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return simt::record(event, stream, __builtin_return_address(0));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    const void* const site = __builtin_return_address(0);
    if (flags == cudaEventRecordDefault) {
        return simt::record(event, stream, site);
    }
    const cudaError_t refused = simt::refuses_event_node(stream, flags, {"cudaEventRecordWithFlags", site});
    return result(refused == cudaSuccess ? cudaErrorInvalidValue : refused);  // external is for captures
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (!simt::is_event(event) || !simt::may_wait()) {
        return result(simt::may_wait() ? cudaErrorInvalidResourceHandle : cudaErrorNotPermitted);
    }
    const cudaError_t error = simt::captures().may_wait(*event, {"cudaEventSynchronize", __builtin_return_address(0)});
    if (error == cudaSuccess) {
        simt::note_wait();
        simt::streams().wait(event->recorded);
    }
    return result(error);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (!simt::is_event(event) || !simt::may_wait()) {
        return result(simt::may_wait() ? cudaErrorInvalidResourceHandle : cudaErrorNotPermitted);
    }
    if (const cudaError_t error = simt::captures().may_wait(*event, {"cudaEventQuery", __builtin_return_address(0)});
        error != cudaSuccess) {
        return result(error);
    }
    const bool ready = simt::streams().query(event->recorded);
    const cudaError_t error = result(cudaSuccess);
    return error != cudaSuccess || ready ? error : result(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (milliseconds == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    if (!simt::is_event(begin) || !simt::is_event(end) || !begin->timing || !end->timing ||
        begin->recorded == nullptr || end->recorded == nullptr) {
        const bool captured =
            simt::is_event(begin) && simt::is_event(end) && (begin->capture != nullptr || end->capture != nullptr);
        return result(captured ? cudaErrorCapturedEvent : cudaErrorInvalidResourceHandle);
    }
    if (!begin->recorded->done || !end->recorded->done) {
        return result(cudaErrorNotReady);
    }
    *milliseconds = static_cast<float>((*end->at - *begin->at) * 1e3);
    return result(cudaSuccess);
}

}  // extern "C"
