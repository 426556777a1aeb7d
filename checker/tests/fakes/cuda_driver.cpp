// SPDX-License-Identifier: MIT
//
// No op but a CUDA driver as far as checker/tools/gpu.cpp asks: one card, as the environment describes it. FAKE_CARD is
// "CAPABILITY DRIVER NAME", such as "90 13000 NVIDIA H200", or an error number that cuInit returns. With FAKE_PAGEABLE
// its kernels may read what the host's malloc gave. With cards in another order than PCI_BUS_ID's, its name is "the fastest".
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Fake {
    int capability = 0, driver = 0;
    char name[64] = "";
};

int read_fake(Fake& fake) {
    const char* text = std::getenv("FAKE_CARD");
    int status = 0;
    if (text != nullptr && std::sscanf(text, "%d %d %63[^\n]", &fake.capability, &fake.driver, fake.name) == 3) {
        return 0;
    }
    return text != nullptr && std::sscanf(text, "%d", &status) == 1 ? status : 999;
}

}  // namespace

extern "C" {
int cuInit(unsigned) {
    Fake fake;
    return read_fake(fake);
}
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDriverGetVersion(int* version) {
    Fake fake;
    const int status = read_fake(fake);
    *version = fake.driver;
    return status;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return 0;
}
int cuDeviceGetName(char* name, int size, int) {
    Fake fake;
    const int status = read_fake(fake);
    const char* order = std::getenv("CUDA_DEVICE_ORDER");
    const bool as_on_the_bus = order != nullptr && std::strcmp(order, "PCI_BUS_ID") == 0;
    std::snprintf(name, static_cast<std::size_t>(size), "%s", as_on_the_bus ? fake.name : "the fastest");
    return status;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    constexpr int kMajor = 75;
    constexpr int kMinor = 76;
    constexpr int kPageableMemoryAccess = 88;
    Fake fake;
    const int status = read_fake(fake);
    *value = attribute == kMajor                  ? fake.capability / 10
             : attribute == kMinor                ? fake.capability % 10
             : attribute == kPageableMemoryAccess ? std::getenv("FAKE_PAGEABLE") != nullptr
                                                  : 0;
    return status;
}
}
