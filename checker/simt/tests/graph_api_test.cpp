// SPDX-License-Identifier: MIT
//
// The functions that build graphs, ask about them, change them and draw them, with the errors that CUDA's reference names.
// Stream capture is capture_test's; what whole programs do with graphs is in the corpus.
#include "checker/simt/include/simt/graph_api.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/tests/objects/graph_kernels.h"
#include "checker/tests/output.h"

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

void* kernel(const char* name) {
    static void* const object = dlopen("build/tests/simt/objects/graph_kernels.so", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<void* (*)()>(dlsym(object, name))();
}

class Graph : public testing::Test {
  protected:
    static constexpr std::size_t kCount = 32, kBytes = kCount * sizeof(int);

    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x_), kBytes), cudaSuccess);
        ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host_), kBytes), cudaSuccess);
        ASSERT_EQ(cudaMemset(x_, 0, kBytes), cudaSuccess);
        ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        std::fill_n(host_, kCount, -1);
    }
    void TearDown() override {
        if (executable_ != nullptr) {
            cudaGraphExecDestroy(executable_);
        }
        cudaGraphDestroy(graph_);
        cudaFree(x_);
        cudaFreeHost(host_);
        cudaGetLastError();
        for (const simt::DeviceFinding& finding : simt::findings()) { ADD_FAILURE() << finding.text; }
    }

    // ---- parameters. The kernel's arguments live as long as the fixture.
    cudaKernelNodeParams add(int value) {
        value_ = value;
        return {kernel("add_kernel"), dim3(1), dim3(kCount), 0, arguments_.data(), nullptr};
    }
    cudaMemsetParams memset(unsigned value) const { return {x_, 0, value, sizeof(int), kCount, 1}; }
    static cudaHostNodeParams count(int* counter) {
        return {[](void* data) { ++*static_cast<int*>(data); }, counter};
    }

    // ---- nodes behind others
    cudaGraphNode_t add_empty(const Nodes& after = {}) {
        cudaGraphNode_t node = nullptr;
        EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, after.data(), after.size()), cudaSuccess);
        return node;
    }
    cudaGraphNode_t add_memset(unsigned value, const Nodes& after = {}) {
        cudaGraphNode_t node = nullptr;
        const cudaMemsetParams parameters = memset(value);
        EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &parameters), cudaSuccess);
        return node;
    }
    cudaGraphNode_t add_kernel(int value, const Nodes& after = {}) {
        cudaGraphNode_t node = nullptr;
        const cudaKernelNodeParams parameters = add(value);
        EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &parameters), cudaSuccess);
        return node;
    }
    cudaGraphNode_t add_copy_back(const Nodes& after = {}) {
        cudaGraphNode_t node = nullptr;
        EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), host_, x_, kBytes,
                                           cudaMemcpyDeviceToHost),
                  cudaSuccess);
        return node;
    }
    cudaGraphNode_t add_host(int* counter, const Nodes& after = {}) {
        cudaGraphNode_t node = nullptr;
        const cudaHostNodeParams parameters = count(counter);
        EXPECT_EQ(cudaGraphAddHostNode(&node, graph_, after.data(), after.size(), &parameters), cudaSuccess);
        return node;
    }

    void instantiate() { ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess); }
    // What a launch leaves in the host's memory.
    int launch() {
        EXPECT_EQ(cudaGraphLaunch(executable_, nullptr), cudaSuccess);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(host_[0], host_[kCount - 1]);
        return host_[0];
    }

    int *x_ = nullptr, *host_ = nullptr;
    int value_ = 0;
    std::array<void*, 2> arguments_ = {&x_, &value_};
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

// ---- nodes ----------------------------------------------------------------------------------------------------------------

TEST_F(Graph, HasTheNodesThatWereAdded) {
    int times = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    const cudaGraphNode_t told = add_host(&times, {copied}), end = add_empty({told});
    const std::vector<std::pair<cudaGraphNode_t, cudaGraphNodeType>> expected = {{set, cudaGraphNodeTypeMemset},
                                                                                 {launched, cudaGraphNodeTypeKernel},
                                                                                 {copied, cudaGraphNodeTypeMemcpy},
                                                                                 {told, cudaGraphNodeTypeHost},
                                                                                 {end, cudaGraphNodeTypeEmpty}};
    for (const auto& [node, type] : expected) {
        cudaGraphNodeType seen = cudaGraphNodeTypeCount;
        EXPECT_EQ(cudaGraphNodeGetType(node, &seen), cudaSuccess);
        EXPECT_EQ(seen, type);
    }
    instantiate();
    EXPECT_EQ(launch(), 7);
    EXPECT_EQ(launch(), 7);
    EXPECT_EQ(times, 2);
}

