// SPDX-License-Identifier: MIT
//
// The gpt2 program from outside: what it prints, its exit status, and one clear line for every wrong use.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <limits>

#include "lessons/gpt2/loading.h"
#include "lessons/gpt2/model.h"
#include "lessons/gpt2/tests/support.h"

namespace fs = std::filesystem;

namespace {

constexpr Config kByteLevel{.max_T = 12, .V = 256, .Vp = 256, .L = 1, .NH = 2, .C = 8};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// One line on standard error that starts with the program's name, nothing on standard output.
void expect_refused(const std::vector<std::string>& arguments, int status, std::string_view part) {
    const Finished finished = run_gpt2(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_TRUE(finished.err.starts_with("gpt2: ")) << finished.err;
    EXPECT_EQ(finished.err.find('\n'), finished.err.size() - 1) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
}

std::string int32_bytes(const std::vector<int>& tokens) {
    std::string bytes(tokens.size() * sizeof(int), '\0');
    std::memcpy(bytes.data(), tokens.data(), bytes.size());
    return bytes;
}

// Folders with a byte-level model and one with a BPE vocabulary (11 tokens).
class Program : public testing::Test {
  protected:
    void SetUp() override {
        TinyModel(kByteLevel).save(folder_ / "bytes");
        TinyModel().save(folder_ / "bpe");
    }
    std::string bytes() const { return (folder_ / "bytes").string(); }
    std::string bpe() const { return (folder_ / "bpe").string(); }
    std::string path(std::string_view name) const { return (folder_ / name).string(); }
    Model byte_model() const { return Model(load_parameters(folder_ / "bytes"), kByteLevel.max_T); }

    TemporaryFolder folder_;
};

}  // namespace

TEST_F(Program, ContinuesAPromptWithTheEmbeddedModel) {
    const Finished finished = run_gpt2({"--prompt", "The loss", "--tokens", "5"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_TRUE(finished.out.starts_with("The loss")) << finished.out;
    EXPECT_TRUE(finished.out.ends_with("\n"));
    EXPECT_GT(finished.out.size(), std::string("The loss\n").size());
    EXPECT_TRUE(contains(finished.err, "5 tokens in ")) << finished.err;
    EXPECT_TRUE(contains(finished.err, " tokens/s")) << finished.err;
}

TEST_F(Program, GivesTheSameTextFromTheSameSeedOnly) {
    const auto text = [&](const char* seed) {
        return run_gpt2({"--prompt", "a", "--tokens", "30", "--model", bytes(), "--seed", seed}).out;
    };
    EXPECT_EQ(text("7"), text("7"));
    EXPECT_NE(text("7"), text("8"));
}

TEST_F(Program, TakesTheMostLikelyTokenAtTemperatureZero) {
    Model model = byte_model();
    std::vector<int> tokens{'a', 'b'};
    for (int i = 0; i < 15; i++) {  // beyond the context of 12: the window slides
        const auto logits = model.next_logits(tokens);
        tokens.push_back(static_cast<int>(std::ranges::max_element(logits) - logits.begin()));
    }
    std::string expected;
    for (const int token : tokens) { expected += fmt::format("{} ", token); }

    // As ids, because the bytes need not be text: the same model under another vocabulary size.
    Config larger = kByteLevel;
    larger.V = 257;
    larger.Vp = 384;
    TinyModel wide(larger);
    auto& wte = wide.at("wte.weight").values;
    std::fill(wte.end() - larger.C, wte.end(), 0.0f);  // a token whose logit is 0
    wide.save(folder_ / "wide");
    const Finished finished =
        run_gpt2({"--tokens-in", "97,98", "--tokens", "15", "--temperature", "0", "--model", path("wide")});
    EXPECT_EQ(finished.out, expected + "\n") << finished.err;
}

TEST_F(Program, PrintsOnlyValidUtf8) {
    const Finished finished = run_gpt2({"--prompt", "\xff\x1b[2J", "--tokens", "0", "--model", bytes()});
    EXPECT_EQ(finished.out, "\xef\xbf\xbd\xef\xbf\xbd[2J\n");
}

TEST_F(Program, WritesNothingMoreForZeroTokens) {
    const Finished finished = run_gpt2({"--prompt", "abc", "--tokens", "0", "--model", bytes()});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.out, "abc\n");
    EXPECT_EQ(finished.err, "");
}

TEST_F(Program, KeepsTheTailOfALongPromptAndSaysSo) {
    const Finished finished = run_gpt2({"--prompt", "0123456789abcdef", "--tokens", "3", "--model", bytes()});
    EXPECT_EQ(finished.status, 0);
    EXPECT_TRUE(finished.out.starts_with("0123456789abcdef"));
    EXPECT_TRUE(contains(finished.err, "the prompt has 16 tokens, the context 12: only its last 12 are looked at"))
        << finished.err;
}

TEST_F(Program, PrintsHelp) {
    const Finished finished = run_gpt2({"--help"});
    EXPECT_EQ(finished.status, 0);
    for (const char* option : {"--prompt", "--tokens", "--temperature", "--top-k", "--top-p", "--seed", "--model",
                               "--loss", "--logits", "--tokens-in"}) {
        EXPECT_TRUE(contains(finished.out, option)) << option;
    }
}

TEST_F(Program, PrintsTheMeanLossOfAText) {
    const std::string text = "a text of more than twelve tokens";
    write_text(path("text"), text);
    Model model = byte_model();
    std::vector<int> tokens(text.begin(), text.end());
    const Finished finished = run_gpt2({"--loss", path("text"), "--model", bytes()});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.out, fmt::format("loss {:.6f}\n", mean_loss(model, tokens)));
    EXPECT_TRUE(contains(finished.err, "mean of 32 predictions, in windows of 12 tokens")) << finished.err;
}

TEST_F(Program, WritesLogitsWithoutThePaddingAndPrintsTheLoss) {
    const std::vector<int> tokens{3, 1, 4, 1, 5};
    write_text(path("in"), int32_bytes(tokens));
    const Finished finished = run_gpt2({"--logits", path("in"), path("out"), "--model", bpe()});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const std::string out = read_text(path("out"));
    ASSERT_EQ(out.size(), 5 * 11 * sizeof(float));
    std::vector<float> logits(5 * 11);
    std::memcpy(logits.data(), out.data(), out.size());

    Model model(load_parameters(folder_ / "bpe"), 6);
    for (std::size_t t = 0; t < 5; t++) {
        const auto expected = model.next_logits(std::span(tokens).first(t + 1));
        for (std::size_t v = 0; v < 11; v++) { EXPECT_EQ(logits[t * 11 + v], expected[v]) << t << " " << v; }
    }
    EXPECT_EQ(finished.out, fmt::format("loss {:.6f}\n", mean_loss(model, tokens)));
}

TEST_F(Program, ReadsInt64IdsAsTheTokensThatTheyAre) {
    write_text(path("in32"), int32_bytes({3, 1, 4}));
    write_text(path("in64"), int32_bytes({3, 0, 1, 0, 4, 0}));
    const Finished as32 = run_gpt2({"--logits", path("in32"), path("out32"), "--model", bpe()});
    const Finished as64 = run_gpt2({"--logits", path("in64"), path("out64"), "--model", bpe()});
    EXPECT_EQ(as64.status, 0) << as64.err;
    EXPECT_EQ(as64.out, as32.out);
    EXPECT_EQ(read_text(path("out64")), read_text(path("out32")));
    EXPECT_TRUE(contains(as64.err, "read as int64, 3 tokens")) << as64.err;
    EXPECT_EQ(as32.err, "");
}

TEST_F(Program, HasNoLossForOneToken) {
    write_text(path("in"), int32_bytes({3}));
    const Finished finished = run_gpt2({"--logits", path("in"), path("out"), "--model", bpe()});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.out, "loss none (one token predicts no next one)\n");
    EXPECT_EQ(read_text(path("out")).size(), 11 * sizeof(float));
}

