// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/work.h"

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {

void Arguments::add(const void* argument, std::size_t bytes) {
    const auto* first = static_cast<const char*>(argument);
    bytes_.push_back(std::make_shared<std::vector<char>>(first, first + bytes));
    pointers_->back() = bytes_.back()->data();
    pointers_->push_back(nullptr);
}

cudaGraphNodeType type_of(const Work& work) {
    constexpr cudaGraphNodeType kTypes[] = {cudaGraphNodeTypeEmpty, cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
                                            cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost};
    static_assert(std::size(kTypes) == std::variant_size_v<Work>);
    return kTypes[work.index()];
}

bool is_of_kernels(cudaLaunchAttributeID attribute) {
    return attribute == cudaLaunchAttributeAccessPolicyWindow || attribute == cudaLaunchAttributeCooperative ||
           attribute == cudaLaunchAttributePriority;
}

bool is_cooperative(const KernelAttributes& attributes) {
    const auto attribute = attributes.find(cudaLaunchAttributeCooperative);
    return attribute != attributes.end() && attribute->second.cooperative != 0;
}

cudaError_t make_host(const HostWork& host, const void* site, Operation& made) {
    if (host.function == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    made = {.name = "a host function",
            .run = [host] { host.function(host.data); },
            .calls_the_host = true,
            .known_late = true,
            .site = site,
            .work = host};
    return result(cudaSuccess);
}

}  // namespace simt