TEST_F(Graph, TakesNodesOfAnyTypeInOneForm) {
    cudaGraphNode_t set = nullptr, launched = nullptr, copied = nullptr, told = nullptr, end = nullptr;
    int times = 0;
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeMemset;
    parameters.memset = memset(1);
    EXPECT_EQ(cudaGraphAddNode(&set, graph_, nullptr, nullptr, 0, &parameters), cudaSuccess);
    parameters = {};
    parameters.type = cudaGraphNodeTypeKernel;
    parameters.kernel = add(5);
    EXPECT_EQ(cudaGraphAddNode(&launched, graph_, &set, nullptr, 1, &parameters), cudaSuccess);
    parameters = {};
    parameters.type = cudaGraphNodeTypeMemcpy;
    parameters.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(x_, kBytes, kCount, 1);
    parameters.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(host_, kBytes, kCount, 1);
    parameters.memcpy.copyParams.extent = make_cudaExtent(kBytes, 1, 1);
    parameters.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    EXPECT_EQ(cudaGraphAddNode(&copied, graph_, &launched, 1, &parameters), cudaSuccess) << "CUDA 12's form";
    parameters = {};
    parameters.type = cudaGraphNodeTypeHost;
    parameters.host = count(&times);
    const cudaGraphEdgeData whole = {};
    EXPECT_EQ(cudaGraphAddNode(&told, graph_, &copied, &whole, 1, &parameters), cudaSuccess);
    parameters = {};
    parameters.type = cudaGraphNodeTypeEmpty;
    EXPECT_EQ(cudaGraphAddNode(&end, graph_, &told, nullptr, 1, &parameters), cudaSuccess);
    instantiate();
    EXPECT_EQ(launch(), 6);
    EXPECT_EQ(times, 1);

    parameters.type = cudaGraphNodeTypeMemset;
    parameters.memset = memset(2);
    EXPECT_EQ(cudaGraphNodeSetParams(set, &parameters), cudaSuccess);
    EXPECT_EQ(cudaGraphNodeSetParams(launched, &parameters), cudaErrorInvalidValue) << "another type";
    EXPECT_EQ(launch(), 6) << "the executable is as it was";
    EXPECT_EQ(cudaGraphExecNodeSetParams(executable_, set, &parameters), cudaSuccess);
    EXPECT_EQ(launch(), 7);
}

TEST_F(Graph, RefusesNodesOfTypesThatTheDeviceLacks) {
    cudaGraphNode_t node = nullptr;
    for (const cudaGraphNodeType type :
         {cudaGraphNodeTypeGraph, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord,
          cudaGraphNodeTypeExtSemaphoreSignal, cudaGraphNodeTypeExtSemaphoreWait, cudaGraphNodeTypeMemAlloc,
          cudaGraphNodeTypeMemFree, cudaGraphNodeTypeConditional}) {
        cudaGraphNodeParams parameters = {};
        parameters.type = type;
        EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters), cudaErrorNotSupported) << type;
    }
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeCount;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters), cudaErrorInvalidValue);
    parameters.type = cudaGraphNodeTypeEmpty;
    parameters.reserved0[1] = 1;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters), cudaErrorInvalidValue);
    parameters.reserved0[1] = 0;
    cudaGraphNode_t first = add_empty();
    cudaGraphEdgeData data = {};
    data.type = cudaGraphDependencyTypeProgrammatic;
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, &first, &data, 1, &parameters), cudaErrorNotSupported);
    data = {};
    data.to_port = 1;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, &first, &data, 1, &parameters), cudaErrorInvalidValue);
    EXPECT_EQ(node, nullptr);
}

TEST_F(Graph, TakesDependenciesOfItsOwnAndNoneTwice) {
    cudaGraph_t other = nullptr;
    ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
    cudaGraphNode_t foreign = nullptr, node = nullptr;
    ASSERT_EQ(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0), cudaSuccess);
    const cudaGraphNode_t first = add_empty(), second = add_empty();
    const Nodes twice = {first, second, first};
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, twice.data(), 3), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, &foreign, 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, nullptr, 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddEmptyNode(nullptr, graph_, nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, twice.data(), 2), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, &foreign, 1), cudaErrorInvalidValue) << "it is no more";
}

TEST_F(Graph, DoesNotTakeAKernelThatCouldNotBeLaunched) {
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams parameters = add(1);
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
    parameters.func = &parameters;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidDeviceFunction);
    parameters = add(1);
    parameters.blockDim = dim3(2048);
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidConfiguration);
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_EQ(simt::findings()[0].kind, simt::Kind::bad_launch);
    simt::forget_findings();
    parameters = add(1);
    void* only_one[] = {&x_, nullptr};
    for (void** const too_few : {static_cast<void**>(nullptr), static_cast<void**>(only_one)}) {
        parameters.kernelParams = too_few;
        EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidValue);
        ASSERT_EQ(simt::findings().size(), 1U);
        EXPECT_NE(simt::findings()[0].text.find(too_few == nullptr ? "argument 1 is missing" : "argument 2 is missing"),
                  std::string::npos);
        simt::forget_findings();
    }
    parameters = add(1);
    void* extra[] = {nullptr};
    parameters.extra = extra;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidValue) << "in two forms";
    parameters.kernelParams = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaErrorNotSupported);
    EXPECT_EQ(node, nullptr);
}