TEST_F(Program, ShowsTheWayOutForATextAndABpeVocabulary) {
    expect_refused({"--prompt", "x", "--model", bpe()}, 2, "not yet supported; give their ids with --tokens-in");
    expect_refused({"--prompt", "x", "--model", bpe()}, 2,
                   "until the planned tokeniser is there. Python prints them: from transformers import AutoTokenizer; "
                   "print(*AutoTokenizer.from_pretrained(\"NAME\").encode(\"TEXT\"))");
    write_text(path("text"), "some text");
    expect_refused({"--loss", path("text"), "--model", bpe()}, 2, "not yet supported; --logits IN OUT");
    write_text(path("bpe/tokenizer.json"), "{}");
    expect_refused({"--prompt", "x", "--model", bpe()}, 2, fmt::format("AutoTokenizer.from_pretrained(\"{}\")", bpe()));
    expect_refused({"--loss", path("text"), "--model", bpe()}, 2,
                   fmt::format("numpy.array(AutoTokenizer.from_pretrained(\"{}\").encode(open(\"{}\").read()), "
                               "\"int32\").tofile(\"IN\")",
                               bpe(), path("text")));
}

// Token 0 of a trained BPE of 256 tokens is "!", not NUL.
TEST_F(Program, LeavesTextToTheTokeniserOfTheFolder) {
    write_text(path("bytes/vocab.json"), R"({"!": 0, "\"": 1})");
    write_text(path("text"), "some text");
    expect_refused({"--prompt", "x", "--model", bytes()}, 2,
                   "has a tokeniser (vocab.json) that is not the 256 bytes in order, and turning");
    expect_refused({"--loss", path("text"), "--model", bytes()}, 2, "a tokeniser (vocab.json)");
    const Finished ids = run_gpt2({"--tokens-in", "72 105", "--tokens", "0", "--model", bytes()});
    EXPECT_EQ(ids.out, "72 105 \n") << ids.err;  // as ids: the bytes would be another text
}

