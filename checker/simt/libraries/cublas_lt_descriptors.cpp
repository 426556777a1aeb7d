// SPDX-License-Identifier: MIT
//
// The functions that make, change, read and destroy cuBLASLt's descriptors. What they return was recorded from the
// library, which does this without a GPU (LIBRARIES.md).
#include "checker/simt/libraries/cublas_lt_descriptors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "checker/simt/libraries/library_call.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/report/objects.h"

namespace simt {
namespace {

// Descriptors that the program has destroyed: their memory is kept for a while, so that one that is used afterwards is
// known by its address.
class Destroyed {
  public:
    static Destroyed& instance() {
        static auto& all = *new Destroyed;
        return all;
    }
    void add(std::unique_ptr<std::byte[]> descriptor, const void* site) {
        constexpr std::size_t kMostKept = 1024;
        kept_.push_back({std::move(descriptor), site});
        if (kept_.size() > kMostKept) {
            kept_.pop_front();
        }
    }
    // Where it was destroyed; null: it was not.
    const void* site_of(const void* descriptor) const {
        const auto found = std::ranges::find(kept_, descriptor, [](const Kept& kept) { return kept.memory.get(); });
        return found == kept_.end() ? nullptr : found->site;
    }

  private:
    struct Kept {
        std::unique_ptr<std::byte[]> memory;
        const void* site;
    };
    std::deque<Kept> kept_;
};

struct Attribute {
    int number;  // in the header's enumeration
    const char* name;
    std::size_t bytes;
    void* (*in)(void* descriptor);
};

template <class D, class T>
D descriptor_of(T D::*);

template <auto member>
constexpr Attribute attribute(int number, const char* name) {
    using Descriptor = decltype(descriptor_of(member));
    return {number, name, sizeof(std::declval<Descriptor&>().*member),
            [](void* descriptor) -> void* { return &(static_cast<Descriptor*>(descriptor)->*member); }};
}

#define SIMT_ATTRIBUTE(member, name) attribute<&member>(name, #name)

constexpr Attribute kOfLayout[] = {
    SIMT_ATTRIBUTE(MatrixLayout::type, CUBLASLT_MATRIX_LAYOUT_TYPE),
    SIMT_ATTRIBUTE(MatrixLayout::order, CUBLASLT_MATRIX_LAYOUT_ORDER),
    SIMT_ATTRIBUTE(MatrixLayout::rows, CUBLASLT_MATRIX_LAYOUT_ROWS),
    SIMT_ATTRIBUTE(MatrixLayout::columns, CUBLASLT_MATRIX_LAYOUT_COLS),
    SIMT_ATTRIBUTE(MatrixLayout::ld, CUBLASLT_MATRIX_LAYOUT_LD),
    SIMT_ATTRIBUTE(MatrixLayout::batch, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT),
    SIMT_ATTRIBUTE(MatrixLayout::stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET),
    SIMT_ATTRIBUTE(MatrixLayout::plane_offset, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET),
    SIMT_ATTRIBUTE(MatrixLayout::batch_mode, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE),
};

constexpr Attribute kOfDesc[] = {
    SIMT_ATTRIBUTE(MatmulDesc::compute, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
    SIMT_ATTRIBUTE(MatmulDesc::scale, CUBLASLT_MATMUL_DESC_SCALE_TYPE),
    SIMT_ATTRIBUTE(MatmulDesc::pointer_mode, CUBLASLT_MATMUL_DESC_POINTER_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::op_a, CUBLASLT_MATMUL_DESC_TRANSA),
    SIMT_ATTRIBUTE(MatmulDesc::op_b, CUBLASLT_MATMUL_DESC_TRANSB),
    SIMT_ATTRIBUTE(MatmulDesc::op_c, CUBLASLT_MATMUL_DESC_TRANSC),
    SIMT_ATTRIBUTE(MatmulDesc::fill, CUBLASLT_MATMUL_DESC_FILL_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE),
    SIMT_ATTRIBUTE(MatmulDesc::bias, CUBLASLT_MATMUL_DESC_BIAS_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::bias_stride, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE),
    SIMT_ATTRIBUTE(MatmulDesc::aux, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::aux_ld, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD),
    SIMT_ATTRIBUTE(MatmulDesc::aux_stride, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE),
    SIMT_ATTRIBUTE(MatmulDesc::alpha_stride, CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE),
    SIMT_ATTRIBUTE(MatmulDesc::multiprocessors, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET),
    SIMT_ATTRIBUTE(MatmulDesc::a_scale, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::b_scale, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::c_scale, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::d_scale, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::d_amax, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::aux_type, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE),
    SIMT_ATTRIBUTE(MatmulDesc::aux_scale, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::aux_amax, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::fast_accumulation, CUBLASLT_MATMUL_DESC_FAST_ACCUM),
    SIMT_ATTRIBUTE(MatmulDesc::bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE),
    SIMT_ATTRIBUTE(MatmulDesc::a_scale_mode, CUBLASLT_MATMUL_DESC_A_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::b_scale_mode, CUBLASLT_MATMUL_DESC_B_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::c_scale_mode, CUBLASLT_MATMUL_DESC_C_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::d_scale_mode, CUBLASLT_MATMUL_DESC_D_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::aux_scale_mode, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::d_out_scale, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER),
    SIMT_ATTRIBUTE(MatmulDesc::d_out_scale_mode, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE),
    SIMT_ATTRIBUTE(MatmulDesc::emulation, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR),
};

constexpr Attribute kOfPreference[] = {
    SIMT_ATTRIBUTE(MatmulPreference::search, CUBLASLT_MATMUL_PREF_SEARCH_MODE),
    SIMT_ATTRIBUTE(MatmulPreference::workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES),
    SIMT_ATTRIBUTE(MatmulPreference::reductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK),
    SIMT_ATTRIBUTE(MatmulPreference::align_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES),
    SIMT_ATTRIBUTE(MatmulPreference::align_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES),
    SIMT_ATTRIBUTE(MatmulPreference::align_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES),
    SIMT_ATTRIBUTE(MatmulPreference::align_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES),
    SIMT_ATTRIBUTE(MatmulPreference::waves, CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT),
    SIMT_ATTRIBUTE(MatmulPreference::implementations, CUBLASLT_MATMUL_PREF_IMPL_MASK),
};

#undef SIMT_ATTRIBUTE

// One call of a function that sets or gets an attribute.
struct AttributeCall {
    const char* name;
    void* descriptor;
    int number;
    std::size_t bytes;
    const void* site;

    cublasStatus_t refuses(const std::string& why) const {
        tell_refusal(name, why + " (recorded)");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
};

// The attribute, if the descriptor may be used and has it; otherwise null, and why is said.
template <std::size_t count>
const Attribute* find(const AttributeCall& call, const Attribute (&attributes)[count]) {
    if (call.descriptor == nullptr) {
        call.refuses("the descriptor is null");
        return nullptr;
    }
    if (is_destroyed(call.descriptor, call.site)) {
        return nullptr;
    }
    const Attribute* const found = std::ranges::find(attributes, call.number, &Attribute::number);
    if (found == std::end(attributes)) {
        call.refuses(fmt::format("there is no attribute {}", call.number));
        return nullptr;
    }
    return found;
}

template <std::size_t count>
cublasStatus_t set(const AttributeCall& call, const Attribute (&attributes)[count], const void* value) {
    const Attribute* const attribute = find(call, attributes);
    if (attribute == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (value == nullptr) {
        return call.refuses("the value's address is null");
    }
    if (call.bytes != attribute->bytes) {
        return call.refuses(
            fmt::format("{} has {} bytes, and the value {}", attribute->name, attribute->bytes, call.bytes));
    }
    std::memcpy(attribute->in(call.descriptor), value, call.bytes);
    return CUBLAS_STATUS_SUCCESS;
}

template <std::size_t count>
cublasStatus_t get(const AttributeCall& call, const Attribute (&attributes)[count], void* value, std::size_t* written) {
    const Attribute* const attribute = find(call, attributes);
    if (attribute == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const bool asks_for_size = call.bytes == 0;
    if (asks_for_size && written == nullptr) {
        return call.refuses("it asks for the attribute's size, and the address for it is null");
    }
    if (!asks_for_size && value == nullptr) {
        return call.refuses("the address for the value is null");
    }
    if (!asks_for_size && call.bytes != attribute->bytes) {
        return call.refuses(
            fmt::format("{} has {} bytes, and there is room for {}", attribute->name, attribute->bytes, call.bytes));
    }
    if (!asks_for_size) {
        std::memcpy(value, attribute->in(call.descriptor), call.bytes);
    }
    if (written != nullptr) {
        *written = attribute->bytes;
    }
    return CUBLAS_STATUS_SUCCESS;
}

template <class Descriptor, class Opaque>
cublasStatus_t create(const char* name, Opaque** descriptor, const Descriptor& content, const char* kind,
                      const void* site) {
    if (descriptor == nullptr) {
        tell_refusal(name, "the address for the descriptor is null (recorded)");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto* const memory = new std::byte[sizeof(Opaque)]();
    std::memcpy(memory, &content, sizeof content);
    *descriptor = reinterpret_cast<Opaque*>(memory);
    note_object(memory, kind, site);
    return CUBLAS_STATUS_SUCCESS;
}

template <class Descriptor, class Opaque>
cublasStatus_t init(const char* name, Opaque* descriptor, std::size_t size, const Descriptor& content) {
    if (size < sizeof content) {
        tell_refusal(name, fmt::format("the descriptor's place has {} bytes (recorded)", size));
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    std::memset(descriptor, 0, sizeof(Opaque));
    std::memcpy(descriptor, &content, sizeof content);
    return CUBLAS_STATUS_SUCCESS;
}

// The library takes null.
template <class Opaque>
cublasStatus_t destroy(Opaque* descriptor, const void* site) {
    if (descriptor == nullptr) {
        return CUBLAS_STATUS_SUCCESS;
    }
    const ApiLock turn;
    if (!is_object(descriptor)) {
        const void* const before = Destroyed::instance().site_of(descriptor);
        report(before != nullptr ? Kind::double_free : Kind::invalid_free, "", site, [&] {
            return before != nullptr ? "destroys a descriptor again that was destroyed at " + text_of(source_of(before))
                                     : std::string("destroys a descriptor that no function of cuBLASLt has made");
        });
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    forget_object(descriptor);
    Destroyed::instance().add(std::unique_ptr<std::byte[]>(reinterpret_cast<std::byte*>(descriptor)), site);
    return CUBLAS_STATUS_SUCCESS;
}

template <class Descriptor>
Descriptor copy_of(const void* opaque) {
    Descriptor content;
    std::memcpy(&content, opaque, sizeof content);
    return content;
}

MatrixLayout layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
    return {.type = static_cast<std::uint32_t>(type), .rows = rows, .columns = columns, .ld = ld};
}

}  // namespace

bool is_destroyed(const void* descriptor, const void* site) {
    const ApiLock turn;
    const void* const destroyed_at = Destroyed::instance().site_of(descriptor);
    if (destroyed_at != nullptr) {
        report(Kind::use_after_free, "", site,
               [&] { return "uses a descriptor that was destroyed at " + text_of(source_of(destroyed_at)); });
    }
    return destroyed_at != nullptr;
}

MatrixLayout content_of(cublasLtMatrixLayout_t layout) {
    return copy_of<MatrixLayout>(layout);
}
MatmulDesc content_of(cublasLtMatmulDesc_t desc) {
    return copy_of<MatmulDesc>(desc);
}
MatmulPreference content_of(cublasLtMatmulPreference_t preference) {
    return copy_of<MatmulPreference>(preference);
}

}  // namespace simt

extern "C" {

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
    return simt::create("cublasLtMatrixLayoutCreate", layout, simt::layout(type, rows, cols, ld),
                        "a cublasLtMatrixLayout_t", __builtin_return_address(0));
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld) {
    return simt::init("cublasLtMatrixLayoutInit", layout, size, simt::layout(type, rows, cols, ld));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return simt::destroy(layout, __builtin_return_address(0));
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
    return simt::set({__func__, layout, attribute, bytes, __builtin_return_address(0)}, simt::kOfLayout, value);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value, size_t bytes,
                                                size_t* written) {
    return simt::get({__func__, layout, attribute, bytes, __builtin_return_address(0)}, simt::kOfLayout, value,
                     written);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
    return simt::create("cublasLtMatmulDescCreate", desc, simt::MatmulDesc{.compute = compute, .scale = scale},
                        "a cublasLtMatmulDesc_t", __builtin_return_address(0));
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
    return simt::init("cublasLtMatmulDescInit", desc, size, simt::MatmulDesc{.compute = compute, .scale = scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    return simt::destroy(desc, __builtin_return_address(0));
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
    return simt::set({__func__, desc, attribute, bytes, __builtin_return_address(0)}, simt::kOfDesc, value);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes, size_t* written) {
    return simt::get({__func__, desc, attribute, bytes, __builtin_return_address(0)}, simt::kOfDesc, value, written);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    return simt::create("cublasLtMatmulPreferenceCreate", preference, simt::MatmulPreference{},
                        "a cublasLtMatmulPreference_t", __builtin_return_address(0));
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size) {
    return simt::init("cublasLtMatmulPreferenceInit", preference, size, simt::MatmulPreference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return simt::destroy(preference, __builtin_return_address(0));
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
    return simt::set({__func__, preference, attribute, bytes, __builtin_return_address(0)}, simt::kOfPreference, value);
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, void* value,
                                                    size_t bytes, size_t* written) {
    return simt::get({__func__, preference, attribute, bytes, __builtin_return_address(0)}, simt::kOfPreference, value,
                     written);
}

}  // extern "C"