TEST_F(Graph, DoesNotTakeACopyOrAMemsetThatIsWrong) {
    cudaGraphNode_t node = nullptr;
    const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        return cudaGraphAddMemcpyNode1D(&node, graph_, nullptr, 0, to, from, bytes, kind);
    };
    EXPECT_EQ(copy(host_, x_, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(copy(nullptr, x_, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(copy(host_, x_, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
    EXPECT_EQ(copy(host_, x_, kBytes + 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_EQ(simt::findings()[0].kind, simt::Kind::bad_copy);
    simt::forget_findings();
    cudaMemcpy3DParms rows = {};
    EXPECT_EQ(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, &rows), cudaErrorInvalidValue);
    rows.srcArray = reinterpret_cast<cudaArray*>(x_);
    EXPECT_EQ(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, &rows), cudaErrorNotSupported) << "textures";

    cudaMemsetParams parameters = memset(1);
    parameters.elementSize = 3;
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidValue);
    parameters = memset(1);
    parameters.width = 0;
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidValue);
    parameters = memset(1);
    parameters.dst = &parameters;
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &parameters), cudaErrorInvalidValue) << "the host's";
    cudaHostNodeParams none = {};
    EXPECT_EQ(cudaGraphAddHostNode(&node, graph_, nullptr, 0, &none), cudaErrorInvalidValue);
    EXPECT_EQ(node, nullptr);
}

TEST_F(Graph, CopiesABoxOfBytes) {
    // Of slices of 4 rows of 8 bytes: half of a row of each of two slices.
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(host_, 8, 8, 4);
    box.srcPos = make_cudaPos(4, 1, 1);
    box.dstPtr = make_cudaPitchedPtr(x_, 4, 4, 1);
    box.extent = make_cudaExtent(4, 1, 2);
    box.kind = cudaMemcpyHostToDevice;
    for (int i = 0; i < static_cast<int>(kCount); i++) { host_[i] = i; }
    cudaGraphNode_t node = nullptr;
    ASSERT_EQ(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, &box), cudaSuccess);
    const Nodes after = {node};
    add_copy_back(after);
    instantiate();
    ASSERT_EQ(cudaGraphLaunch(executable_, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(host_[0], 11) << "row 1 of slice 1, from its fifth byte on";
    EXPECT_EQ(host_[1], 19) << "and of slice 2";
    EXPECT_EQ(host_[2], 0);
    box.extent = make_cudaExtent(4, 3, 2);
    EXPECT_EQ(cudaGraphMemcpyNodeSetParams(node, &box), cudaErrorNotSupported);
}

// ---- parameters -----------------------------------------------------------------------------------------------------------

TEST_F(Graph, TellsAndChangesWhatANodeDoes) {
    int first = 0, second = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    const cudaGraphNode_t told = add_host(&first, {copied});

    cudaMemsetParams memset_now = {};
    EXPECT_EQ(cudaGraphMemsetNodeGetParams(set, &memset_now), cudaSuccess);
    EXPECT_EQ(memset_now.dst, x_);
    EXPECT_EQ(memset_now.value, 3U);
    EXPECT_EQ(memset_now.width, kCount);
    memset_now.value = 10;
    EXPECT_EQ(cudaGraphMemsetNodeSetParams(set, &memset_now), cudaSuccess);

    cudaKernelNodeParams kernel_now = {};
    EXPECT_EQ(cudaGraphKernelNodeGetParams(launched, &kernel_now), cudaSuccess);
    EXPECT_EQ(kernel_now.func, kernel("add_kernel"));
    EXPECT_EQ(kernel_now.blockDim.x, kCount);
    EXPECT_EQ(*static_cast<int**>(kernel_now.kernelParams[0]), x_);
    EXPECT_EQ(*static_cast<int*>(kernel_now.kernelParams[1]), 4);
    const cudaKernelNodeParams more = add(20);
    EXPECT_EQ(cudaGraphKernelNodeSetParams(launched, &more), cudaSuccess);
    EXPECT_EQ(cudaGraphKernelNodeGetParams(launched, &kernel_now), cudaSuccess);
    EXPECT_EQ(*static_cast<int*>(kernel_now.kernelParams[1]), 20);
    EXPECT_EQ(cudaGraphKernelNodeSetParams(launched, &kernel_now), cudaSuccess) << "its own arguments";

    cudaMemcpy3DParms copy_now = {};
    EXPECT_EQ(cudaGraphMemcpyNodeGetParams(copied, &copy_now), cudaSuccess);
    EXPECT_EQ(copy_now.srcPtr.ptr, x_);
    EXPECT_EQ(copy_now.dstPtr.ptr, host_);
    EXPECT_EQ(copy_now.extent.width, kBytes);
    EXPECT_EQ(copy_now.kind, cudaMemcpyDeviceToHost);
    EXPECT_EQ(cudaGraphMemcpyNodeSetParams1D(copied, host_, x_, kBytes / 2, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaGraphMemcpyNodeSetParams(copied, &copy_now), cudaSuccess) << "all of it again";

    cudaHostNodeParams host_now = {};
    EXPECT_EQ(cudaGraphHostNodeGetParams(told, &host_now), cudaSuccess);
    EXPECT_EQ(host_now.userData, &first);
    host_now.userData = &second;
    EXPECT_EQ(cudaGraphHostNodeSetParams(told, &host_now), cudaSuccess);
    instantiate();
    EXPECT_EQ(launch(), 30);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
}

TEST_F(Graph, SaysWhereANodeIsOfAnotherTypeOrNoMore) {
    const cudaGraphNode_t set = add_memset(3);
    cudaKernelNodeParams kernel_parameters = add(1);
    cudaMemcpy3DParms copy = {};
    cudaMemsetParams memset_parameters = memset(1);
    cudaHostNodeParams host = {};
    cudaGraphNodeType type;
    EXPECT_EQ(cudaGraphKernelNodeGetParams(set, &kernel_parameters), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphKernelNodeSetParams(set, &kernel_parameters), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemcpyNodeGetParams(set, &copy), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemcpyNodeSetParams1D(set, host_, x_, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphHostNodeGetParams(set, &host), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphHostNodeSetParams(set, &host), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemsetNodeGetParams(set, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemsetNodeSetParams(set, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetType(set, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDestroyNode(set), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroyNode(set), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetType(set, &type), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemsetNodeGetParams(set, &memset_parameters), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphMemsetNodeSetParams(set, &memset_parameters), cudaErrorInvalidValue);
}

TEST_F(Graph, RemembersTheAttributesOfAKernel) {
    const cudaGraphNode_t node = add_kernel(1), other = add_kernel(1), set = add_memset(0);
    cudaKernelNodeAttrValue value = {}, seen = {};
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &seen), cudaSuccess);
    EXPECT_EQ(seen.accessPolicyWindow.num_bytes, 0U);
    value.accessPolicyWindow = {x_, kBytes, 1.0F, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &value), cudaSuccess);
    const cudaKernelNodeParams parameters = add(2);
    EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &parameters), cudaSuccess) << "attributes stay";
    EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(other, node), cudaSuccess);
    for (const cudaGraphNode_t known : {node, other}) {
        EXPECT_EQ(cudaGraphKernelNodeGetAttribute(known, cudaKernelNodeAttributeAccessPolicyWindow, &seen),
                  cudaSuccess);
        EXPECT_EQ(seen.accessPolicyWindow.base_ptr, x_);
        EXPECT_EQ(seen.accessPolicyWindow.hitProp, cudaAccessPropertyPersisting);
    }
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(set, cudaKernelNodeAttributePriority, &value), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeSynchronizationPolicy, &value),
              cudaErrorInvalidValue)
        << "a stream's";
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributePriority, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(node, set), cudaErrorInvalidValue);
}