TEST_F(Program, RefusesImpossibleNumbers) {
    expect_refused({"--prompt", "x", "--tokens", "-1"}, 2, "--tokens -1: must be a whole number from 0 to 1000000");
    expect_refused({"--prompt", "x", "--tokens", "9999999999"}, 2, "--tokens");
    expect_refused({"--prompt", "x", "--tokens", "99999999999999999999999"}, 2, "--tokens");
    expect_refused({"--prompt", "x", "--tokens", "many"}, 2, "--tokens many: must be a whole number from 0 to 1000000");
    expect_refused({"--prompt", "x", "--tokens", "1.5"}, 2, "--tokens 1.5: must be a whole number");
    expect_refused({"--prompt", "x", "--tokens", ""}, 2, "--tokens '': must be a whole number");
    expect_refused({"--prompt", "x", "--temperature", ""}, 2, "--temperature '': must be a number from 0 to 1000");
    expect_refused({"--prompt", "x", "--temperature", "1e400"}, 2, "--temperature 1e400: must be");
    expect_refused({"--prompt", "x", "--top-k", "0x10"}, 2, "--top-k 0x10: must be");
    expect_refused({"--prompt", "x", "--temperature", "nan"}, 2, "--temperature nan: must be");
    expect_refused({"--prompt", "x", "--temperature", "inf"}, 2, "--temperature inf: must be");
    expect_refused({"--prompt", "x", "--temperature", "-0.5"}, 2, "--temperature -0.5: must be");
    expect_refused({"--prompt", "x", "--top-p", "2"}, 2, "--top-p 2: must be");
    expect_refused({"--prompt", "x", "--top-p", "0"}, 2, "--top-p 0: must be");
    expect_refused({"--prompt", "x", "--top-p", "nan"}, 2, "--top-p nan: must be");
    expect_refused({"--prompt", "x", "--top-k", "-3"}, 2, "--top-k -3: must be");
    expect_refused({"--prompt", "x", "--seed", "-1"}, 2, "--seed");
}

