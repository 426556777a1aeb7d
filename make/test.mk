# SPDX-License-Identifier: MIT
#
# Setting up, testing, generating. Nothing but `test`, `reference`, `generate` and `format` needs Python.

#: Setting up
#:   make start              the first command: installs what is missing, lets
#:                           GPT-2 write, shows the first lesson's red check
#:   make setup              only installs what is missing
#:                           LOCAL=1 needs no root: unpacks it into .deps, all
#:                           but g++; LOCAL=gpu what a GPU build needs of it
#:                           NVCC=1 also NVIDIA's nvcc, nvdisasm, cuobjdump and
#:                           compute-sanitizer, of CUDA 13.0 (driver 580), from
#:                           Python packages into .venv (125 MB), no root
#:   make doctor             what is here, what is not and what mends it
#:   make … NVCC_CXX=g++-13  with any command: nvcc's host compiler; CXX=g++-13
#:                           is the compiler of the rest
#:
#: The course itself
#:   make test               every test that can run here; makes .venv for Python
#:                           TORCH_INDEX=URL takes PyTorch from that package index
#:   make test-all           the same with nothing kept of earlier runs; and the
#:                           readers of files under the compiler's sanitizers;
#:                           and GPT-2 at 124M's shapes on the CPU device;
#:                           where nvcc has no cuBLAS it is fetched into build/
#:                           (450 MB). CUBLAS=DIR: a folder with its include/
#:                           and lib/, for every command that compiles by nvcc
#:                           and ends with the three below
#:   make test-borrowed      all that gpu-report runs, built for sm_90a by one make
#:                           where git, make and the packages are hidden, with
#:                           what .deps has; as root only
#:   make test-toolkits      all that is for nvcc, compiled and linked with CUDA
#:                           12.4, the oldest, for the cards' architectures; it
#:                           is fetched into build/ (600 MB)
#:   make test-compilers     the tree compiled, linked and checked with g++ 11,
#:                           12, 13 and 14; VERSIONS=11 that one only. Where this
#:                           machine has no packages of one, in a tree of Debian
#:                           13 under build/, as root only
#:   make new-lesson         lays out the next lesson and says what to do next:
#:                           NAME=my_softmax OPS=softmax; TRACK=host in C++;
#:                           INOUT='adamw.m adamw.v': what a new op updates;
#:                           OPS=gelu_bf16: a new op on bfloat16
#:   make generate           everything that is generated: the five below,
#:                           ncu-table and the pages' waterfall
#:   make stubs              the lessons' stubs, from the solutions
#:                           FORCE=1 replaces edited ones too
#:   make reference          the reference tensors, by PyTorch
#:   make kill-table         what the check finds in wrong solutions, as a table
#:                           LESSON=01_layers that lesson's rows only
#:   make simt-table         what the CPU device catches, as a table
#:   make figures            the pages' figures, and the README's terminal
#:   make format             formats C++ and Python, strips notebooks
#:   make clean              removes build/
#:
#: V=1 shows the commands that make runs.

.PHONY: new-lesson
new-lesson: build/tools/lessons
	$(if $(filter-out host device,$(TRACK)),$(error TRACK=$(TRACK): it is device (CUDA C++) or host (plain C++)))@$(call with_python) \
	    scripts/new_lesson.py $(if $(filter host,$(TRACK)),--host) --inout '$(INOUT)' '$(NAME)' $(OPS)

.PHONY: start setup doctor test test-all generate stubs reference kill-table figures format clean

setup: build/.setup $(if $(filter-out 0,$(NVCC)),.venv/nvcc.sha256)
	$(if $(filter-out 0,$(NVCC)),@scripts/cuda.sh --in-venv)
	@echo "$(if $(filter gpu,$(LOCAL)),what a build for a GPU needs is there,all packages are there; next: make $(if $(filter-out 0,$(NVCC)),doctor,start))"

start: build/check/lesson01 $(call impls,cpu,$(sides),01_layers) build/gpt2-$(newest_host_step)
	@ln -sfn gpt2-$(newest_host_step) build/gpt2
	@scripts/start.sh