TEST_F(Graph, LaunchesAKernelCooperativelyWhoseAttributeSaysSo) {
    cudaKernelNodeParams parameters = {kernel("grid_kernel"), dim3(4), dim3(32), 0, arguments_.data(), nullptr};
    cudaGraphNode_t node = nullptr;
    ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters), cudaSuccess);
    cudaKernelNodeAttrValue value = {};
    value.cooperative = 1;
    ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeCooperative, &value), cudaSuccess);
    ASSERT_EQ(cudaGraphKernelNodeSetParams(node, &parameters), cudaSuccess);
    add_copy_back({node});
    instantiate();
    ASSERT_EQ(cudaGraphLaunch(executable_, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(host_[0], 4);

    value.cooperative = 0;
    ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeCooperative, &value), cudaSuccess);
    cudaGraphExecUpdateResultInfo info = {};
    EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorAttributesChanged);
    EXPECT_EQ(info.errorNode, node);
}

// ---- edges ----------------------------------------------------------------------------------------------------------------

TEST_F(Graph, ListsItsNodesRootsAndEdges) {
    const cudaGraphNode_t a = add_empty(), b = add_empty(), c = add_empty({a, b}), d = add_empty({c});
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 4U);
    Nodes nodes(6, a);
    count = 6;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nodes.data(), &count), cudaSuccess);
    EXPECT_EQ(count, 4U);
    EXPECT_EQ(nodes, (Nodes{a, b, c, d, nullptr, nullptr})) << "what is left is null";
    count = 1;
    nodes = {d, d};
    EXPECT_EQ(cudaGraphGetRootNodes(graph_, nodes.data(), &count), cudaSuccess);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(nodes, (Nodes{a, d})) << "no more than there is room for";

    Nodes from(4, a), to(4, a);
    std::vector<cudaGraphEdgeData> data(4, cudaGraphEdgeData{1, 1, 1, {}});
    count = 4;
    EXPECT_EQ(cudaGraphGetEdges(graph_, from.data(), to.data(), data.data(), &count), cudaSuccess);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(from, (Nodes{a, b, c, nullptr}));
    EXPECT_EQ(to, (Nodes{c, c, d, nullptr}));
    EXPECT_EQ(data[2].type, 0);
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, &count), cudaSuccess) << "CUDA 12's form";
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(cudaGraphGetEdges(graph_, from.data(), nullptr, nullptr, &count), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, data.data(), &count), cudaErrorInvalidValue);

    count = 2;
    EXPECT_EQ(cudaGraphNodeGetDependencies(c, nodes.data(), nullptr, &count), cudaSuccess);
    EXPECT_EQ(nodes, (Nodes{a, b}));
    count = 2;
    EXPECT_EQ(cudaGraphNodeGetDependentNodes(a, nodes.data(), data.data(), &count), cudaSuccess);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(nodes, (Nodes{c, nullptr}));
    EXPECT_EQ(cudaGraphNodeGetDependentNodes(d, nullptr, &count), cudaSuccess) << "CUDA 12's form";
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(cudaGraphNodeGetDependencies(c, nullptr, data.data(), &count), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetDependencies(c, nullptr, nullptr, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphGetRootNodes(nullptr, nullptr, &count), cudaErrorInvalidValue);
}