TEST_F(Program, RefusesUnknownAndIncompleteOptions) {
    expect_refused({}, 2, "nothing to continue");
    expect_refused({"--promt", "x"}, 2, "--promt");
    expect_refused({"x"}, 2, "x");
    expect_refused({"--prompt"}, 2, "--prompt");
    expect_refused({"--logits", "in"}, 2, "--logits");
    expect_refused({"--prompt", "x", "--loss", "y"}, 2, "exclude each other");
}

TEST_F(Program, RefusesAnEmptyPrompt) {
    expect_refused({"--prompt", ""}, 2, "--prompt is empty");
    expect_refused({"--tokens-in", ""}, 2, "no token ids");
    expect_refused({"--prompt", "x", "--model", ""}, 2, "--model is empty");
}

TEST_F(Program, RefusesTokensOutsideTheVocabulary) {
    expect_refused({"--tokens-in", "3,11", "--model", bpe()}, 2, "token 11 is not in the vocabulary, 0 to 10");
    expect_refused({"--tokens-in", "3,x", "--model", bpe()}, 1, "--tokens-in: \"x\" is no token id");
    write_text(path("in"), int32_bytes({3, 11}));
    expect_refused({"--logits", path("in"), path("out"), "--model", bpe()}, 1,
                   "in: token 11 at position 1 is not in the vocabulary, 0 to 10; write ids as int32");
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Program, RefusesTokenFilesThatDoNotFit) {
    write_text(path("in"), "12345");
    expect_refused({"--logits", path("in"), path("out"), "--model", bpe()}, 1, "no multiple of 4");
    write_text(path("in"), "");
    expect_refused({"--logits", path("in"), path("out"), "--model", bpe()}, 1, "holds no tokens");
    write_text(path("in"), "\x93NUMPY\x01" + int32_bytes(std::vector<int>(7, 1)) + "x");
    expect_refused({"--logits", path("in"), path("out"), "--model", bpe()}, 1, "write ids as int32");
    write_text(path("in"), int32_bytes(std::vector<int>(7, 1)));
    expect_refused({"--logits", path("in"), path("out"), "--model", bpe()}, 1, "the context of this model is 6");
    expect_refused({"--logits", path("none"), path("out"), "--model", bpe()}, 1, "No such file");
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Program, RefusesToWriteLogitsOverTheirTokens) {
    write_text(path("in"), int32_bytes({1, 2}));
    expect_refused({"--logits", path("in"), path("in"), "--model", bpe()}, 2, "IN and OUT are the same file");
    fs::create_hard_link(path("in"), path("link"));
    expect_refused({"--logits", path("in"), path("link"), "--model", bpe()}, 2, "IN and OUT are the same file");
    EXPECT_EQ(read_text(path("in")), int32_bytes({1, 2}));
}

TEST_F(Program, RefusesToWriteLogitsOverTheModel) {
    write_text(path("in"), int32_bytes({1, 2}));
    const std::string weights = read_text(path("bpe/model.safetensors"));
    fs::create_directory(path("blobs"));
    fs::rename(path("bpe/model.safetensors"), path("blobs/123"));
    fs::create_symlink(path("blobs/123"), path("bpe/model.safetensors"));
    for (const char* out : {"bpe/model.safetensors", "bpe/config.json", "bpe/../bpe/model.safetensors", "blobs/123",
                            "bpe/model.safetensors.index.json", "bpe/part/2.safetensors"}) {
        expect_refused({"--logits", path("in"), path(out), "--model", bpe()}, 2,
                       "is a file of the model; name another");
    }
    EXPECT_EQ(read_text(path("blobs/123")), weights);
    EXPECT_EQ(run_gpt2({"--logits", path("in"), path("bpe/out"), "--model", bpe()}).status, 0);
    EXPECT_EQ(run_gpt2({"--logits", path("in"), path("bpe/out"), "--model", bpe()}).status, 0);  // once more
}

