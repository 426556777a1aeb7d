// SPDX-License-Identifier: MIT
#include "lessons/gpt2/loading.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "lessons/gpt2/tests/support.h"

namespace fs = std::filesystem;
using checker::DType;
using checker::FileError;

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// What loading this model complains about; "" where it loads.
std::string refusal(const TinyModel& model) {
    const TemporaryFolder folder;
    model.save(folder.path());
    const std::string message = message_of([&] { load_parameters(folder.path()); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    return message;
}

std::string config_refusal(const std::string& json) {
    const std::string message = message_of([&] { parse_config(json, "config.json"); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    EXPECT_TRUE(message.empty() || message.starts_with("config.json: ")) << message;
    return message;
}

// A good config.json with one more setting; of two equal keys the last counts.
std::string config_with(std::string_view setting) {
    return fmt::format(R"({{"vocab_size": 256, "n_positions": 16, "n_embd": 8, "n_layer": 2, "n_head": 2, {}}})",
                       setting);
}

// Every element lies where the course's layout wants it: wte padded with zeros, Conv1D weights transposed.
void expect_loaded(Parameters& params, const TinyModel& model) {
    EXPECT_EQ(params.config, model.config);
    params.visit([&](const std::string& name, float*& view, const Shape& shape) {
        const long rows = shape.rank == 2 ? shape.dims[0] : 1;
        const long columns = shape.elements() / rows;
        const bool transposed = name.find(".c_") != std::string::npos && shape.rank == 2;
        for (long r = 0; r < rows; r++) {
            for (long c = 0; c < columns; c++) {
                const long index = transposed ? c * rows + r : r * columns + c;
                const bool padding = name == "wte.weight" && r >= model.config.V;
                ASSERT_EQ(view[r * columns + c], padding ? 0.0f : TinyModel::value(name, index))
                    << name << "[" << r << ", " << c << "]";
            }
        }
    });
}

class Storage : public testing::TestWithParam<DType> {};

}  // namespace

TEST_P(Storage, LoadsWithThePrefix) {
    TinyModel model;
    for (StoredTensor& tensor : model.tensors) { tensor.dtype = GetParam(); }
    const TemporaryFolder folder;
    model.save(folder.path(), "transformer.");
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);
}

TEST_P(Storage, LoadsWithoutThePrefix) {
    TinyModel model;
    for (StoredTensor& tensor : model.tensors) { tensor.dtype = GetParam(); }
    const TemporaryFolder folder;
    model.save(folder.path(), "");
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);
}

INSTANTIATE_TEST_SUITE_P(Loading, Storage, testing::Values(DType::f32, DType::f16, DType::bf16),
                         [](const auto& storage) { return std::string(checker::to_string(storage.param)); });

TEST(Loading, TransposesMatricesWhoseRowsAreNoMultipleOfABlock) {
    const TinyModel model(Config{.max_T = 3, .V = 37, .Vp = 128, .L = 1, .NH = 3, .C = 21});
    const TemporaryFolder folder;
    model.save(folder.path());
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);
}

TEST(Loading, ReadsAFileWhoseDataStartAtAnOddByte) {
    const TinyModel model;
    const TemporaryFolder folder;
    model.save(folder.path());
    std::string bytes = read_text(folder / "model.safetensors");
    bytes[0]++;  // the header is one blank longer, as in the published files
    bytes.insert(static_cast<std::size_t>(8 + static_cast<unsigned char>(bytes[0]) - 1 +
                                          256 * static_cast<unsigned char>(bytes[1])),
                 " ");
    write_text(folder / "model.safetensors", bytes);
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);
}

TEST(Loading, PassesOverTheMasksOfPublishedFiles) {
    TinyModel model;
    model.tensors.push_back({"h.0.attn.bias", DType::f32, {1, 1, 2, 2}, {1, 0, 1, 1}});
    model.tensors.push_back({"h.1.attn.masked_bias", DType::f32, {}, {-1e4f}});
    EXPECT_EQ(refusal(model), "");
}