TEST_F(Graph, TakesEdgesAndGivesThemUp) {
    const cudaGraphNode_t copied = add_copy_back(), launched = add_kernel(4), set = add_memset(3);
    const Nodes from = {set, launched}, to = {launched, copied};
    EXPECT_EQ(cudaGraphAddDependencies(graph_, from.data(), to.data(), nullptr, 2), cudaSuccess);
    EXPECT_EQ(cudaGraphAddDependencies(graph_, from.data(), to.data(), 1), cudaErrorInvalidValue) << "it is there";
    EXPECT_EQ(cudaGraphAddDependencies(graph_, &set, &set, 1), cudaErrorInvalidValue) << "behind itself";
    const Nodes same = {set, set}, copies = {copied, copied};
    EXPECT_EQ(cudaGraphAddDependencies(graph_, same.data(), copies.data(), 2), cudaErrorInvalidValue) << "twice";
    EXPECT_EQ(cudaGraphAddDependencies(graph_, nullptr, nullptr, 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphAddDependencies(graph_, nullptr, nullptr, 0), cudaSuccess);
    instantiate();
    EXPECT_EQ(launch(), 7) << "by the edges, not in the order in which the nodes were made";

    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 2U) << "what failed has added none";
    EXPECT_EQ(cudaGraphRemoveDependencies(graph_, from.data(), to.data(), nullptr, 1), cudaSuccess);
    EXPECT_EQ(cudaGraphRemoveDependencies(graph_, from.data(), to.data(), 2), cudaErrorInvalidValue)
        << "one is not there";
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(cudaGraphDestroyNode(launched), cudaSuccess);
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 0U) << "a node takes its edges with it";
}

TEST_F(Graph, IsNotInstantiatedWithACycle) {
    const cudaGraphNode_t a = add_empty(), b = add_empty({a}), c = add_empty({b});
    EXPECT_EQ(cudaGraphAddDependencies(graph_, &c, &b, 1), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaErrorInvalidValue);
    EXPECT_EQ(executable_, nullptr);
    cudaGraphInstantiateParams parameters = {};
    EXPECT_EQ(cudaGraphInstantiateWithParams(&executable_, graph_, &parameters), cudaErrorInvalidValue);
    EXPECT_EQ(parameters.result_out, cudaGraphInstantiateInvalidStructure);
    EXPECT_TRUE(parameters.errNode_out == b || parameters.errNode_out == c);
    EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &c, &b, 1), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiateWithParams(&executable_, graph_, &parameters), cudaSuccess);
    EXPECT_EQ(parameters.result_out, cudaGraphInstantiateSuccess);
    EXPECT_EQ(parameters.errNode_out, nullptr);
}

TEST_F(Graph, ThatIsBeingCapturedTakesNodesAndKeepsThem) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(x_, 1, kBytes, stream), cudaSuccess);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t captured = nullptr, ended = nullptr;
    const cudaGraphNode_t* last = nullptr;
    std::size_t count = 0;
    ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &captured, &last, nullptr, &count), cudaSuccess);
    ASSERT_EQ(count, 1U);
    const cudaGraphNode_t set = *last;
    cudaGraphNode_t copied = nullptr;
    EXPECT_EQ(cudaGraphAddMemcpyNode1D(&copied, captured, &set, 1, host_, x_, kBytes, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(cudaGraphDestroyNode(set), cudaErrorNotPermitted);
    EXPECT_EQ(cudaGraphDestroy(captured), cudaErrorNotPermitted);
    ASSERT_EQ(cudaStreamEndCapture(stream, &ended), cudaSuccess) << "nothing of it is unjoined by that";
    EXPECT_EQ(ended, captured);
    ASSERT_EQ(cudaGraphInstantiate(&executable_, ended, 0), cudaSuccess);
    EXPECT_EQ(launch(), 0x1010101);
    EXPECT_EQ(cudaGraphDestroyNode(copied), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(ended), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// ---- clones ---------------------------------------------------------------------------------------------------------------

TEST_F(Graph, IsClonedWithAllThatItHas) {
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4), copied = add_copy_back({launched});
    ASSERT_EQ(cudaGraphAddDependencies(graph_, &set, &launched, 1), cudaSuccess);
    cudaGraph_t clone = nullptr;
    ASSERT_EQ(cudaGraphClone(&clone, graph_), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroyNode(copied), cudaSuccess) << "the clone has it still";
    const cudaMemsetParams nine = memset(9);
    ASSERT_EQ(cudaGraphMemsetNodeSetParams(set, &nine), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable_, clone, 0), cudaSuccess);
    EXPECT_EQ(launch(), 7);

    cudaGraphNode_t twin = nullptr, found = nullptr;
    EXPECT_EQ(cudaGraphNodeFindInClone(&twin, launched, clone), cudaSuccess);
    EXPECT_NE(twin, launched);
    std::size_t count = 1;
    EXPECT_EQ(cudaGraphNodeGetDependencies(twin, &found, &count), cudaSuccess);
    EXPECT_EQ(cudaGraphNodeFindInClone(&twin, set, clone), cudaSuccess);
    EXPECT_EQ(found, twin);
    EXPECT_EQ(cudaGraphNodeFindInClone(&found, copied, clone), cudaErrorInvalidValue) << "the original is no more";
    EXPECT_EQ(cudaGraphNodeFindInClone(&found, set, graph_), cudaErrorInvalidValue) << "no clone";
    EXPECT_EQ(cudaGraphNodeFindInClone(&found, add_empty(), clone), cudaErrorInvalidValue) << "made later";
    EXPECT_EQ(cudaGraphDestroyNode(twin), cudaSuccess);
    EXPECT_EQ(cudaGraphNodeFindInClone(&found, set, clone), cudaErrorInvalidValue) << "the clone's is no more";
    EXPECT_EQ(cudaGraphNodeFindInClone(nullptr, launched, clone), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphClone(nullptr, graph_), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphClone(&clone, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDestroy(clone), cudaSuccess);
}

// ---- executables ----------------------------------------------------------------------------------------------------------

TEST_F(Graph, IsLaunchedWithWhatItsExecutableWasGiven) {
    int first = 0, second = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    const cudaGraphNode_t told = add_host(&first, {copied});
    instantiate();
    const cudaMemsetParams ten = memset(10);
    const cudaKernelNodeParams twenty = add(20);
    const cudaHostNodeParams other = count(&second);
    EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, set, &ten), cudaSuccess);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, launched, &twenty), cudaSuccess);
    EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(executable_, copied, host_, x_, kBytes, cudaMemcpyDefault),
              cudaSuccess);
    EXPECT_EQ(cudaGraphExecHostNodeSetParams(executable_, told, &other), cudaSuccess);
    EXPECT_EQ(launch(), 30);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
    cudaMemsetParams as_it_was = {};
    EXPECT_EQ(cudaGraphMemsetNodeGetParams(set, &as_it_was), cudaSuccess);
    EXPECT_EQ(as_it_was.value, 3U) << "the graph's node";
}