doctor:
	@CXX='$(CXX)' scripts/doctor.sh

# ---- Python, for tests and generated files only -----------------------------------------------------------------------

python := .venv/bin/python

.venv/requirements.sha256: reference/requirements.txt | build/.setup
	@scripts/venv.sh $< $@
.venv/nvcc.sha256: reference/requirements-nvcc.txt | build/.setup
	@scripts/venv.sh $< $@ "NVIDIA's nvcc, nvdisasm, cuobjdump and compute-sanitizer, 125 MB to download, 320 MB unpacked"

# ---- tests ------------------------------------------------------------------------------------------------------------

gpt2_programs := $(foreach step,$(step_numbers),build/gpt2-$(step))
newest_bench := build/gpt2-bench-$(call number,$(lastword $(device_steps)))

# What tools/wrong compiles and links with. Warnings are no errors there: a wrong solution may leave a name unused.
# The folder is made while the recipe is expanded: $(file) writes before the recipe's first line runs.
wrong_links = $(foreach lesson,$2,$(foreach op,$(call judged_ops,$(lesson)),$(file >>$@,$(lesson)/$(op) \
    $(call objects_of,$1,solutions,$(call others,$(lesson),$(op))) build/lib/libops.a $(if $(filter gpu,$1),$(cudart) \
    $(call cublas,$(call objects_of,$1,solutions,$(call served_by,$(lesson))))))))
build/wrong/commands: build/flags $(solution_files) make/ops.mk make/test.mk | $(op_header).gch
	$(shell mkdir -p $(@D))$(file >$@,compile.cpp $(compile_op_on_host) $(warnings_lessons))
	$(file >>$@,compile.cu $(compile_cpu) $(include_solutions))
	$(file >>$@,compilers.cpp build/flags)
	$(file >>$@,compilers.cu build/flags $(simtcc_needs))
	$(file >>$@,link.cpp $(CXX) -shared -Wl$(comma)-Bsymbolic$(comma)-z$(comma)defs)
	$(file >>$@,link.cu $(CXX) -shared -Wl$(comma)-Bsymbolic)
	$(call wrong_links,cpu,$(lesson_dirs))@:
wrong_needs := build/wrong/commands $(check_programs) $(call impls,cpu,solutions,$(lesson_dirs)) $(call models,cpu,solutions,$(steps))

# $1 programs, $2 all that they read, where that is known: a suite is not run again while none of it has changed.
commas = $(subst $(space),$(comma),$(strip $1))
suites = $(foreach program,$1,$(subst /,-,$(program:build/tests/%=%))=$(program)$(if $2,:$(call commas,$2)))
# The CPU device's suites read what is compiled for it and its own files; but for three, which look at lessons too.
simt_with_lessons := $(addprefix build/tests/simt/,debug_test traffic_listing_test estimate_listing_test)
estimated := 05_naive_forward 08_register_tiled_matmul 11_tf32
debugged := 05_naive_forward
listed := 06_coalescing
listing = simt-traffic_listing_test$1=build/tests/simt/traffic_listing_test@$2
simt_reads := checker/simt build/lib/libsimt_estimate.so $(as_toolkit)/lib64 checker/ptx.h checker/cuda_check.h build/flags build/simtcc build/simt-lower $(simt_archives) \
    build/tests/simt/kernels build/tests/simt/objects build/tests/simt/libraries $(nvcc_calls)

# The files that a check of lessons $2 reads on variant $1, with the solutions that they are to beat.
older_of = $(filter $(addprefix %/,$(call ops_of,$1)),$(call served_by,$(lastword $(call before,$1))))
checks_read = build/flags reference/cases reference/dump/budget.toml $(foreach lesson,$2,lessons/$(lesson)/lesson.toml \
    $(root_$1)/check/lesson$(call number,$(lesson)) $(root_$1)/impl/solutions/$(lesson) \
    $(patsubst %,$(root_$1)/impl/solutions/%.so,$(call older_of,$(lesson))) $(call step_before_impls,$1,$(lesson)))