TEST(Loading, RefusesAMaskOfALayerThatIsNotThere) {
    TinyModel model;
    model.tensors.push_back({"h.2.attn.bias", DType::f32, {1}, {1}});
    EXPECT_TRUE(contains(refusal(model), "has 1 tensor that a GPT-2 of this config.json has not"));
}

TEST(Loading, AcceptsATiedHead) {
    TinyModel model;
    StoredTensor head = model.at("wte.weight");
    head.name = "lm_head.weight";
    model.tensors.push_back(head);
    EXPECT_EQ(refusal(model), "");
}

TEST(Loading, TakesATiedPairFromTheHeadAlone) {
    TinyModel model;
    for (float& x : model.at("wte.weight").values) { x += 1.0f; }
    model.at("wte.weight").name = "lm_head.weight";
    const TemporaryFolder folder;
    model.save(folder.path());
    Parameters params = load_parameters(folder.path());
    EXPECT_EQ(params.wte[3], TinyModel::value("wte.weight", 3) + 1.0f);

    model.at("lm_head.weight").shape = {4, 11};
    EXPECT_TRUE(contains(refusal(model), "tensor \"lm_head.weight\" has the shape (4, 11)")) << refusal(model);
}

TEST(Loading, RefusesAHeadThatIsNotTied) {
    TinyModel model;
    StoredTensor head = model.at("wte.weight");
    head.name = "lm_head.weight";
    head.values[3] += 1.0f;
    model.tensors.push_back(head);
    EXPECT_TRUE(contains(refusal(model), "lm_head.weight differs from wte.weight"));
}

TEST(Loading, ComparesTheValuesOfAHead) {
    for (const DType stored : {DType::f32, DType::f16, DType::bf16}) {
        for (const DType copied : {DType::f32, DType::f16, DType::bf16}) {
            TinyModel model;  // its values are the same in each type
            model.at("wte.weight").dtype = stored;
            StoredTensor head = model.at("wte.weight");
            head.name = "lm_head.weight";
            head.dtype = copied;
            model.tensors.push_back(head);
            EXPECT_EQ(refusal(model), "");
            model.tensors.back().values.back() += 0.125f;
            EXPECT_TRUE(contains(refusal(model), "lm_head.weight differs from wte.weight"));
        }
    }
}

TEST(Loading, TakesAnUntiedHeadThatIsEqual) {
    TinyModel model;
    const TemporaryFolder folder;
    const auto refusal_of_untied = [&] {
        model.save(folder.path());
        std::string config = model.config_json();
        config.insert(1, "\"tie_word_embeddings\": false, ");
        write_text(folder / "config.json", config);
        return message_of([&] { load_parameters(folder.path()); });
    };
    EXPECT_TRUE(contains(refusal_of_untied(), "tie_word_embeddings is false, but ")) << refusal_of_untied();
    StoredTensor head = model.at("wte.weight");
    head.name = "lm_head.weight";
    model.tensors.push_back(head);
    EXPECT_EQ(refusal_of_untied(), "");
    model.tensors.back().values[3] += 1.0f;
    EXPECT_TRUE(contains(refusal_of_untied(), "lm_head.weight differs from wte.weight"));
    model.tensors.pop_back();
    model.at("wte.weight").name = "lm_head.weight";  // wte itself is lost
    EXPECT_TRUE(contains(refusal_of_untied(), "lacks wte.weight; make it true if the two are tied"))
        << refusal_of_untied();
}

TEST(Loading, NamesMissingTensors) {
    TinyModel model;
    model.remove("h.1.mlp.c_fc.bias");
    model.remove("ln_f.weight");
    EXPECT_TRUE(contains(refusal(model), "lacks 2 tensors that config.json asks for: h.1.mlp.c_fc.bias, ln_f.weight"))
        << refusal(model);
}