TEST_F(Graph, RefusesChangesThatItsExecutableHasNoRoomFor) {
    cudaGraphNode_t rows = nullptr;
    cudaMemsetParams two_rows = {x_, kBytes / 2, 1, 1, 16, 2};
    ASSERT_EQ(cudaGraphAddMemsetNode(&rows, graph_, nullptr, 0, &two_rows), cudaSuccess);
    const cudaGraphNode_t set = add_memset(3, {rows}), copied = add_copy_back({set}),
                          launched = add_kernel(1, {copied});
    instantiate();
    cudaMemsetParams changed = memset(3);
    changed.height = 2;
    changed.width = 4;
    changed.pitch = 16;
    EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, set, &changed), cudaErrorInvalidValue) << "more rows";
    changed = two_rows;
    changed.value = 7;
    EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, rows, &changed), cudaSuccess);
    changed.width = 8;
    EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, rows, &changed), cudaErrorInvalidValue) << "shorter rows";
    EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(executable_, copied, x_, host_, kBytes, cudaMemcpyDefault),
              cudaErrorInvalidValue)
        << "the other way";
    std::vector<int> pageable(kCount);
    EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(executable_, copied, pageable.data(), x_, kBytes, cudaMemcpyDefault),
              cudaErrorInvalidValue)
        << "memory of another kind";
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(x_, 8, 8, 2);
    box.dstPtr = make_cudaPitchedPtr(host_, 8, 8, 2);
    box.extent = make_cudaExtent(4, 2, 1);
    box.kind = cudaMemcpyDefault;
    EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams(executable_, copied, &box), cudaErrorInvalidValue) << "rows";
    EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, launched, &two_rows), cudaErrorInvalidValue) << "a kernel";
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, launched, nullptr), cudaErrorInvalidValue);
    const cudaKernelNodeParams parameters = add(1);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, nullptr, &parameters), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(nullptr, launched, &parameters), cudaErrorInvalidValue);
    const cudaGraphNode_t later = add_kernel(1);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, later, &parameters), cudaErrorInvalidValue) << "made later";
    ASSERT_EQ(cudaGraphDestroyNode(launched), cudaSuccess);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, launched, &parameters), cudaErrorInvalidValue);
}

TEST_F(Graph, SkipsNodesThatAreDisabled) {
    int times = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    const cudaGraphNode_t told = add_host(&times, {copied});
    instantiate();
    unsigned enabled = 7;
    EXPECT_EQ(cudaGraphNodeGetEnabled(executable_, launched, &enabled), cudaSuccess);
    EXPECT_EQ(enabled, 1U);
    EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, launched, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphNodeGetEnabled(executable_, launched, &enabled), cudaSuccess);
    EXPECT_EQ(enabled, 0U);
    EXPECT_EQ(launch(), 3);
    const cudaKernelNodeParams parameters = add(5);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, launched, &parameters), cudaSuccess);
    EXPECT_EQ(launch(), 3) << "it stays disabled";
    EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, launched, 1), cudaSuccess);
    EXPECT_EQ(launch(), 8);
    EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, told, 0), cudaErrorInvalidValue)
        << "only kernels, copies and memsets";
    EXPECT_EQ(cudaGraphNodeGetEnabled(executable_, told, &enabled), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetEnabled(executable_, set, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, nullptr, 0), cudaErrorInvalidValue);
}