# Some of course_test's tests run in a copy of this, the lessons up to the device's first step, and of nothing else.
first_lessons = $(call up_to,$(firstword $(device_steps)))
course_reads = .gitignore Makefile LICENSE README.md COMMANDS.md CONTRIBUTING.md AGENTS.md make scripts checker reference lessons/gpt2 lessons/ladder \
    $(foreach side,$(sides),$(first_lessons:%=$(side)/%))
# Others of its tests read what lessons give, programs and hints, and no solution's code.
given_tests := EveryLesson.HasProgramsThatRun*;EveryLesson.HasHints*
.PHONY: course-reads
course-reads:
	@echo $(course_reads)

# What the harness's own Python reads: nothing of a lesson but its cases, its tables and its name.
python_reads := pyproject.toml .venv/requirements.sha256 reference README.md figures/draw.py figures/plots.mplstyle build/tools/lessons \
    $(wildcard lessons/*/lesson.toml solutions/*/cases.py)
# The lessons whose checks and counts the notebooks are shown.
drawn := 01_layers 06_coalescing 08_register_tiled_matmul 09_warp_tiled_matmul
# And those that the borrowed card's notebook rehearses.
rehearsed := 04_first_kernel 07_tiled_matmul
# Tests of scripts and of make that read no code of lessons and solutions, but which op files call cuBLAS.
of_scripts := $(patsubst %,scripts/tests/test_%.py,lease_check lesson_toml other_toolchains report_programs venv workflow)
reference_tests := $(filter-out %_ladder.py %_waterfall.py %_estimates.py %_sass.py %_bench_cpu.py %_simt_vs_ncu.py %_make_corpus.py \
    %_whole_forward.py %_published.py %_reported.py %_sass_table.py %_sass_gate.py,$(wildcard reference/tests/test_*.py reference/tests/sass/test_*.py))
# $1 lesson: a suite for it alone, since the others' do not change with it.
ladder_suite = python-ladder-$(call number,$1)=reference/tests/test_ladder.py@$1:$(call commas,$(python_reads) \
    build/check/ladder-device build/tools/estimate build/impl/solutions/$1/matmul.so)
rehearsal = checker-gpu_dry_run-$1=build/tests/checker/gpu_dry_run_test@$2:$(call commas,$3)
rehearsal_suite = $(call rehearsal,$(call number,$1),All/DeviceLesson*$1,$(call checks_read,dry,$1))
# The lessons of which it takes wrong solutions.
rejected_there := 04_first_kernel 05_naive_forward
ncu_suite = python-ncu-$(call number,$1)=reference/tests/test_simt_vs_ncu.py@lesson$(call number,$1):$(call commas,$(python_reads) \
    $(call checks_read,cpu,$1) solutions/$1 checker/simt)