TEST(Loading, CountsMissingTensorsInsteadOfListingThemAll) {
    TinyModel model;
    model.config.L = 3;
    EXPECT_TRUE(contains(refusal(model),
                         "lacks 12 tensors that config.json asks for: h.2.ln_1.weight, h.2.ln_1.bias, "
                         "h.2.attn.c_attn.weight and 9 more"))
        << refusal(model);
}

TEST(Loading, PassesOverWhatTheLogitsDoNotNeed) {
    TinyModel model;
    const TemporaryFolder folder;
    std::string said;
    for (const char* name : {"v_head.summary.weight", "score.weight", "classifier.bias", "qa_outputs.weight",
                             "multiple_choice_head.summary.bias", "position_ids", "h.0.attn.rotary.inv_freq"}) {
        model.tensors.push_back({name, DType::f32, {1}, {1}});
        model.save(folder.path(), "");
        said.clear();
        Parameters params = load_parameters(folder.path(), {}, [&](const std::string& line) { said += line; });
        expect_loaded(params, model);
    }
    EXPECT_TRUE(contains(said, "passed over 7 tensors that the logits do not need: \"classifier.bias\", ")) << said;
    EXPECT_EQ(refusal(model), "");  // with the prefix too
}

TEST(Loading, NamesExtraTensors) {
    TinyModel model;
    model.tensors.push_back({"h.0.ln_3.weight", DType::f32, {1}, {1}});
    EXPECT_TRUE(contains(refusal(model), "of this config.json has not: \"transformer.h.0.ln_3.weight\""))
        << refusal(model);
    EXPECT_TRUE(contains(refusal(model), "if they are not needed, GPT2LMHeadModel's from_pretrained"))
        << refusal(model);
}

TEST(Loading, RefusesATensorUnderBothNames) {
    TinyModel model;
    const TemporaryFolder folder;
    StoredTensor twice = model.at("ln_f.bias");
    twice.name = "transformer.ln_f.bias";
    model.tensors.push_back(twice);
    model.save(folder.path(), "");
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "a second time"));
}

TEST(Loading, RefusesShapesThatContradictTheConfig) {
    TinyModel model;
    model.config.V = 12;
    EXPECT_TRUE(contains(refusal(model),
                         "tensor \"transformer.wte.weight\" has the shape (11, 4), but config.json makes it (12, 4)"))
        << refusal(model);
}

TEST(Loading, RefusesProjectionsThatAreAlreadyTransposed) {
    TinyModel model;
    StoredTensor& weight = model.at("h.0.attn.c_attn.weight");
    std::swap(weight.shape[0], weight.shape[1]);
    EXPECT_TRUE(contains(refusal(model), "has the shape (12, 4), but config.json makes it (4, 12)")) << refusal(model);
}

TEST(Loading, RefusesOtherStorageTypes) {
    TinyModel model;
    model.at("ln_f.bias").dtype = DType::f64;
    EXPECT_TRUE(contains(refusal(model), "tensor \"transformer.ln_f.bias\" is F64; weights must be F32, F16 or BF16"));
}

TEST(Loading, NamesAWeightThatIsNotFinite) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
            TinyModel model;
            StoredTensor& weight = model.at("h.1.attn.c_attn.weight");  // (4, 12)
            weight.dtype = dtype;
            weight.values[29] = bad;
            EXPECT_TRUE(contains(refusal(model), "h.1.attn.c_attn.weight[2, 5] is ")) << refusal(model);
        }
    }
}

TEST(Loading, ReportsItsProgressUpToTheEnd) {
    const TemporaryFolder folder;
    TinyModel().save(folder.path());
    std::size_t last = 0, total_bytes = 0;
    load_parameters(folder.path(), [&](std::size_t done, std::size_t total) {
        EXPECT_GE(done, last);
        last = done;
        total_bytes = total;
    });
    EXPECT_GT(total_bytes, 0u);
    EXPECT_EQ(last, total_bytes);
}