TEST_F(Graph, IsUploadedBehindItsLastLaunchAndHasFlags) {
    add_copy_back({add_kernel(1)});
    ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable_, graph_, cudaGraphInstantiateFlagUseNodePriority),
              cudaSuccess);
    unsigned long long flags = 0;
    EXPECT_EQ(cudaGraphExecGetFlags(executable_, &flags), cudaSuccess);
    EXPECT_EQ(flags, static_cast<unsigned long long>(cudaGraphInstantiateFlagUseNodePriority));
    EXPECT_EQ(cudaGraphExecGetFlags(executable_, nullptr), cudaErrorInvalidValue);
    cudaGraphExec_t uploaded = nullptr;
    cudaGraphInstantiateParams parameters = {};
    parameters.flags = cudaGraphInstantiateFlagUpload;
    EXPECT_EQ(cudaGraphInstantiateWithParams(&uploaded, graph_, &parameters), cudaSuccess);
    EXPECT_EQ(cudaGraphExecGetFlags(uploaded, &flags), cudaSuccess);
    EXPECT_EQ(flags, 0U) << "it is uploaded, which changes nothing of it";
    EXPECT_EQ(cudaGraphExecDestroy(uploaded), cudaSuccess);

    cudaStream_t first = nullptr, second = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(executable_, first), cudaSuccess);
    EXPECT_EQ(cudaGraphUpload(executable_, second), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_EQ(host_[0], 1) << "who waits for the upload waits for the launch before it";
    EXPECT_EQ(cudaGraphUpload(nullptr, second), cudaErrorInvalidValue);
    cudaStreamDestroy(second);
    EXPECT_EQ(cudaGraphUpload(executable_, second), cudaErrorInvalidResourceHandle);
    cudaStreamDestroy(first);
}

class ExecutableUpdate : public Graph {
  protected:
    void SetUp() override {
        Graph::SetUp();
        const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set});
        add_copy_back({launched});
        instantiate();
        ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
        ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    }

    void expect(cudaGraphExecUpdateResult result, cudaGraphNode_t node, cudaGraphNode_t from = nullptr) {
        cudaGraphExecUpdateResultInfo info = {};
        const bool success = result == cudaGraphExecUpdateSuccess;
        EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info),
                  success ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
        EXPECT_EQ(info.result, result);
        EXPECT_EQ(info.errorNode, node);
        EXPECT_EQ(info.errorFromNode, from);
        if (!success) {
            EXPECT_EQ(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);
            EXPECT_EQ(launch(), 7) << "nothing of it has changed";
        }
    }
};

TEST_F(ExecutableUpdate, TakesOverWhatTheNodesDo) {
    // Made in another order: who corresponds to whom is told by the edges.
    const cudaGraphNode_t copied = add_copy_back(), launched = add_kernel(20), set = add_memset(10);
    const Nodes from = {set, launched}, to = {launched, copied};
    ASSERT_EQ(cudaGraphAddDependencies(graph_, from.data(), to.data(), 2), cudaSuccess);
    expect(cudaGraphExecUpdateSuccess, nullptr);
    EXPECT_EQ(launch(), 30);
}

TEST_F(ExecutableUpdate, RefusesANodeMore) {
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set});
    add_empty({add_copy_back({launched})});
    expect(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
}

TEST_F(ExecutableUpdate, RefusesAnEndMore) {
    const cudaGraphNode_t set = add_memset(3);
    add_kernel(4, {set});
    const cudaGraphNode_t copied = add_copy_back({set});
    expect(cudaGraphExecUpdateErrorTopologyChanged, copied);
}

TEST_F(ExecutableUpdate, RefusesAnEndFewer) {
    ASSERT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
    add_memset(7);
    add_empty();
    instantiate();
    ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    add_empty({add_memset(8)});
    cudaGraphExecUpdateResultInfo info = {};
    EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_EQ(info.errorNode, nullptr);
}

TEST_F(ExecutableUpdate, RefusesADependencyMore) {
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set});
    const cudaGraphNode_t copied = add_copy_back({launched, set});
    expect(cudaGraphExecUpdateErrorTopologyChanged, copied);
}

TEST_F(ExecutableUpdate, RefusesAnotherType) {
    const cudaGraphNode_t set = add_memset(3), second = add_memset(4, {set});
    add_copy_back({second});
    expect(cudaGraphExecUpdateErrorNodeTypeChanged, second);
}

TEST_F(ExecutableUpdate, RefusesParametersThatItHasNoRoomFor) {
    cudaGraphNode_t set = nullptr;
    const cudaMemsetParams two_rows = {x_, kBytes / 2, 1, 1, 16, 2};
    ASSERT_EQ(cudaGraphAddMemsetNode(&set, graph_, nullptr, 0, &two_rows), cudaSuccess);
    add_copy_back({add_kernel(4, {set})});
    expect(cudaGraphExecUpdateErrorParametersChanged, set);
}

