# SPDX-License-Identifier: MIT
#
# Fuzzing of what reads files that are not ours: libFuzzer with the address and undefined-behaviour sanitizers, which
# clang brings. The inputs in checker/fuzz/corpus are committed and replayed by every `make test`; make_corpus.py writes
# them and says what each is for. What the fuzzer finds beyond them stays in build/fuzz/corpus; an input that showed a
# bug is added to the committed ones by hand, and to FOUND in make_corpus.py.

#: Fuzzing
#:   make fuzz               fuzzes the readers of safetensors and config.json
#:                           SECONDS=60 for each; needs clang and its runtime
#:   make fuzz-corpus        the inputs that it starts from
#:

SECONDS ?= 60
fuzz_targets := $(patsubst checker/fuzz/%_fuzz.cpp,%,$(wildcard checker/fuzz/*_fuzz.cpp))
fuzz_programs := $(fuzz_targets:%=build/fuzz/%)
fuzzed := checker/cases/safetensors.cpp lessons/gpt2/loading.cpp lessons/gpt2/tensors.cpp lessons/gpt2/files.cpp
clang_fuzz := clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I. \
    $(deps_include)

# Whether clang is here with the runtime that libFuzzer needs; asked only where it matters.
has_fuzzer = $(shell echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' | \
    clang++ -x c++ - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null && echo yes)

build/fuzz/obj/%.o: %.cpp $(checker_headers) $(wildcard lessons/gpt2/*.h) checker/fuzz/targets.h | build/.setup
	@mkdir -p $(@D)
	$(Q)$(clang_fuzz) -c $< -o $@
$(fuzz_programs): build/fuzz/%: build/fuzz/obj/checker/fuzz/%_fuzz.o checker/fuzz/fuzz_main.cpp $(fuzzed:%.cpp=build/fuzz/obj/%.o)
	@mkdir -p $(@D)
	$(Q)$(clang_fuzz) -DFUZZ_TARGET=fuzz_$* $^ $(deps_lib) -lfmt -o $@

ifneq ($(filter fuzz,$(MAKECMDGOALS)),)
  $(if $(call has_fuzzer),,$(error clang with libFuzzer is not here; on Debian: apt-get install clang libclang-rt-dev))
endif

.PHONY: fuzz fuzz-corpus
fuzz-corpus:
	@python3 checker/fuzz/make_corpus.py

fuzz: $(fuzz_programs)
	@for target in $(fuzz_targets); do \
	    mkdir -p build/fuzz/corpus/$$target; \
	    echo "fuzzing $$target for $(SECONDS) s …"; \
	    build/fuzz/$$target -max_total_time=$(SECONDS) -max_len=8192 -rss_limit_mb=512 -timeout=10 \
	        -artifact_prefix=build/fuzz/$$target- -print_final_stats=1 \
	        build/fuzz/corpus/$$target checker/fuzz/corpus/$$target > build/fuzz/$$target.log 2>&1 \
	        || { tail -n 30 build/fuzz/$$target.log; echo "the input is in build/fuzz/$$target-*"; exit 1; }; \
	    sed -n 's/^stat::number_of_executed_units: */  inputs tried, none a bug: /p' build/fuzz/$$target.log; \
	done

# `make test` fuzzes too where it can: fuzz_corpus_test runs the programs that are there.
fuzz_in_tests = $(if $(call has_fuzzer),$(fuzz_programs))