TEST(Loading, ReadsAModelInSeveralFiles) {
    TinyModel model;
    const TemporaryFolder folder;
    model.save(folder.path(), "");
    fs::remove(folder / "model.safetensors");
    const std::span all(model.tensors);
    write_text(folder / "model-1.safetensors", safetensors_bytes(all.first(5)));
    write_text(folder / "model-2.safetensors", safetensors_bytes(all.subspan(5)));
    std::string map;
    for (std::size_t i = 0; i < all.size(); i++) {
        map += fmt::format(R"({}"{}": "model-{}.safetensors")", i ? ", " : "", all[i].name, i < 5 ? 1 : 2);
    }
    write_text(folder / "model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);
}

TEST(Loading, ReadsShardsInSubfoldersAndATensorInTwoThatAgree) {
    TinyModel model;
    const TemporaryFolder folder;
    model.save(folder.path(), "");
    fs::remove(folder / "model.safetensors");
    fs::create_directory(folder / "part");
    const std::span all(model.tensors);
    write_text(folder / "1.safetensors", safetensors_bytes(all.first(5)));
    write_text(folder / "part/2.safetensors", safetensors_bytes(all.subspan(4)));
    write_text(folder / "model.safetensors.index.json",
               R"({"weight_map": {"wte.weight": "./1.safetensors", "ln_f.bias": "part/2.safetensors"}})");
    Parameters params = load_parameters(folder.path());
    expect_loaded(params, model);

    model.tensors[4].values[0] += 1.0f;
    write_text(folder / "part/2.safetensors", safetensors_bytes(std::span(model.tensors).subspan(4)));
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "a second time"));
}

TEST(Loading, RefusesAFileThatChangesWhileItIsRead) {
    const TinyModel model;
    const TemporaryFolder folder;
    model.save(folder.path());
    const fs::path path = folder / "model.safetensors";
    const std::string bytes = read_text(path);
    const auto refusal_after = [&](const std::function<void()>& change) {
        write_text(path, bytes);
        std::vector<checker::SafeTensors> files;
        files.push_back(checker::SafeTensors::open(path));
        change();
        return message_of([&] { load_parameters(model.config, files); });
    };
    EXPECT_EQ(refusal_after([] {}), "");
    for (const std::size_t size : {std::size_t{0}, std::size_t{4096}, bytes.size() - 4}) {
        EXPECT_EQ(refusal_after([&] { fs::resize_file(path, size); }),
                  path.string() + ": became shorter while it was read; run again when it is complete");
    }
    const fs::file_time_type later = fs::file_time_type::clock::now() + std::chrono::seconds(1);
    EXPECT_EQ(refusal_after([&] { fs::last_write_time(path, later); }),
              path.string() + ": was written to while it was read; run again when it is complete");
    EXPECT_EQ(refusal_after([&] {  // saved under another name, then renamed: what is open stays whole
                  write_text(folder / "new", "");
                  fs::rename(folder / "new", path);
              }),
              "");
}

TEST(Loading, RefusesAnIndexThatLeavesItsFolder) {
    const TemporaryFolder folder;
    TinyModel().save(folder.path());
    fs::remove(folder / "model.safetensors");
    write_text(folder / "model.safetensors.index.json", R"({"weight_map": {"wte.weight": "../x.safetensors"}})");
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "names no file in this folder"));
    for (const char* file : {"part/../../x.safetensors", "/x.safetensors", "", "part/", ".."}) {
        write_text(folder / "model.safetensors.index.json",
                   fmt::format(R"({{"weight_map": {{"wte.weight": "{}"}}}})", file));
        EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "names no file in this folder"))
            << file;
    }
    write_text(folder / "model.safetensors.index.json", R"({"weight_map": {}})");
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "lacks weight_map"));
}

