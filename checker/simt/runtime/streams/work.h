// SPDX-License-Identifier: MIT
//
// What an operation does, in the terms in which the API of graphs tells it and changes it; and operations made of it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"

namespace simt {

struct Operation;

// Copies of a kernel's arguments, and an array of pointers to them, as cudaLaunchKernel takes it.
class Arguments {
  public:
    void add(const void* argument, std::size_t bytes);
    // Null behind the last one.
    void** pointers() const { return pointers_->data(); }
    std::size_t count() const { return bytes_.size(); }
    const std::vector<char>& operator[](std::size_t i) const { return *bytes_[i]; }

  private:
    std::vector<std::shared_ptr<std::vector<char>>> bytes_;
    std::shared_ptr<std::vector<void*>> pointers_ = std::make_shared<std::vector<void*>>(1);
};

// What a launch was given, or a node. All but the one for cooperative launches are without effect here.
using KernelAttributes = std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue>;
bool is_of_kernels(cudaLaunchAttributeID attribute);
bool is_cooperative(const KernelAttributes& attributes);

struct KernelWork {
    const void* function = nullptr;  // its address; null: a library's own kernel
    dim3 grid, block;
    std::size_t dynamic_bytes = 0;
    KernelAttributes attributes = {};
    std::shared_ptr<const Arguments> arguments = {};
};
// `height` rows of `width` bytes.
struct CopyWork {
    void* to;
    std::size_t to_pitch;
    const void* from;
    std::size_t from_pitch;
    std::size_t width, height;
    cudaMemcpyKind kind;

    std::size_t to_bytes() const { return (height - 1) * to_pitch + width; }
    std::size_t from_bytes() const { return (height - 1) * from_pitch + width; }
};
// `height` rows of `width` elements.
struct MemsetWork {
    void* to;
    std::size_t pitch;
    unsigned int value;
    unsigned int element_bytes;  // 1, 2 or 4
    std::size_t width, height;

    std::size_t bytes() const { return (height - 1) * pitch + width * element_bytes; }
};
struct HostWork {
    cudaHostFn_t function;
    void* data;
};
// What only orders others is nothing.
using Work = std::variant<std::monostate, KernelWork, CopyWork, MemsetWork, HostWork>;

// The kind of node that does it.
cudaGraphNodeType type_of(const Work& work);

// Judges its arguments as the call that issues such work does, says what is wrong with them, and returns the call's error;
// then makes an operation that can be issued again and again. `site` is the call's return address.
cudaError_t make_host(const HostWork& host, const void* site, Operation& made);

}  // namespace simt
