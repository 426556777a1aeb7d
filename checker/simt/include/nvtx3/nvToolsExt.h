// SPDX-License-Identifier: MIT
//
// Names of ranges for a profiler, which nothing reads here.
#pragma once
#pragma GCC system_header

#include <stdint.h>

#include <atomic>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE sizeof(nvtxEventAttributes_t)

namespace simt {
inline thread_local int nvtx_depth = 0;
inline std::atomic<unsigned long long> nvtx_ranges{0};
}  // namespace simt

using nvtxRangeId_t = unsigned long long;
using nvtxDomainHandle_t = struct nvtxDomainRegistration_st*;
using nvtxStringHandle_t = struct nvtxStringRegistration_st*;
using nvtxResourceHandle_t = struct nvtxResourceHandle*;

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
};
enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
};
union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
};
struct nvtxEventAttributes_t {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
};

inline void nvtxInitialize(const void*) {}

// Each gives the level of nesting, from 0 on, of the range that it begins or ends; -1 where there is none to end.
inline int nvtxRangePushA(const char*) {
    return simt::nvtx_depth++;
}
inline int nvtxRangePushW(const wchar_t*) {
    return simt::nvtx_depth++;
}
inline int nvtxRangePushEx(const nvtxEventAttributes_t*) {
    return simt::nvtx_depth++;
}
inline int nvtxRangePop() {
    return simt::nvtx_depth == 0 ? -1 : --simt::nvtx_depth;
}
inline void nvtxMarkA(const char*) {}
inline void nvtxMarkW(const wchar_t*) {}
inline void nvtxMarkEx(const nvtxEventAttributes_t*) {}
inline nvtxRangeId_t nvtxRangeStartA(const char*) {
    return ++simt::nvtx_ranges;
}
inline nvtxRangeId_t nvtxRangeStartW(const wchar_t*) {
    return ++simt::nvtx_ranges;
}
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t*) {
    return ++simt::nvtx_ranges;
}
inline void nvtxRangeEnd(nvtxRangeId_t) {}
inline void nvtxNameCategoryA(uint32_t, const char*) {}
inline void nvtxNameOsThreadA(uint32_t, const char*) {}

inline nvtxDomainHandle_t nvtxDomainCreateA(const char*) {
    return nullptr;
}
inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t*) {
    return nullptr;
}
inline void nvtxDomainDestroy(nvtxDomainHandle_t) {}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
    return simt::nvtx_depth++;
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t) {
    return nvtxRangePop();
}
inline void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {}
inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
    return ++simt::nvtx_ranges;
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t) {}
inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t, uint32_t, const char*) {}
inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char*) {
    return nullptr;
}

#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
