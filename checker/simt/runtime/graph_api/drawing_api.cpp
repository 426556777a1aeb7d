// SPDX-License-Identifier: MIT
//
// cudaGraphDebugDotPrint: a graph as Graphviz draws it. Each node says its number, what it does, and how much of it; the flags
// ask for more.
#include <fmt/core.h>

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/streams/graphs.h"

namespace simt {
namespace {

constexpr unsigned kFlags = cudaGraphDebugDotFlagsVerbose | cudaGraphDebugDotFlagsKernelNodeParams |
                            cudaGraphDebugDotFlagsMemcpyNodeParams | cudaGraphDebugDotFlagsMemsetNodeParams |
                            cudaGraphDebugDotFlagsHostNodeParams | cudaGraphDebugDotFlagsEventNodeParams |
                            cudaGraphDebugDotFlagsExtSemasSignalNodeParams |
                            cudaGraphDebugDotFlagsExtSemasWaitNodeParams | cudaGraphDebugDotFlagsKernelNodeAttributes |
                            cudaGraphDebugDotFlagsHandles | cudaGraphDebugDotFlagsConditionalNodeParams;

using Lines = std::vector<std::string>;

std::string text_of(dim3 d) {
    return d.y == 1 && d.z == 1 ? fmt::format("{}", d.x) : fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

// "0x7f0000000400, in a buffer of 4096 bytes from main.cu:12"
std::string text_of_address(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const Allocation* const buffer = Memory::instance().find(address);
    return buffer == nullptr ? fmt::format("{}", pointer) : fmt::format("{}, in {}", pointer, text_of(*buffer));
}

const char* text_of(cudaMemcpyKind kind) {
    constexpr const char* kTexts[] = {"host to host", "host to device", "device to host", "device to device",
                                      "by its addresses"};
    return kTexts[kind];
}

class Drawing {
  public:
    explicit Drawing(unsigned flags) : flags_(flags) {}

    // The lines of a node's label below its number.
    Lines operator()(const Operation& operation) const {
        Lines lines;
        if (const auto* const kernel = std::get_if<KernelWork>(&operation.work)) {
            describe(*kernel, operation.name, lines);
        } else if (const auto* const copy = std::get_if<CopyWork>(&operation.work)) {
            describe(*copy, lines);
        } else if (const auto* const memset = std::get_if<MemsetWork>(&operation.work)) {
            describe(*memset, lines);
        } else if (const auto* const host = std::get_if<HostWork>(&operation.work)) {
            describe(*host, lines);
        } else {
            lines.emplace_back("empty");
        }
        return lines;
    }

    bool wants(unsigned flag) const { return (flags_ & (flag | cudaGraphDebugDotFlagsVerbose)) != 0; }

  private:
    void describe(const KernelWork& kernel, const std::string& name, Lines& lines) const {
        lines.push_back(name);
        if (kernel.function == nullptr) {
            lines.emplace_back("a library's kernel");
            return;
        }
        lines.push_back(fmt::format("<<<{}, {}>>>", text_of(kernel.grid), text_of(kernel.block)));
        if (wants(cudaGraphDebugDotFlagsKernelNodeParams)) {
            lines.push_back(fmt::format("{} bytes of dynamic shared memory", kernel.dynamic_bytes));
            std::string sizes;
            for (std::size_t i = 0; i < kernel.arguments->count(); i++) {
                sizes += fmt::format("{}{}", i == 0 ? "" : ", ", (*kernel.arguments)[i].size());
            }
            lines.push_back(fmt::format("arguments of {} bytes", sizes.empty() ? "0" : sizes));
        }
        if (wants(cudaGraphDebugDotFlagsKernelNodeAttributes)) {
            describe(kernel.attributes, lines);
        }
        if (wants(cudaGraphDebugDotFlagsHandles)) {
            lines.push_back(fmt::format("function {}", kernel.function));
        }
    }

    static void describe(const KernelAttributes& attributes, Lines& lines) {
        lines.emplace_back(is_cooperative(attributes) ? "cooperative" : "not cooperative");
        for (const auto& [attribute, value] : attributes) {
            if (attribute == cudaLaunchAttributePriority) {
                lines.push_back(fmt::format("priority {}", value.priority));
            } else if (attribute == cudaLaunchAttributeAccessPolicyWindow) {
                lines.push_back(fmt::format("access policy window of {} bytes from {}, {:.2f} of it persisting",
                                            value.accessPolicyWindow.num_bytes, value.accessPolicyWindow.base_ptr,
                                            value.accessPolicyWindow.hitRatio));
            }
        }
    }

    void describe(const CopyWork& copy, Lines& lines) const {
        lines.push_back(fmt::format("memcpy, {}", text_of(copy.kind)));
        lines.push_back(rows(copy.height, fmt::format("{} bytes", copy.width)));
        if (wants(cudaGraphDebugDotFlagsMemcpyNodeParams)) {
            lines.push_back("from " + text_of_address(copy.from));
            lines.push_back("to " + text_of_address(copy.to));
            if (copy.height > 1) {
                lines.push_back(fmt::format("pitches {} and {} bytes", copy.from_pitch, copy.to_pitch));
            }
        }
    }

    void describe(const MemsetWork& memset, Lines& lines) const {
        lines.push_back(fmt::format("memset to {}", memset.value));
        lines.push_back(rows(memset.height, fmt::format("{} bytes", memset.width * memset.element_bytes)));
        if (wants(cudaGraphDebugDotFlagsMemsetNodeParams)) {
            lines.push_back(fmt::format("{}-byte elements", memset.element_bytes));
            lines.push_back("to " + text_of_address(memset.to));
            if (memset.height > 1) {
                lines.push_back(fmt::format("pitch {} bytes", memset.pitch));
            }
        }
    }

    void describe(const HostWork& host, Lines& lines) const {
        lines.emplace_back("host function");
        if (wants(cudaGraphDebugDotFlagsHostNodeParams)) {
            lines.push_back(fmt::format("{}, given {}", reinterpret_cast<const void*>(host.function), host.data));
        }
    }

    static std::string rows(std::size_t count, const std::string& row) {
        return count == 1 ? row : fmt::format("{} rows of {}", count, row);
    }

    unsigned flags_;
};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string dot_of(const CUgraph_st& graph, unsigned flags) {
    constexpr const char* kShapes[] = {"circle", "box style=bold", "box", "box", "ellipse"};
    static_assert(std::size(kShapes) == std::variant_size_v<Work>);
    const Drawing lines_of(flags);
    std::string text = "digraph dot {\n";
    for (const auto& node : graph.nodes) {
        std::string label = fmt::format("{}", node->number);
        if (lines_of.wants(cudaGraphDebugDotFlagsHandles)) {
            label += fmt::format(" ({})", static_cast<const void*>(node.get()));
        }
        for (const std::string& line : lines_of(node->operation)) { label += "\\n" + escaped(line); }
        text += fmt::format("  node_{} [shape={} label=\"{}\"];\n", node->number, kShapes[node->operation.work.index()],
                            label);
    }
    for (const auto& node : graph.nodes) {
        for (cudaGraphNode_t const before : node->after) {
            text += fmt::format("  node_{} -> node_{};\n", before->number, node->number);
        }
    }
    return text + "}\n";
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
    const simt::ApiLock turn;
    if (!simt::Graphs::instance().is_usable(graph, "cudaGraphDebugDotPrint", __builtin_return_address(0)) ||
        path == nullptr || (flags & ~simt::kFlags) != 0) {
        return result(cudaErrorInvalidValue);
    }
    std::ofstream out(path);
    out << simt::dot_of(*graph, flags);
    out.close();
    return result(out ? cudaSuccess : cudaErrorOperatingSystem);
}

}  // extern "C"
