// SPDX-License-Identifier: MIT
//
// The assembler copies the two files into the read-only data of the program.
#include "lessons/gpt2/embedded.h"

#include <cstddef>
#include <span>
#include <string_view>

#include "lessons/gpt2/loading.h"

asm(R"(
    .pushsection .rodata
    .balign 64
gpt2_embedded_config:
    .incbin "reference/model/small/config.json"
gpt2_embedded_config_end:
    .balign 64
gpt2_embedded_weights:
    .incbin "reference/model/small/model.safetensors"
gpt2_embedded_weights_end:
    .popsection
)");

extern "C" {
extern const char gpt2_embedded_config[], gpt2_embedded_config_end[];
extern const std::byte gpt2_embedded_weights[], gpt2_embedded_weights_end[];
}

Parameters load_embedded_model() {
    const std::string_view config(gpt2_embedded_config, gpt2_embedded_config_end);
    const std::span weights(gpt2_embedded_weights, gpt2_embedded_weights_end);
    const checker::SafeTensors file = checker::SafeTensors::from_memory(weights, "the embedded model");
    return load_parameters(parse_config(config, "the embedded config.json"), std::span(&file, 1));
}