TEST(Loading, TellsHowToMendAFolderWithOtherWeights) {
    const TemporaryFolder folder;
    TinyModel().save(folder.path());
    fs::path now = folder / "model.safetensors";
    for (const auto& [name, part] : std::map<std::string, std::string>{
             {"pytorch_model.bin", "load it with transformers and call save_pretrained"},
             {"pytorch_model.bin.index.json", "load it with transformers and call save_pretrained"},
             {"tf_model.h5", "transformers 4 (from_tf=True) and call save_pretrained"},
             {"flax_model.msgpack", "transformers 4 (from_flax=True) and call save_pretrained"},
             {"adapter_model.safetensors", "peft's merge_and_unload"},
             {"model.fp16.safetensors", "but no model.safetensors; if it is the model, give it that name"},
             {"model-00001-of-00002.safetensors", "but no model.safetensors.index.json; download that too"},
             {"gpt2.Q8_0.gguf", "as transformers saves it"},
             {"ckpt.pt", "as transformers saves it"},
         }) {
        fs::rename(now, folder / name);
        now = folder / name;
        const std::string message = message_of([&] { load_parameters(folder.path()); });
        EXPECT_TRUE(contains(message, name)) << message;
        EXPECT_TRUE(contains(message, part)) << message;
    }
}

TEST(Loading, SaysThatAnAdapterBesideTheModelIsPassedOver) {
    const TemporaryFolder folder;
    TinyModel().save(folder.path());
    write_text(folder / "adapter_config.json", "{}");
    std::string said;
    load_parameters(folder.path(), {}, [&](const std::string& line) { said += line; });
    EXPECT_TRUE(contains(said, "has an adapter too, which is passed over")) << said;
}

TEST(Loading, NamesTheFolderThatHoldsTheModel) {
    const TemporaryFolder folder;
    const std::string path = folder.path().string();
    const auto refusal_of = [](const fs::path& dir) { return message_of([&] { load_parameters(dir); }); };
    TinyModel().save(folder / "snapshots" / "607a");  // Hugging Face's cache
    EXPECT_EQ(refusal_of(path),
              fmt::format("{0}: has no config.json; name the folder in it that has one: {0}/snapshots/607a", path));
    EXPECT_EQ(
        refusal_of(folder / "snapshots"),
        fmt::format("{0}: has no config.json; name the folder in it that has one: {0}/607a", path + "/snapshots"));
    fs::remove(folder / "snapshots/607a/config.json");
    EXPECT_TRUE(contains(refusal_of(path), "config.json: cannot be read"));
    for (const char* checkpoint : {"checkpoint-1", "checkpoint-2"}) { TinyModel().save(folder / checkpoint); }
    EXPECT_TRUE(contains(refusal_of(path), fmt::format("that has one: {0}/checkpoint-1, {0}/checkpoint-2", path)));
}

TEST(Loading, NamesALinkThatLeadsNowhere) {
    for (const char* name : {"model.safetensors", "config.json"}) {
        const TemporaryFolder folder;
        TinyModel().save(folder.path());
        fs::remove(folder / name);
        fs::create_symlink("../../blobs/a94a", folder / name);
        EXPECT_EQ(
            message_of([&] { load_parameters(folder.path()); }),
            (folder / name).string() + ": is a link to ../../blobs/a94a, which is not there; download the model again");
    }
}

TEST(Loading, KnowsPointersOfGitLfs) {
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n";
    const TemporaryFolder folder;
    for (const char* name : {"model.safetensors", "config.json"}) {
        TinyModel().save(folder.path());
        write_text(folder / name, pointer);
        EXPECT_EQ(
            message_of([&] { load_parameters(folder.path()); }),
            (folder / name).string() + ": is a Git LFS pointer, not the file itself; run 'git lfs pull' in its folder");
    }
}

TEST(Loading, NamesThePrefixOfEveryName) {
    for (const std::string prefix : {"_orig_mod.", "module.", "model.", "base_model.model.", "transformer.module."}) {
        for (const char* own : {"transformer.", ""}) {
            TinyModel model;
            const TemporaryFolder folder;
            model.save(folder.path(), prefix + own);
            const std::string message = message_of([&] { load_parameters(folder.path()); });
            EXPECT_TRUE(contains(message, fmt::format("the prefix \"{}\" before GPT-2's", prefix))) << message;
            EXPECT_TRUE(contains(message, fmt::format("name.removeprefix(\"{}\")", prefix))) << message;
        }
    }
}

