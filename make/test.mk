# SPDX-License-Identifier: MIT
#
# Setting up, testing, generating. Nothing but `test`, `reference`, `generate` and `format` needs Python.

#: Setting up
#:   make start              the first command: installs what is missing, lets
#:                           GPT-2 write, shows the first lesson's red check
#:   make setup              only installs what is missing
#:                           LOCAL=1 needs no root: unpacks it into .deps, all
#:                           but g++; LOCAL=gpu what a GPU build needs of it
#:   make doctor             what is here, what is not and what mends it
#:
#: The course itself
#:   make test               every test that can run here; makes .venv for Python
#:                           TORCH_INDEX=URL takes PyTorch from that package index
#:   make test-all           the same with nothing kept of earlier runs; and the
#:                           readers of files under the compiler's sanitizers
#:   make new-lesson         lays out the next lesson and says what to do next:
#:                           NAME=tf32 OPS=matmul; TRACK=host in plain C++
#:   make generate           everything that is generated: the five below
#:                           and ncu-table
#:   make stubs              the lessons' stubs, from the solutions
#:                           FORCE=1 replaces edited ones too
#:   make reference          the reference tensors, by PyTorch
#:   make kill-table         what the check says to wrong solutions, as a table
#:   make simt-table         what the CPU device catches, as a table
#:   make figures            the pages' figures
#:   make format             formats C++ and Python
#:   make clean              removes build/
#:
#: V=1 shows the commands that make runs.

.PHONY: new-lesson
new-lesson: build/tools/lessons
	$(if $(filter-out host device,$(TRACK)),$(error TRACK=$(TRACK): it is device (CUDA C++) or host (plain C++)))@python3 \
	    scripts/new_lesson.py $(if $(filter host,$(TRACK)),--host) '$(NAME)' $(OPS)

.PHONY: start setup doctor test test-all generate stubs reference kill-table figures format clean

setup: build/.setup
	@echo "$(if $(filter gpu,$(LOCAL)),what a build for a GPU needs is there,all packages are there; next: make start)"

start: build/check/lesson01 $(call impls,cpu,$(sides),01_layers) build/gpt2-$(newest_host_step)
	@ln -sfn gpt2-$(newest_host_step) build/gpt2
	@scripts/start.sh

doctor:
	@scripts/doctor.sh

# ---- Python, for tests and generated files only -----------------------------------------------------------------------

python := .venv/bin/python

.venv/requirements.sha256: reference/requirements.txt | build/.setup
	@scripts/venv.sh $< $@

# ---- tests ------------------------------------------------------------------------------------------------------------

gpt2_programs := $(foreach step,$(step_numbers),build/gpt2-$(step))

# What tools/wrong compiles and links with. Warnings are no errors there: a wrong solution may leave a name unused.
# The folder is made while the recipe is expanded: $(file) writes before the recipe's first line runs.
wrong_links = $(foreach lesson,$2,$(foreach op,$(call judged_ops,$(lesson)),$(file >>$@,$(lesson)/$(op) \
    $(call objects_of,$1,solutions,$(call others,$(lesson),$(op))) build/lib/libops.a $(if $(filter gpu,$1),$(cudart)))))
build/wrong/commands: build/flags $(solution_files) make/ops.mk make/test.mk
	$(shell mkdir -p $(@D))$(file >$@,compile.cpp $(CXX) $(op_flags) $(warnings_lessons))
	$(file >>$@,compile.cu $(compile_cpu))
	$(file >>$@,compilers.cpp build/flags)
	$(file >>$@,compilers.cu build/flags $(simtcc_needs))
	$(file >>$@,link.cpp $(CXX) -shared -Wl$(comma)-Bsymbolic$(comma)-z$(comma)defs)
	$(file >>$@,link.cu $(CXX) -shared -Wl$(comma)-Bsymbolic)
	$(call wrong_links,cpu,$(lesson_dirs))@:
wrong_needs := build/wrong/commands $(check_programs) $(call impls,cpu,solutions,$(lesson_dirs))

# $1 programs, $2 all that they read, where that is known: a suite is not run again while none of it has changed.
suites = $(foreach program,$1,$(subst /,-,$(program:build/tests/%=%))=$(program)$(if $2,:$(subst $(space),$(comma),$(strip $2))))
# The CPU device's suites read what is compiled for it and its own files; but for two, which look at lessons too.
simt_with_lessons := build/tests/simt/debug_test build/tests/simt/traffic_listing_test
simt_reads := checker/simt checker/ptx.h checker/cuda_check.h build/flags build/simtcc build/simt-lower build/lib/libsimt.a \
    build/tests/simt/kernels build/tests/simt/objects
test: $(test_programs) $(tools) build/tools/ops $(call device_checks,dry) $(call impls,dry,solutions,$(device_lessons)) \
        $(call impls,cpu,lessons,$(lesson_dirs)) $(gpt2_programs) build/gpt2-host $(wrong_needs) $(calibrate_gpu) $(nvcc_program) \
        $(nvcc_ptx) $(bench_programs) $(simt_bench_programs) build/tests/simt/rules .venv/requirements.sha256 $(ladder_needs) $(ladder_rehearsal)
	@$(python) scripts/run_tests.py wrong-solutions=build/tools/wrong \
	    $(call suites,build/tests/checker/fuzz_corpus_test,checker/fuzz/corpus) \
	    $(call suites,$(filter-out %/fuzz_corpus_test,$(checker_tests))) \
	    $(call suites,$(filter-out $(simt_with_lessons),$(simt_tests)),$(simt_reads)) \
	    $(call suites,$(simt_with_lessons) $(gpt2_tests)) \
	    python=reference/tests,lessons/gpt2/tests,figures/tests,scripts/tests ruff=.

test-all: export SOL_FRESH := 1
test-all: build/sanitized/fuzz_corpus_test
	@$< --gtest_brief=1
	@$(MAKE) test

# ---- generated files ---------------------------------------------------------------------------------------------------

generate: stubs reference kill-table simt-table ncu-table figures

stubs: build/tools/stubs
	@$< $(if $(filter-out 0,$(FORCE)),--force)

reference: .venv/requirements.sha256
	@$(python) -m reference.dump

kill-table: build/tools/wrong $(wrong_needs)
	@mkdir -p build/test-results
	@$< --table checker/KILL_TABLE.md --gtest_brief=1 && echo "checker/KILL_TABLE.md"

figures: .venv/requirements.sha256
	@for figure in $(wildcard figures/lesson*.py); do \
	    $(python) "$$figure" || exit 1; done

# One after another: each reads what the one before it writes.
ifneq ($(filter generate,$(MAKECMDGOALS)),)
reference: | stubs
kill-table: | reference
simt-table: | kill-table
ncu-table: | simt-table
endif

cpp_files = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h' '*.cu' '*.cuh' ':!:checker/simt/tests')
format: .venv/requirements.sha256
	@clang-format -i $(cpp_files)
	@.venv/bin/ruff format --quiet . && .venv/bin/ruff check --quiet --fix .

clean:
	@rm -rf build
