// SPDX-License-Identifier: MIT
//
// The runtime's functions for stream capture, and for graphs as a capture makes them: instantiate, launch, destroy.
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags, const char* call,
                        const void* site) {
    constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                          cudaGraphInstantiateFlagUseNodePriority;
    const ApiLock turn;
    if (executable == nullptr || !Graphs::instance().is_usable(graph, call, site)) {
        return result(cudaErrorInvalidValue);
    }
    if ((flags & ~kKnown) != 0) {
        return result((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0 ? cudaErrorNotSupported
                                                                          : cudaErrorInvalidValue);
    }
    // That it was uploaded changes nothing of it.
    *executable = Graphs::instance().instantiate(graph, flags & ~cudaGraphInstantiateFlagUpload, site);
    return result(*executable == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}

// Whether the address was a local variable's, of a function that has returned: it lies on this thread's stack, and below
// `frame`.
bool is_below(const void* address, const void* frame) {
    struct Stack {
        char* end = nullptr;
        Stack() {
            pthread_attr_t attributes;
            std::size_t bytes = 0;
            if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
                void* begin = nullptr;
                pthread_attr_getstack(&attributes, &begin, &bytes);
                pthread_attr_destroy(&attributes);
                lowest = static_cast<char*>(begin);
                end = lowest + bytes;
            }
        }
        char* lowest = nullptr;
    };
    static thread_local const Stack stack;
    return address >= stack.lowest && address < stack.end && address < frame;
}

// What nodes keep of a copy is the addresses: a function that captures a copy of its own variable leaves one to nothing.
void judge_locals(const CUgraphExec_st& executable, const void* frame, const void* site) {
    for (const ExecutableNode& node : executable.nodes) {
        const auto* const copy = std::get_if<CopyWork>(&node.operation.work);
        if (copy == nullptr || !node.enabled) {
            continue;
        }
        for (const void* const end : {copy->from, static_cast<const void*>(copy->to)}) {
            if (is_below(end, frame)) {
                report(Kind::use_after_free, "", node.operation.site, [&] {
                    return fmt::format(
                        "the copy {} a local variable of a function that has returned: the graph launched at {} keeps "
                        "its "
                        "address, and goes there at each launch. Let the host's memory live as long as the graph",
                        end == copy->from ? "reads" : "writes", text_of(source_of(site)));
                });
            }
        }
    }
}

// A node on a cycle, or behind one. Null: there is no cycle.
cudaGraphNode_t node_of_a_cycle(cudaGraph_t graph) {
    const std::vector<cudaGraphNode_t> ordered = Graphs::instance().ordered(graph);
    const std::set<cudaGraphNode_t> reached(ordered.begin(), ordered.end());
    const auto left = std::find_if(graph->nodes.begin(), graph->nodes.end(),
                                   [&](const auto& node) { return !reached.contains(node.get()); });
    return left == graph->nodes.end() ? nullptr : left->get();
}

}  // namespace
}  // namespace simt

using simt::Captures;
using simt::Graphs;
using simt::result;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return result(Captures::instance().begin(stream, mode, __builtin_return_address(0)));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    if (graph == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    return result(Captures::instance().end(stream, *graph, __builtin_return_address(0)));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edge_data, std::size_t* count) {
    if (status == nullptr || (edge_data != nullptr && dependencies == nullptr)) {
        return result(cudaErrorInvalidValue);
    }
    if (!simt::Streams::instance().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    std::shared_ptr<const simt::Capture> capture;
    const cudaError_t error = Captures::instance().find(stream, capture);
    if (error != cudaSuccess) {
        return result(error);
    }
    *status = capture == nullptr ? cudaStreamCaptureStatusNone
              : capture->valid   ? cudaStreamCaptureStatusActive
                                 : cudaStreamCaptureStatusInvalidated;
    if (*status == cudaStreamCaptureStatusActive) {
        const auto& last = capture->streams.at(simt::Streams::instance().key_of(stream));
        const auto tell = [](auto* where, auto value) {
            if (where != nullptr) {
                *where = value;
            }
        };
        static const std::vector<cudaGraphEdgeData> whole(1024);  // each edge here is a whole dependency
        tell(id, capture->id);
        tell(graph, capture->graph);
        tell(dependencies, static_cast<const cudaGraphNode_t*>(last.data()));
        tell(edge_data, whole.data());
        tell(count, last.size());
    }
    return result(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
        return result(cudaErrorInvalidValue);
    }
    *mode = Captures::instance().exchange_mode(*mode);
    return result(cudaSuccess);
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
    if (graph == nullptr || flags != 0) {
        return result(cudaErrorInvalidValue);
    }
    *graph = Graphs::instance().create(__builtin_return_address(0));
    return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    if (!Graphs::instance().is_usable(graph, "cudaGraphDestroy", site)) {
        return result(cudaErrorInvalidValue);
    }
    if (Captures::instance().builds(graph)) {
        return result(cudaErrorNotPermitted);
    }
    Graphs::instance().destroy(graph, site);
    return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    return simt::instantiate(executable, graph, flags, "cudaGraphInstantiate", __builtin_return_address(0));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    return simt::instantiate(executable, graph, flags, "cudaGraphInstantiateWithFlags", __builtin_return_address(0));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
    if (parameters == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    const cudaError_t error = simt::instantiate(executable, graph, parameters->flags, "cudaGraphInstantiateWithParams",
                                                __builtin_return_address(0));
    parameters->errNode_out = Graphs::instance().exists(graph) ? simt::node_of_a_cycle(graph) : nullptr;
    parameters->result_out = error == cudaSuccess                 ? cudaGraphInstantiateSuccess
                             : error == cudaErrorNotSupported     ? cudaGraphInstantiateNodeOperationNotSupported
                             : parameters->errNode_out != nullptr ? cudaGraphInstantiateInvalidStructure
                                                                  : cudaGraphInstantiateError;
    return error;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
    if (flags == nullptr ||
        !Graphs::instance().is_usable(executable, "cudaGraphExecGetFlags", __builtin_return_address(0))) {
        return result(cudaErrorInvalidValue);
    }
    *flags = executable->flags;
    return result(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    cudaError_t error = result(cudaSuccess);
    if (error != cudaSuccess) {
        return error;
    }
    if (!Graphs::instance().is_usable(executable, "cudaGraphLaunch", site)) {
        return result(cudaErrorInvalidValue);
    }
    if (!simt::Streams::instance().exists(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    if (simt::Streams::instance().running()) {
        return result(cudaErrorNotPermitted);
    }
    const simt::ApiCall call{"cudaGraphLaunch", site};
    error =
        Captures::instance().refuses(stream, cudaErrorNotSupported,
                                     "into a stream that is being captured makes a child graph, which the CPU device "
                                     "lacks: issue the work itself",
                                     call);
    if (error == cudaSuccess) {
        error = Captures::instance().may_issue(stream, call);
    }
    if (error == cudaSuccess) {
        simt::judge_locals(*executable, __builtin_frame_address(0), site);
        Graphs::instance().launch(executable, stream, site);
    }
    return result(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    if (!Graphs::instance().is_usable(executable, "cudaGraphExecDestroy", site)) {
        return result(cudaErrorInvalidValue);
    }
    Graphs::instance().destroy(executable, site);
    return result(cudaSuccess);
}

}  // extern "C"