TEST(Loading, RefusesFoldersThatAreNone) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder / "none"); }), "no such folder"));
    EXPECT_TRUE(contains(message_of([&] { load_parameters("gpt2-medium"); }), "downloads nothing: 'hf download"));
    write_text(folder / "file", "x");
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder / "file"); }), "is not a folder"));
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "config.json: cannot be read"));
    write_text(folder / "config.json", TinyModel().config_json());
    EXPECT_TRUE(contains(message_of([&] { load_parameters(folder.path()); }), "model.safetensors: cannot be read"));
}

TEST(Loading, RefusesAConfigFarBeyondItsWeightsBeforeTakingMemory) {
    TinyModel model;
    model.config.C = 1 << 20;
    EXPECT_TRUE(contains(refusal(model), "do not belong together")) << refusal(model);
}

TEST(Config, ReadsWhatHuggingFaceWrites) {
    const Config expected{.max_T = 1024, .V = 50257, .Vp = 50304, .L = 12, .NH = 12, .C = 768};
    EXPECT_EQ(parse_config(R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
        "attn_pdrop": 0.1, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768,
        "n_head": 12, "n_inner": null, "n_layer": 12, "n_positions": 1024, "scale_attn_weights": true,
        "scale_attn_by_inverse_layer_idx": false, "tie_word_embeddings": true, "vocab_size": 50257})",
                           "config.json"),
              expected);
}

TEST(Config, TakesEveryNameOfTheGeluByTanh) {
    for (const char* name : {"gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate"}) {
        EXPECT_EQ(config_refusal(config_with(fmt::format("\"activation_function\": \"{}\"", name))), "");
    }
    for (const char* name : {"gelu", "gelu_python", "gelu_10", "quick_gelu"}) {
        EXPECT_NE(config_refusal(config_with(fmt::format("\"activation_function\": \"{}\"", name))), "") << name;
    }
}

TEST(Config, RefusesWhatIsNotAnObject) {
    EXPECT_TRUE(contains(config_refusal(""), "is not JSON"));
    EXPECT_TRUE(contains(config_refusal("{\"n_embd\": "), "is not JSON"));
    EXPECT_TRUE(contains(config_refusal("[1]"), "not an object"));
}

TEST(Config, NamesAMissingSize) {
    EXPECT_TRUE(contains(config_refusal(R"({"n_positions": 16, "vocab_size": 256, "n_layer": 2, "n_head": 2})"),
                         "lacks n_embd"));
    EXPECT_TRUE(contains(config_refusal(R"({"vocab_size": 256, "n_embd": 8, "n_layer": 2, "n_head": 2})"),
                         "lacks n_positions"));
}

