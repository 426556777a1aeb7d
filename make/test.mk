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
#:   make generate           everything that is generated: the five below,
#:                           ncu-table and fuzz-corpus
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

.PHONY: start setup doctor test generate stubs reference kill-table figures format clean

setup: build/.setup
	@echo "$(if $(filter gpu,$(LOCAL)),what a build for a GPU needs is there,all packages are there; next: make start)"

start: build/check/lesson01 $(call impls,solutions,01_layers,$(call ops_of,01_layers)) \
        $(call impls,lessons,01_layers,$(call ops_of,01_layers)) build/gpt2-$(lastword $(host_steps))
	@ln -sfn gpt2-$(lastword $(host_steps)) build/gpt2
	@scripts/start.sh

doctor:
	@scripts/doctor.sh

# ---- Python, for tests and generated files only -----------------------------------------------------------------------

python := .venv/bin/python

.venv/requirements.sha256: reference/requirements.txt | build/.setup
	@scripts/venv.sh $< $@

# ---- tests ------------------------------------------------------------------------------------------------------------

all_impls := $(foreach lesson,$(lesson_dirs),$(foreach side,lessons solutions,$(call impls,$(side),$(lesson),$(call ops_of,$(lesson)))))
check_programs := $(foreach lesson,$(lesson_dirs),build/check/lesson$(call number,$(lesson)))
gpt2_programs := $(foreach step,$(step_numbers),build/gpt2-$(step))

# What tools/wrong compiles and links with. Warnings are no errors there: a wrong solution may leave a name unused.
# The folder is made while the recipe is expanded: $(file) writes before the recipe's first line runs.
build/wrong/commands: build/flags $(solution_files)
	$(shell mkdir -p $(@D))$(file >$@,compile.cpp $(CXX) $(lessons_flags))
	$(file >>$@,compile.cu build/simtcc $(device_flags))
	$(file >>$@,link.cpp $(CXX) -shared -Wl$(comma)-Bsymbolic$(comma)-z$(comma)defs)
	$(file >>$@,link.cu $(CXX) -shared -Wl$(comma)-Bsymbolic)
	$(foreach lesson,$(lesson_dirs),$(foreach op,$(call ops_of,$(lesson)),\
	    $(file >>$@,$(lesson)/$(op) $(others_$(lesson)_$(op)) $(op_table) build/lib/libgpt2.a)))@:

wrong_needs := build/wrong/commands $(check_programs) \
    $(foreach lesson,$(lesson_dirs),$(call impls,solutions,$(lesson),$(call ops_of,$(lesson))))

test: $(test_programs) $(tools) $(call gpu_checks,dry) $(call gpu_impls,dry,solutions) $(all_impls) $(check_programs) $(gpt2_programs) build/gpt2-host $(wrong_needs) $(calibrate_gpu) \
        $(nvcc_program) $(nvcc_ptx) $(bench_programs) $(simt_bench_programs) build/tests/simt/rules \
        .venv/requirements.sha256 $(ladder_needs) $(ladder_rehearsal) \
        $(if $(filter test,$(MAKECMDGOALS)),$(fuzz_in_tests))
	@$(python) scripts/run_tests.py wrong-solutions=build/tools/wrong \
	    $(foreach program,$(checker_tests),$(subst /,-,$(program:build/tests/%=%))=$(program)) \
	    $(foreach program,$(simt_tests),$(subst /,-,$(program:build/tests/%=%))=$(program)) \
	    $(foreach program,$(gpt2_tests),$(subst /,-,$(program:build/tests/%=%))=$(program)) \
	    python=reference/tests,lessons/gpt2/tests,figures/tests,scripts/tests ruff=.

# ---- generated files ---------------------------------------------------------------------------------------------------

generate: stubs reference kill-table simt-table ncu-table figures fuzz-corpus

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