TEST_F(Program, KeepsLogitsAndLossApartOnStandardOutput) {
    write_text(path("in"), int32_bytes({1, 2}));
    const std::string loss = run_gpt2({"--logits", path("in"), path("out"), "--model", bpe()}).out;
    for (const std::string& out :
         {std::string("/dev/stdout"), std::string("-"), std::string("/dev/fd/1"), path("all")}) {
        write_text(path("all"), "OLD");
        const Finished finished =
            run_gpt2({"--logits", path("in"), out, "--model", bpe()}, fmt::format(">> {}", path("all")));
        EXPECT_EQ(finished.status, 0);
        EXPECT_EQ(read_text(path("all")), "OLD" + read_text(path("out"))) << out;
        EXPECT_EQ(finished.err, "gpt2: " + loss) << out;
    }
    write_text(path("all"), "OLD");
    const Finished finished = run_gpt2({"--logits", path("in"), "/dev/fd/5", "--model", bpe()},
                                       fmt::format("> /dev/null 5>> {}", path("all")));
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(read_text(path("all")), "OLD" + read_text(path("out")));
}

TEST_F(Program, PrintsTheControlCharactersOfAPathAsEscapes) {
    expect_refused({"--prompt", "x", "--model", "a\n\x1b[2Jb"}, 1, "a\\x0a\\x1b[2Jb: no such folder");
}

TEST_F(Program, TakesAFileWhoseNameBeginsWithADigit) {
    write_text(path("7ids"), "3 1");
    const Finished finished = run_gpt2({"--tokens-in", "7ids", "--tokens", "0", "--model", bpe()}, "",
                                       fmt::format("cd {} &&", folder_.path().string()));
    EXPECT_EQ(finished.out, "3 1 \n") << finished.err;
}

TEST_F(Program, TakesDigitsForIdsWhateverTheFolderHolds) {
    write_text(path("7"), "3 1");
    const std::string there = fmt::format("cd {} &&", folder_.path().string());
    const Finished ids = run_gpt2({"--tokens-in", "7", "--tokens", "0", "--model", bpe()}, "", there);
    EXPECT_EQ(ids.out, "7 \n");
    EXPECT_EQ(ids.err, "gpt2: --tokens-in 7: taken as ids; ./7 names the file\n");
    const Finished file = run_gpt2({"--tokens-in", "./7", "--tokens", "0", "--model", bpe()}, "", there);
    EXPECT_EQ(file.out, "3 1 \n");
    EXPECT_EQ(run_gpt2({"--tokens-in", "[7, 1]", "--tokens", "0", "--model", bpe()}).out, "7 1 \n");
}

// Runs the program with a pipe as its standard input.
Finished run_piped(const std::string& file, const std::vector<std::string>& arguments, const std::string& out) {
    const std::string launcher = fmt::format("cat {} | {{ exec 3<&0;", file);
    Finished finished = run_gpt2(arguments, fmt::format("<&3 > {}; }}", out), launcher);
    finished.out = read_text(out);
    return finished;
}

TEST_F(Program, ReadsStandardInputAndPipes) {
    write_text(path("text"), "ab");
    write_text(path("ids"), "3 1");
    write_text(path("in"), int32_bytes({3, 1}));
    const std::vector<std::string> model{"--tokens", "2", "--temperature", "0", "--model", bpe()};
    const auto with = [&model](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), model.begin(), model.end());
        return arguments;
    };
    const std::string ids = run_gpt2(with({"--tokens-in", "3,1"})).out;
    EXPECT_TRUE(ids.starts_with("3 1 ")) << ids;
    for (const char* name : {"-", "/dev/stdin", "/dev/fd/0"}) {
        EXPECT_EQ(run_piped(path("ids"), with({"--tokens-in", name}), path("got")).out, ids) << name;
        EXPECT_EQ(run_piped(path("in"), with({"--tokens-in", name}), path("got")).out, ids) << name;
        EXPECT_EQ(run_piped(path("in"), {"--logits", name, path("out"), "--model", bpe()}, path("got")).out,
                  run_gpt2({"--logits", path("in"), path("out"), "--model", bpe()}).out);
        EXPECT_EQ(run_piped(path("text"), {"--loss", name, "--model", bytes()}, path("got")).out,
                  run_gpt2({"--loss", path("text"), "--model", bytes()}).out);
    }
    EXPECT_EQ(run_piped(path("text"), {"--prompt", "-", "--tokens", "0"}, path("got")).out, "ab\n");
    EXPECT_EQ(run_gpt2({"--prompt", "-", "--tokens", "0"}, fmt::format("< {} > {}", path("text"), path("got"))).status,
              0);
    EXPECT_EQ(read_text(path("got")), "ab\n");
}