TEST(Config, RefusesSizesThatAreNoSizes) {
    for (const std::string value : {"0", "-1", "1.5", "1e3", "\"8\"", "true", "[8]", "2147483647", "268435456",
                                    "18446744073709551615", "-9223372036854775808", "99999999999999999999999"}) {
        for (const std::string key : {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head"}) {
            EXPECT_TRUE(contains(config_refusal(config_with(fmt::format("\"{}\": {}", key, value))), key))
                << key << " " << value;
        }
    }
}

TEST(Config, RefusesSettingsOfAnyDepth) {
    const std::string deep = std::string(200'000, '[') + "1" + std::string(200'000, ']');
    for (const std::string key : {"n_embd", "n_inner", "activation_function", "layer_norm_epsilon", "model_type",
                                  "tie_word_embeddings", "scale_attn_weights"}) {
        EXPECT_TRUE(contains(config_refusal(config_with(fmt::format("\"{}\": {}", key, deep))), key + " is a list"));
    }
    EXPECT_EQ(config_refusal(config_with("\"unused\": " + deep)), "");
}

TEST(Config, RefusesChannelsThatTheHeadsDoNotShareEvenly) {
    EXPECT_EQ(config_refusal(config_with("\"n_head\": 3")),
              "config.json: n_embd is 8, but must be a multiple of "
              "n_head, 3");
}

TEST(Config, RefusesEverySettingThatThisProgramDoesNotImplement) {
    EXPECT_EQ(config_refusal(config_with("\"n_inner\": 32")), "");
    EXPECT_EQ(config_refusal(config_with("\"layer_norm_epsilon\": 0.00001")), "");
    for (const std::string setting :
         {"\"n_inner\": 16", "\"activation_function\": \"gelu\"", "\"activation_function\": \"relu\"",
          "\"layer_norm_epsilon\": 1e-6", "\"layer_norm_epsilon\": 0", "\"layer_norm_epsilon\": \"1e-5\"",
          "\"scale_attn_weights\": false", "\"scale_attn_by_inverse_layer_idx\": true", "\"add_cross_attention\": true",
          "\"tie_word_embeddings\": 0", "\"model_type\": \"llama\"", "\"n_layer\": 5000"}) {
        const std::string key = setting.substr(1, setting.find('"', 1) - 1);
        EXPECT_TRUE(contains(config_refusal(config_with(setting)), key)) << setting;
    }
}

TEST(Config, TakesTheEpsilonOfFloat32) {
    EXPECT_EQ(config_refusal(config_with("\"layer_norm_epsilon\": 9.999999747378752e-06")), "");
    EXPECT_NE(config_refusal(config_with("\"layer_norm_epsilon\": 1.001e-05")), "");
}

// Python's json writes them.
TEST(Config, ReadsNumbersThatAreNotFinite) {
    EXPECT_EQ(config_refusal(config_with(R"("a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN")")), "");
    EXPECT_TRUE(contains(config_refusal(config_with("\"layer_norm_epsilon\": NaN")), "layer_norm_epsilon is \"NaN\""));
    EXPECT_TRUE(contains(config_refusal(config_with("\"a\": NaN, ")), "is not JSON"));
}

TEST(Config, TakesTheContextOfOldFilesFromNCtx) {
    const Config config =
        parse_config(R"({"n_ctx": 32, "vocab_size": 300, "n_embd": 8, "n_layer": 1, "n_head": 1})", "config.json");
    EXPECT_EQ(config.max_T, 32);
    EXPECT_EQ(config.Vp, 384);
}

TEST(Config, PassesOverNCtxBesideNPositions) {
    for (const char* rest : {"8", "1024", "0", "\"x\""}) {
        EXPECT_EQ(parse_config(config_with(fmt::format("\"n_ctx\": {}", rest)), "config.json").max_T, 16) << rest;
    }
}

TEST(Half, HasTheValueOfEveryBitPattern) {
    for (std::uint32_t bits = 0; bits < 0x10000; bits++) {
        const float value = float_from_half(static_cast<std::uint16_t>(bits));
        const int exponent = static_cast<int>(bits >> 10 & 0x1fu);
        const auto fraction = static_cast<float>(bits & 0x3ffu);
        EXPECT_EQ(std::signbit(value), (bits & 0x8000u) != 0) << bits;
        if (exponent == 31) {
            EXPECT_EQ(std::isnan(value), fraction != 0) << bits;
            EXPECT_EQ(std::isinf(value), fraction == 0) << bits;
        } else {
            const float magnitude =
                exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0f + fraction, exponent - 25);
            EXPECT_EQ(std::abs(value), magnitude) << bits;
        }
    }
}

TEST(Bfloat16, IsTheUpperHalfOfAFloat) {
    EXPECT_EQ(float_from_bfloat16(0x3f80), 1.0f);
    EXPECT_EQ(float_from_bfloat16(0xc049), -3.140625f);
    EXPECT_TRUE(std::isnan(float_from_bfloat16(0x7fc0)));
    EXPECT_EQ(float_from_bfloat16(0x0001), std::bit_cast<float>(0x10000u));
}