TEST_F(ExecutableUpdate, RefusesADependencyOfAnotherNode) {
    // A diamond, and one whose two halves change places half-way.
    ASSERT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
    const cudaGraphNode_t a = add_empty(), b = add_empty(), c = add_empty({a, b}), d = add_empty({a, b});
    add_empty({c, d});
    instantiate();
    ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    const cudaGraphNode_t e = add_empty(), f = add_empty(), g = add_empty({e, f}), h = add_empty({f, e});
    add_empty({g, h});
    cudaGraphExecUpdateResultInfo info = {};
    EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_EQ(info.errorNode, h);
    EXPECT_EQ(info.errorFromNode, f);
    cudaGraphNode_t node = nullptr;
    cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &node, &result), cudaErrorGraphExecUpdateFailure)
        << "CUDA 11's form";
    EXPECT_EQ(result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_EQ(node, h);
}

TEST_F(ExecutableUpdate, RefusesWhatIsNoGraph) {
    cudaGraphExecUpdateResultInfo info = {};
    EXPECT_EQ(cudaGraphExecUpdate(executable_, nullptr, &info), cudaErrorInvalidValue);
    EXPECT_EQ(info.result, cudaGraphExecUpdateError);
    EXPECT_EQ(cudaGraphExecUpdate(nullptr, graph_, &info), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, nullptr), cudaErrorInvalidValue);
}

TEST_F(Graph, TellsOfHandlesThatWereDestroyed) {
    cudaGraph_t gone = nullptr;
    ASSERT_EQ(cudaGraphCreate(&gone, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(gone), cudaSuccess);
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(gone, nullptr, &count), cudaErrorInvalidValue);
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_EQ(simt::findings()[0].kind, simt::Kind::use_after_free);
    simt::forget_findings();
}

// ---- drawings -------------------------------------------------------------------------------------------------------------

class GraphDrawing : public Graph {
  protected:
    // What is drawn. Each line is a node, an edge, or a bracket.
    std::string draw(unsigned flags) {
        const std::string path = testing::TempDir() + "graph_api_test.dot";
        EXPECT_EQ(cudaGraphDebugDotPrint(graph_, path.c_str(), flags), cudaSuccess);
        std::ifstream in(path);
        std::string text(std::istreambuf_iterator<char>(in), {});
        static const std::regex drawing(
            R"re(digraph dot \{\n(  node_\d+ \[shape=\w+( style=bold)? label="([^"\\]|\\["\\n])*"\];\n)*(  node_\d+ -> node_\d+;\n)*\}\n)re");
        EXPECT_TRUE(std::regex_match(text, drawing)) << text;
        return text;
    }
};

TEST_F(GraphDrawing, ShowsNodesWithWhatTheyDoAndEdges) {
    int times = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    add_empty({set, add_host(&times, {copied})});
    EXPECT_EQ(draw(0),
              "digraph dot {\n"
              "  node_0 [shape=box label=\"0\\nmemset to 3\\n128 bytes\"];\n"
              "  node_1 [shape=box style=bold label=\"1\\nadd\\n<<<1, 32>>>\"];\n"
              "  node_2 [shape=box label=\"2\\nmemcpy, device to host\\n128 bytes\"];\n"
              "  node_3 [shape=ellipse label=\"3\\nhost function\"];\n"
              "  node_4 [shape=circle label=\"4\\nempty\"];\n"
              "  node_0 -> node_1;\n"
              "  node_1 -> node_2;\n"
              "  node_2 -> node_3;\n"
              "  node_0 -> node_4;\n"
              "  node_3 -> node_4;\n"
              "}\n");
}

TEST_F(GraphDrawing, ShowsMoreWhereAFlagAsksForIt) {
    int times = 0;
    const cudaGraphNode_t set = add_memset(3), launched = add_kernel(4, {set}), copied = add_copy_back({launched});
    add_host(&times, {copied});
    const std::vector<std::pair<unsigned, std::string>> parts = {
        {cudaGraphDebugDotFlagsKernelNodeParams, "0 bytes of dynamic shared memory\\narguments of 8, 4 bytes"},
        {cudaGraphDebugDotFlagsMemcpyNodeParams, "in a buffer of 128 bytes"},
        {cudaGraphDebugDotFlagsMemsetNodeParams, "4-byte elements"},
        {cudaGraphDebugDotFlagsHostNodeParams, "host function\\n0x"},
        {cudaGraphDebugDotFlagsKernelNodeAttributes, "not cooperative"},
        {cudaGraphDebugDotFlagsHandles, "function 0x"}};
    const std::string everything = draw(cudaGraphDebugDotFlagsVerbose), plain = draw(0);
    for (const auto& [flag, part] : parts) {
        EXPECT_TRUE(contains(draw(flag), part)) << part;
        EXPECT_TRUE(contains(everything, part)) << part;
        EXPECT_FALSE(contains(plain, part)) << part;
    }
}

TEST_F(GraphDrawing, SaysWhereItCannotBeWritten) {
    EXPECT_EQ(cudaGraphDebugDotPrint(graph_, "/nowhere/at/all.dot", 0), cudaErrorOperatingSystem);
    EXPECT_EQ(cudaGraphDebugDotPrint(graph_, nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDebugDotPrint(nullptr, "x.dot", 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDebugDotPrint(graph_, "x.dot", 1U << 30), cudaErrorInvalidValue);
}

}  // namespace