TEST_F(Program, RefusesAnEmptyStandardInput) {
    expect_refused({"--prompt", "-"}, 2, "--prompt: standard input is empty");
    expect_refused({"--tokens-in", "-"}, 2, "no token ids");
    expect_refused({"--loss", "-"}, 1, "standard input: is too short");
    expect_refused({"--logits", "-", path("out")}, 1, "standard input: holds no tokens");
    write_text(path("text"), "3 x");
    const Finished word = run_piped(path("text"), {"--tokens-in", "-"}, path("got"));
    EXPECT_EQ(word.err, "gpt2: standard input: \"x\" is no token id; write ids as 15496,995 or with blanks between\n");
}

// Weights that a float holds, and whose products it does not, are not the fault of the build.
TEST_F(Program, BlamesWeightsThatOverflow) {
    TinyModel huge(kByteLevel);
    for (float& x : huge.at("ln_f.weight").values) { x = 3e38f; }
    huge.save(folder_ / "huge");
    const char* const blamed = "so large (ln_f.weight reaches 3e+38) that float overflows";
    const Finished finished = run_gpt2({"--prompt", "x", "--model", path("huge")});
    EXPECT_EQ(finished.status, 1);
    EXPECT_TRUE(contains(finished.err, blamed)) << finished.err;
    write_text(path("text"), "some text");
    expect_refused({"--loss", path("text"), "--model", path("huge")}, 1, blamed);
}

TEST_F(Program, RefusesTextsWithoutALoss) {
    write_text(path("text"), "x");
    expect_refused({"--loss", path("text"), "--model", bytes()}, 1, "too short");
    expect_refused({"--loss", folder_.path().string(), "--model", bytes()}, 1, "is a folder");
    expect_refused({"--loss", path("none"), "--model", bytes()}, 1, "No such file");
}

TEST_F(Program, RefusesFoldersWithoutAModel) {
    expect_refused({"--prompt", "x", "--model", path("none")}, 1, "no such folder");
    fs::create_directory(path("empty"));
    expect_refused({"--prompt", "x", "--model", path("empty")}, 1, "config.json: cannot be read");
    write_text(path("bytes/model.safetensors"), "not a model");
    expect_refused({"--prompt", "x", "--model", bytes()}, 1, "model.safetensors: ");
}

TEST_F(Program, RefusesAFolderThatMayNotBeRead) {
    if (geteuid() == 0) {
        GTEST_SKIP() << "root may read every folder";
    }
    fs::permissions(bytes(), fs::perms::none);
    expect_refused({"--prompt", "x", "--model", bytes()}, 1, "Permission denied");
    fs::permissions(bytes(), fs::perms::owner_all);
}

TEST_F(Program, NamesAWeightThatIsNotFinite) {
    TinyModel broken(kByteLevel);
    broken.at("wpe.weight").values[9] = std::numeric_limits<float>::quiet_NaN();
    broken.save(folder_ / "broken");
    expect_refused({"--prompt", "x", "--model", path("broken")}, 1, "wpe.weight[1, 1] is nan");
}

TEST_F(Program, RefusesToStartWithoutTheMemory) {
    Config huge = kByteLevel;
    huge.max_T = 1 << 15;
    huge.NH = 8;
    TinyModel(huge).save(folder_ / "huge");
    write_text(path("text"), std::string(1 << 15, 'x'));
    expect_refused({"--loss", path("text"), "--model", path("huge")}, 1, "attention scores would have more than");
}

TEST_F(Program, FailsWhenStandardOutputIsFull) {
    const Finished finished = run_gpt2({"--prompt", "x", "--model", bytes()}, "> /dev/full");
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.err,
              "gpt2: standard output: cannot be written: No space left on device; make room on that "
              "disk\n");
}

