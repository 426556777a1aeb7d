// SPDX-License-Identifier: MIT
#pragma once

// The shape of one GPT-2, named as the course names it. Beside each: the key in Hugging Face's config.json.
struct Config {
    int max_T = 0;  // longest sequence: n_positions
    int V = 0;      // tokens in the vocabulary: vocab_size
    int Vp = 0;     // V rounded up to a multiple of 128: rows of wte and row stride of the logits
    int L = 0;      // layers: n_layer
    int NH = 0;     // attention heads: n_head
    int C = 0;      // channels: n_embd

    bool operator==(const Config&) const = default;
};

inline int padded_vocabulary(int V) {
    return (V + 127) / 128 * 128;
}