counted_for_ncu := 04_first_kernel 06_coalescing 07_tiled_matmul
sharded := $(addprefix build/tests/checker/,course_test gpu_dry_run_test fuzz_corpus_test)
# Those that check fakes; of lessons they see only which there are.
of_fakes := $(addprefix build/tests/checker/,end_to_end_test device_end_to_end_test)
fakes_read := build/flags build/tests/fakes reference/cases/budgets.json checker/simt/COUNTERS.md $(wildcard lessons/*/lesson.toml)

test: $(test_programs) $(tools) build/tools/ops $(call device_checks,dry) $(call impls,dry,solutions,$(device_lessons)) \
        $(call impls,cpu,lessons,$(lesson_dirs)) $(gpt2_programs) build/gpt2-host $(wrong_needs) $(calibrate_gpu) $(nvcc_program) \
        $(nvcc_ptx) $(nvcc_calls) $(nvcc_given) $(nvcc_objects:.o=.ptxas) $(bench_programs) $(newest_bench) $(simt_bench_programs) \
        build/tests/simt/rules build/tools/tile_product build/estimate/published build/estimate/price .venv/requirements.sha256 $(waterfall_needs) $(ladder_needs) $(ladder_rehearsal)
	@$(python) scripts/run_tests.py wrong-solutions=build/tools/wrong \
	    $(call suites,build/tests/checker/fuzz_corpus_test,checker/fuzz/corpus) \
	    $(call suites,$(filter-out $(sharded) $(of_fakes),$(checker_tests))) \
	    $(call suites,$(of_fakes),$(fakes_read)) \
	    'checker-course=build/tests/checker/course_test@Course.*:$(call commas,$(course_reads) build/flags)' \
	    'checker-course-given=build/tests/checker/course_test@$(given_tests):$(call commas,build/flags build/simtcc \
	        build/simt-lower $(simt_archives) Makefile make scripts checker lessons)' \
	    'checker-course_test=build/tests/checker/course_test@-Course.*;$(given_tests)' \
	    $(foreach lesson,$(device_lessons),'$(call rehearsal_suite,$(lesson))') \
	    '$(call rehearsal,wrong,All/WrongSolution*,$(call checks_read,dry,$(rejected_there)) $(rejected_there:%=solutions/%) \
	        checker lessons/gpt2 build/dry/wrong/commands build/tools/wrong build/simtcc build/simt-lower)' \
	    '$(call rehearsal,tuner,Tuner.*,Makefile make checker lessons/gpt2 build/flags build/simtcc build/simt-lower $(simt_archives) \
	        $(foreach lesson,$(tuned_lessons),lessons/$(lesson)/tune solutions/$(lesson)))' \
	    'checker-gpu_dry_run_test=build/tests/checker/gpu_dry_run_test@-All/DeviceLesson*;All/WrongSolution*;Tuner.*' \
	    $(call suites,$(filter-out $(simt_with_lessons),$(simt_tests)),$(simt_reads)) \
	    $(call suites,build/tests/simt/debug_test,$(simt_reads) $(call checks_read,cpu,$(debugged)) build/debug/impl/solutions/$(debugged) \
	        Makefile make checker lessons/gpt2 solutions/$(debugged)) \
	    '$(call listing,-layernorm,Listing.ComparesAsManyRowsOfBothLessons):$(call commas,$(simt_reads) \
	        $(call checks_read,cpu,$(listed)) solutions/$(listed) solutions/$(lastword $(call before,$(listed))))' \
	    '$(call listing,,-Listing.ComparesAsManyRowsOfBothLessons)' \
	    $(call suites,build/tests/simt/estimate_listing_test,$(simt_reads) $(foreach lesson,$(estimated),$(call checks_read,cpu,$(lesson)) \
        solutions/$(lesson) solutions/$(lastword $(call before,$(lesson)))) reference/sass.json lessons/gpt2 build/lib/libgpt2.a) \
    $(call suites,$(gpt2_tests)) \
	    'python-packages=scripts/tests/test_local_packages.py:$(call commas,Makefile make scripts checker \
	        lessons/gpt2 lessons/01_layers solutions/01_layers reference/cases reference/dump/budget.toml build/flags)' \
	    'python-reference=$(call commas,$(reference_tests)):$(call commas,$(python_reads) $(roofline_needs) build/tools/tile_product checker lessons/gpt2 make scripts \
        Makefile GLOSSARY.md $(wildcard lessons/*/*.md))' \
	    'python-notebooks=reference/tests/notebooks:$(call commas,$(python_reads) notebooks $(waterfall_needs) lessons solutions \
	        $(call checks_read,cpu,$(drawn)) $(call checks_read,dry,$(rehearsed)) $(course_reads))' \
	    'python-bench_cpu=reference/tests/test_bench_cpu.py:$(call commas,$(python_reads) lessons/03_cpu_matmul/README.md $(bench_programs) $(newest_bench))' \
	    'python-sass=$(call commas,$(addprefix reference/tests/sass/test_,kernel_sass.py sass_table.py sass_gate.py)):$(call commas,$(python_reads) \
	        $(solution_files) $(helper_files) $(wildcard lessons/*/README.md) $(nvcc) $(nvdisasm))' \
	    'python-published=reference/tests/test_published.py:$(call commas,$(python_reads) checker/estimate checker/simt/ESTIMATES.md build/estimate/published build/estimate/price \
	        solutions lessons)' \
	    'python-tensor_cores=reference/tests/tensor_cores:$(call commas,pyproject.toml .venv/requirements.sha256 \
	        reference/tensor_cores reference/gpu reference/tests/data/tensor_cores.txt build/tools/tile_product)' \
	    'python-beyond=scripts/tests/test_beyond.py:$(call commas,pyproject.toml .venv/requirements.sha256 lessons solutions \
	        $(foreach lesson,$(device_lessons),build/check/lesson$(call number,$(lesson))))' \
	    'python-public_programs=reference/tests/public_programs:$(call commas,pyproject.toml .venv/requirements.sha256 \
	        reference/public_programs reference/gpu checker/simt checker/ptx.h build/simtcc build/simt-lower $(simt_archives))' \
	    'python-whole_forward=reference/tests/test_whole_forward.py:$(call commas,$(python_reads) $(newest_bench))' \
	    $(foreach lesson,$(filter $(device_lessons),$(matmuls)),'$(call ladder_suite,$(lesson))') \
	    'python-ladder=reference/tests/test_ladder.py@not right_at_random:$(call commas,$(python_reads) $(ladder_rehearsal) \
	        build/check/ladder build/tools/estimate build/impl/solutions/03_cpu_matmul solutions/02_forward lessons/gpt2)' \
	    'python-pages=reference/tests/pages:$(call commas,$(python_reads) \
	        GLOSSARY.md CONTRIBUTING.md lessons checker figures)' \
	    'python-waterfall=$(call commas,$(addprefix reference/tests/test_,waterfall.py estimates.py reported.py)):$(call commas,$(python_reads) $(waterfall_needs) $(waterfall_counts) \
	        build/dry/check/lesson06 build/dry/impl/solutions/06_coalescing solutions lessons)' \
	    'python-report=reference/tests/report:$(call commas,$(python_reads) $(waterfall_needs) solutions lessons checker/simt/tests make)' \
	    $(foreach lesson,$(counted_for_ncu),'$(call ncu_suite,$(lesson))') \
	    'python-ncu=reference/tests/test_simt_vs_ncu.py@not ($(subst $(space), or ,$(foreach lesson,$(counted_for_ncu),lesson$(call \
	        number,$(lesson)))))' \
	    'python-new_lesson=scripts/tests/test_new_lesson.py:$(call commas,$(course_reads) $(python_reads) build/flags)' \
	    'python-toolkit=scripts/tests/test_toolkit.py:$(call commas,Makefile make scripts pyproject.toml .venv/requirements.sha256 $(rule_files) $(solution_files))' \
	    'python-run_tests=scripts/tests/test_run_tests.py:$(call commas,scripts/run_tests.py pyproject.toml .venv/requirements.sha256)' \
	    'python-scripts=$(call commas,$(of_scripts)):$(call commas,$(python_reads) Makefile make scripts .ci .github checker lessons/gpt2 \
	        $(cublas_ops:%=solutions/%.cu))' \
	    python=$(call commas,lessons/gpt2/tests figures/tests $(addprefix reference/tests/test_,sass.py make_corpus.py) $(filter-out \
	        $(of_scripts) %_local_packages.py %_new_lesson.py %_run_tests.py %_toolkit.py,$(wildcard scripts/tests/test_*.py))) ruff=.

# cuBLAS of nvcc's major version, by the name of its Python package: headers and libraries to compile and link with.
build/cublas/%/fetched: .venv/requirements.sha256
	@echo "fetching cuBLAS $*, about 450 MB …"
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$(python) -m pip download --quiet --no-deps --dest $(@D) 'nvidia-cublas$(if $(filter 12,$*),-cu12)==$*.*'
	$(Q)$(python) -m zipfile -e $(@D)/*.whl $(@D) && rm $(@D)/*.whl && touch $@

test-all: export SOL_FRESH := 1
test-all: build/sanitized/fuzz_corpus_test build/tests/fakes/cuda_driver.so $(filter %-12,$(step_numbers:%=build/gpt2-bench-%)) \
        $(if $(nvcc),$(if $(cublas_header),,build/cublas/$$(cuda_major)/fetched))
	@$< --gtest_brief=1
	@$(MAKE) test
	@scripts/borrowed.sh
	@scripts/other_toolkit.sh
	@VERSIONS="$(VERSIONS)" scripts/other_compilers.sh

# All that is for nvcc. The kernels of the CPU device's corpus are programs for a GPU too, but for those that no nvcc takes.
.PHONY: for-nvcc for-gxx test-borrowed test-toolkits test-compilers
for-nvcc: build/tests/fakes/cuda_driver.so $(call impls,gpu,$(sides),$(device_lessons)) \
        $(foreach lesson,$(tuned_lessons),$(sides:%=build/tune/gpu/%/lesson$(call number,$(lesson)))) \
        $(given_programs:lessons/%.cu=build/gpu/given/%) $(calibrate_gpu) $(nvcc_ptx) $(nvcc_calls) build/gpu/simt/rules \
        $(call device_checks,gpu) build/gpu/check/ladder \
        $(foreach step,$(device_steps),build/gpu/gpt2-$(call number,$(step)) build/gpu/gpt2-bench-$(call number,$(step)))

# All that is for g++, kernels too, but what only runs as a test: the CPU device's corpus.
for-gxx: $(check_programs) $(call impls,cpu,solutions,$(lesson_dirs)) $(call device_checks,dry) $(tools) build/tools/ops \
        $(checker_tests) $(gpt2_tests) $(simt_test_objects) $(gpt2_programs) $(newest_bench) $(bench_programs) build/calibrate build/lib/libsimt_estimate.so

test-borrowed: build/tests/fakes/cuda_driver.so $(if $(nvcc),$(if $(cublas_header),,build/cublas/$$(cuda_major)/fetched))
	@scripts/borrowed.sh
test-toolkits: .venv/requirements.sha256
	@scripts/other_toolkit.sh
test-compilers:
	@VERSIONS="$(VERSIONS)" scripts/other_compilers.sh

# ---- generated files ---------------------------------------------------------------------------------------------------

generate: stubs reference kill-table simt-table ncu-table figures waterfall report-pages

# Writes the schedule of a report, and what the cards' reports say of the predictions and of the whole forward pass.
.PHONY: report-pages
report-pages: build/tools/lessons build/tools/ops forward-calls .venv/requirements.sha256
	@$(python) -m reference.report.main --plan --write
	@$(python) -m reference.report.predictions --page
	@$(python) -m reference.report.whole_pass

stubs: build/tools/stubs
	@$< $(if $(filter-out 0,$(FORCE)),--force)

reference: .venv/requirements.sha256
	@$(python) -m reference.dump

kill-table: build/tools/wrong $(wrong_needs)
	@mkdir -p build/test-results
	@$< $(if $(LESSON),--lesson '$(LESSON)') --table checker/KILL_TABLE.md --gtest_brief=1 && echo "checker/KILL_TABLE.md build/wrong/messages.txt"

figures: .venv/requirements.sha256
	@for figure in $(wildcard figures/lesson*.py) figures/terminal.py; do \
	    $(python) "$$figure" || exit 1; done

# One after another: each reads what the one before it writes.
ifneq ($(filter generate,$(MAKECMDGOALS)),)
reference: | stubs
kill-table: | reference
simt-table: | kill-table
ncu-table: | simt-table
waterfall: | ncu-table
report-pages: | waterfall
endif

cpp_files = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h' '*.cu' '*.cuh' ':!:checker/simt/tests')
format: .venv/requirements.sha256
	@clang-format -i $(cpp_files)
	@.venv/bin/ruff format --quiet . && .venv/bin/ruff check --quiet --fix . && $(python) -m reference.notebooks.strip

clean:
	@rm -rf build