TEST_F(Program, EndsWithItsStatusWhenStandardErrorCannotBeWritten) {
    write_text(path("text"), "some text");
    write_text(path("in"), int32_bytes({1, 2}));
    const std::vector<std::pair<std::vector<std::string>, int>> uses{
        {{"--prompt", "x", "--tokens", "2", "--model", bytes()}, 0},
        {{"--loss", path("text"), "--model", bytes()}, 0},
        {{"--logits", path("in"), path("out"), "--model", bpe()}, 0},
        {{"--prompt", "x", "--model", path("none")}, 1},
        {{"--bogus"}, 2},
    };
    for (const auto& [arguments, status] : uses) {
        const std::string to = fmt::format("> {} ", path("got"));
        run_gpt2(arguments, to);
        const std::string expected = read_text(path("got"));
        for (const char* error : {"2>&-", "2> /dev/full", "2>&- <&-"}) {
            EXPECT_EQ(run_gpt2(arguments, to + error).status, status) << arguments[0] << " " << error;
            EXPECT_EQ(read_text(path("got")), expected) << arguments[0] << " " << error;
        }
        // The pipe's reader is gone before the program starts.
        for (const char* launcher : {"{ sleep 0.1;", "{ trap '' PIPE; sleep 0.1;"}) {
            run_gpt2(arguments, fmt::format("2>&1 {}; echo $? > {}; }} | true", to, path("status")), launcher);
            EXPECT_EQ(read_text(path("status")), fmt::format("{}\n", status)) << arguments[0] << " " << launcher;
            EXPECT_EQ(read_text(path("got")), expected) << arguments[0];
        }
    }
    EXPECT_EQ(read_text(path("out")).size(), 2 * 11 * sizeof(float));  // nothing said went into it
}

TEST_F(Program, FailsWhenTheOutputIsBeyondTheShellsLimit) {
    write_text(path("in"), int32_bytes(std::vector<int>(12, 1)));
    fs::create_directory(path("limited"));
    const Finished finished = run_gpt2({"--logits", path("in"), path("limited/out"), "--model", bytes()}, "",
                                       "ulimit -f 1;");  // 512 or 1024 bytes
    EXPECT_EQ(finished.status, 1);
    EXPECT_TRUE(contains(finished.err, "File too large")) << finished.err;
    EXPECT_TRUE(fs::is_empty(path("limited")));
}

TEST_F(Program, FailsWhenTheOutputFileCannotBeWritten) {
    write_text(path("in"), int32_bytes({1, 2}));
    expect_refused({"--logits", path("in"), "/dev/full", "--model", bpe()}, 1, "No space left on device");
    expect_refused({"--logits", path("in"), path("none/out"), "--model", bpe()}, 1, "No such file or directory");
    expect_refused({"--logits", path("in"), bpe(), "--model", bpe()}, 1, "is a folder");
}

TEST_F(Program, EndsQuietlyWhenItsReaderGoesAway) {
    const Finished finished =
        run_gpt2({"--prompt", "x", "--tokens", "100000", "--model", bytes()}, "| head -c 10 > /dev/null");
    EXPECT_EQ(finished.status, 0);  // of head
    EXPECT_EQ(finished.err, "");
}

TEST_F(Program, EndsItsLineWhenInterrupted) {
    // The reader waits for the first text, so that the program is surely at work.
    const std::string launcher = fmt::format("{{ sh -c 'echo $$ > {}; exec \"$0\" \"$@\"'", path("pid"));
    const std::string reader =
        fmt::format("; echo $? > {}; }} | {{ head -c 2 > /dev/null; kill -INT $(cat {}); cat > /dev/null; }}",
                    path("status"), path("pid"));
    // A script's background job starts with interrupts ignored, and the program leaves them so.
    const auto handler = std::signal(SIGINT, SIG_DFL);
    const Finished finished = run_gpt2({"--prompt", "x", "--tokens", "1000000", "--model", bytes()}, reader, launcher);
    std::signal(SIGINT, handler);
    EXPECT_EQ(read_text(path("status")), fmt::format("{}\n", 128 + SIGINT));
    EXPECT_EQ(finished.err, "\n");
}
