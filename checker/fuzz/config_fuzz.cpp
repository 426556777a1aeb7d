// SPDX-License-Identifier: MIT
//
// Any text is either refused with a FileError or gives a config whose sizes a model can be made of.
#include <cstdlib>
#include <string_view>

#include "checker/base/file_error.h"
#include "checker/fuzz/targets.h"
#include "lessons/gpt2/loading.h"

void fuzz_config(std::span<const std::byte> input) {
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    try {
        const Config config = parse_config(text, "input");
        const bool sane = config.max_T > 0 && config.V > 0 && config.L > 0 && config.NH > 0 && config.C > 0 &&
                          config.C % config.NH == 0 && config.Vp >= config.V && config.Vp % 128 == 0;
        if (!sane) {
            std::abort();
        }
    } catch (const checker::FileError&) {}
}
