# SPDX-License-Identifier: MIT
#
# What is compiled from what. Everything is under build/:
#   lib/      libchecker.a, libgpt2.a, libsolutions.a (the newest solution of each op)
#   ops/      {solutions,lessons}/NN_name/OP.o      one object an op file
#   impl/     {solutions,lessons}/NN_name/OP.so     an implementation to judge OP by: that object, the solution's
#                                                   object for every other op
#   check/    lessonNN                              the check program of a lesson
#   tests/    checker/X_test, gpt2/X_test           GoogleTest programs

comma := ,
empty :=
space := $(empty) $(empty)

# `make start`, `setup` and `test` install what is missing; every other command says what is missing and stops.
installing := $(filter start setup test generate,$(MAKECMDGOALS))
local := $(filter-out 0,$(LOCAL))

# What `make setup LOCAL=1` unpacks goes before the system's. The path of its libraries starts at the program, so that
# the checkout can be moved, and is one of the old kind, which holds for what those libraries need in turn.
deps := $(if $(wildcard .deps/usr)$(and $(local),$(installing)),.deps/usr)
deps_include := $(deps:%=-isystem %/include)
to_root = $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(@D))))
deps_lib = $(if $(deps),-L$(deps)/lib -Wl$(comma)--disable-new-dtags$(comma)-rpath-link$(comma)$(deps)/lib \
    '-Wl$(comma)-rpath$(comma)$$ORIGIN/$(to_root)/$(deps)/lib')

harness_flags := -std=c++20 -O2 -fPIC -I. $(deps_include) -Wall -Wextra -Wshadow -Wpedantic -Werror
op_flags := -std=c++20 -O3 -march=native -fPIC -fno-gnu-unique -I. $(deps_include) -Wall -Wextra
solutions_flags := $(op_flags) -Werror
lessons_flags := $(op_flags) -Wno-unused -Wno-unused-parameter
# Absolute names in depfiles would tie build/ to this folder; -MP lets a header disappear.
depfile = -MMD -MP -MF $(@:.o=.d)

# ---- lessons, numbers, tracks, ops --------------------------------------------------------------------------------

lesson_dirs := $(notdir $(patsubst %/,%,$(sort $(wildcard lessons/[0-9][0-9]_*/))))
solution_files := $(sort $(wildcard $(addprefix solutions/[0-9][0-9]_*/*.,cpp cu)))
all_ops := $(sort $(basename $(notdir $(solution_files))))

number = $(firstword $(subst _, ,$1))
ops_of = $(basename $(notdir $(filter solutions/$1/%,$(solution_files))))
# Whether lesson.toml of lesson $1 has the line $2 (written without spaces).
toml_has = $(findstring $2,$(subst $(space),,$(file <lessons/$1/lesson.toml)))
track_of = $(if $(call toml_has,$1,track="device"),device,host)

# Op files are C++ on the host's track, CUDA C++ on the device's.
extension_of = $(if $(filter device,$(call track_of,$1)),cu,cpp)
host_lessons := $(foreach lesson,$(lesson_dirs),$(if $(filter host,$(call track_of,$(lesson))),$(lesson)))

# served_NN: for every op that exists by lesson NN on its track, the lesson whose file serves it, as name/op.
define note_lesson
track := $$(call track_of,$1)
$$(foreach op,$$(call ops_of,$1),$$(eval newest_$$(track)_$$(op) := $1/$$(op)))
served_$(call number,$1) := $$(foreach op,$$(all_ops),$$(newest_$$(track)_$$(op)))
endef
$(foreach lesson,$(lesson_dirs),$(eval $(call note_lesson,$(lesson))))

# ---- when the machine, the compiler or the flags change, everything is compiled again -------------------------------

# What -march=native and the compiler mean here. Nothing as long as there is no compiler.
flags_now = $(shell command -v $(CXX) >/dev/null && { grep -m1 -E '^(flags|Features)' /proc/cpuinfo | cksum; \
    $(CXX) -dumpfullversion; }) $(CXX) $(harness_flags) $(op_flags)
ifneq ($(file <build/flags),)
  ifneq ($(strip $(flags_now)),$(strip $(file <build/flags)))
    $(file >build/flags,$(strip $(flags_now)))
    $(shell rm -f build/.setup)
  endif
endif
build/flags: | build/.setup
	@mkdir -p $(@D)
	$(file >$@,$(strip $(flags_now)))@:

# What is built for a GPU needs less than the rest: that less is there is not noted.
for_gpu := $(filter gpu,$(LOCAL) $(if $(filter-out 0,$(DRY)),,$(DEVICE)))
build/.setup: scripts/setup.sh $(if $(installing),FORCE)
	@scripts/setup.sh $(if $(installing),$(if $(local),--local),--check) $(if $(for_gpu),--gpu)
	@mkdir -p $(@D) $(if $(for_gpu),,&& touch $@)

.PHONY: FORCE
FORCE:

# ---- progress: one line for a group that was never built, the file at work on a terminal ---------------------------

# $1 group, $2 what it is, $3 its objects: an order-only prerequisite of the missing ones, which speaks before the first is
# built. Objects that are missing because nothing needs them say nothing.
define announce
missing_$1 := $$(filter-out $$(wildcard $3),$3)
.PHONY: announce/$1
announce/$1: | build/.setup
	@echo "building $2 ($$(words $$(missing_$1)) $$(if $$(filter 1,$$(words $$(missing_$1))),file,files)) …"
$$(missing_$1): | announce/$1
$3: | build/.setup
endef

show = $(if $(V),,@if [ -t 2 ]; then printf '\r\033[K  %s\r' '$<' >&2; fi; )
hide = $(if $(V),,; status=$$?; if [ -t 2 ]; then printf '\r\033[K' >&2; fi; exit $$status)

# ---- harness ------------------------------------------------------------------------------------------------------

objects = $(patsubst %.cpp,build/obj/%.o,$1)

# The rooms of the checker, each using only those before it (checker/README.md).
checker_rooms := base cases clock worker judge program
checker_objects := $(call objects,$(filter-out %_main.cpp %/blas.cpp %/no_blas.cpp,$(wildcard $(checker_rooms:%=checker/%/*.cpp))) \
    checker/gpu/gpu_roof.cpp)
checker_headers := $(wildcard checker/*.h $(checker_rooms:%=checker/%/*.h) checker/gpu/*.h checker/gpu/*.cuh)
case_objects := $(call objects,$(wildcard lessons/gpt2/check/*.cpp))
gpt2_objects := $(call objects,$(filter-out %main.cpp %/embedded.cpp %/op_table.cpp %/placement_device.cpp,$(wildcard lessons/gpt2/*.cpp)))
# The CPU device's runtime, and the side of the checker that runs ops on it: linked into a device lesson's check.
simt_objects_alone := $(call objects,$(wildcard checker/simt/runtime/*.cpp)) build/obj/checker/simt/backtrace.o
simt_side_objects := $(call objects,$(wildcard checker/simt/side/*.cpp)) $(simt_objects_alone)
main_objects := $(call objects,$(wildcard lessons/gpt2/main.cpp lessons/gpt2/embedded.cpp))
newest_objects := $(patsubst %,build/ops/solutions/%.o,$(served_$(call number,$(lastword $(host_lessons)))))

# Harness code that uses the CPU device's headers.
with_simt := -Ichecker/simt/include -DSIMT_HARNESS
build/obj/checker/simt/side/simt_side.o build/obj/lessons/gpt2/placement_device.o: private more_flags := $(with_simt)

build/obj/%.o: %.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(more_flags) $(depfile) -c $< -o $@$(hide)

# The assembler reads these; the compiler's depfile does not name them.
build/obj/lessons/gpt2/embedded.o: reference/model/small/config.json reference/model/small/model.safetensors

# The roof is measured with the flags of the code that is measured against it.
build/obj/checker/clock/roof_kernels.o: checker/clock/roof_kernels.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(solutions_flags) $(depfile) -c $< -o $@$(hide)

build/lib/libchecker.a: $(checker_objects)
build/lib/libgpt2.a: $(gpt2_objects)
build/lib/libsolutions.a: $(newest_objects)
build/lib/%.a:
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

libs := build/lib/libchecker.a build/lib/libgpt2.a
$(eval $(call announce,checker,the checker,$(checker_objects)))
$(eval $(call announce,gpt2,what the lessons share,$(gpt2_objects) $(case_objects) build/obj/lessons/gpt2/op_table.o))

# ---- op objects and implementations ---------------------------------------------------------------------------------

build/ops/solutions/%.o: solutions/%.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(solutions_flags) $(depfile) -c $< -o $@$(hide)

# Kernel files, for the CPU device: its compiler driver, with the harness's warnings.
simtcc_needs = build/simtcc build/simt-lower $(simt_headers)
device_flags := -std=c++20 -I. -Xcompiler -fPIC,-Wall,-Wextra
build/ops/solutions/%.o: solutions/%.cu $(wildcard checker/*.h lessons/gpt2/*.h) | build/simtcc build/simt-lower
	@mkdir -p $(@D)
	$(show)build/simtcc $(device_flags) -Xcompiler -Werror -MMD -MF $(@:.o=.d) -c $< -o $@$(hide)
build/ops/lessons/%.o: lessons/%.cu $(wildcard checker/*.h lessons/gpt2/*.h) | build/simtcc build/simt-lower
	@mkdir -p $(@D)
	@: >$(@:.o=.log)
	$(show)build/simtcc $(device_flags) -Xcompiler -Wno-unused,-Wno-unused-parameter,-ftemplate-backtrace-limit=1 \
	    -MMD -MF $(@:.o=.d) -c $< -o $@ 2> $(@:.o=.log)$(learner_failed)

# A learner's file that does not compile is a finding, not a failure of make: the diagnostics are shown, no object is
# left, and the check says so. The other files of the lesson are checked all the same. Where nothing can be written, make
# fails: an older object would speak for a file that it does not come from. A template's error comes once for each of its
# instances: the first lines tell it.
build/ops/lessons/%.o: lessons/%.cpp build/flags
	@mkdir -p $(@D)
	@: >$(@:.o=.log)
	$(show)$(CXX) $(lessons_flags) $(depfile) $(color) -c $< -o $@ 2> $(@:.o=.log)$(learner_failed)
color = -fdiagnostics-color=$$([ -t 2 ] && echo always || echo never)
learner_failed = || rm -f $@ || exit 2; if [ -t 2 ]; then printf '\r\033[K' >&2; fi; \
    awk 'NR <= 24; END { if (NR > 24) print "... and " NR - 24 " more lines in " FILENAME }' $(@:.o=.log) >&2

op_table := build/obj/lessons/gpt2/op_table.o
link_impl = $(CXX) -shared -Wl,-Bsymbolic,-z,defs -o $@ $(filter %.o,$^) build/lib/libgpt2.a

# $1 lesson, $2 op. The objects of the other ops are the solution's: one wrong file never spoils another's verdict.
# What a kernel's object lacks, the check program has: the CPU device's runtime.
link_device_impl = $(subst $(comma)-z$(comma)defs,,$(link_impl))

define impl_rules
link_$1_$2 := link_$(if $(filter device,$(call track_of,$1)),device_)impl
others_$1_$2 := $$(patsubst %,build/ops/solutions/%.o,$$(filter-out %/$2,$$(served_$(call number,$1))))
build/impl/solutions/$1/$2.so: build/ops/solutions/$1/$2.o $$(others_$1_$2) $(op_table) build/lib/libgpt2.a
	@mkdir -p $$(@D)
	$(Q)$$($$(link_$1_$2))
build/impl/lessons/$1/$2.so: build/ops/lessons/$1/$2.o $$(others_$1_$2) $(op_table) build/lib/libgpt2.a
	@mkdir -p $$(@D)
	$(Q)if [ -f $$< ]; then $$($$(link_$1_$2)) 2> $$(<:.o=.log) || { rm -f $$@; cat $$(<:.o=.log) >&2; }; else rm -f $$@; fi
build/ops/lessons/$1/$2.o: lessons/$1/$2.$(call extension_of,$1)
endef
$(foreach lesson,$(lesson_dirs),$(foreach op,$(call ops_of,$(lesson)),$(eval $(call impl_rules,$(lesson),$(op)))))
solution_objects = $(patsubst %,build/ops/solutions/$1/%.o,$(call ops_of,$1))
$(foreach lesson,$(lesson_dirs),$(eval $(call announce,solution-$(call number,$(lesson)),the solution of lesson \
    $(call number,$(lesson)),$(call solution_objects,$(lesson)))))

# ---- check programs and tests ---------------------------------------------------------------------------------------

harness_libs = $(deps_lib) -lgtest -lfmt -ldl -lpthread
blas := -Wl,--as-needed -lopenblas -Wl,--no-as-needed

define check_rule
build/check/lesson$(call number,$1): build/obj/lessons/$1/check.o $(case_objects) build/obj/checker/cases/blas.o \
        $(if $(filter device,$(call track_of,$1)),$(simt_side_objects)) $(libs)
	@mkdir -p $$(@D)
	$(Q)$(CXX) -o $$@ $$^ $(if $(filter device,$(call track_of,$1)),$$(simt_libs)) $$(harness_libs) $(blas)
endef
$(foreach lesson,$(lesson_dirs),$(eval $(call check_rule,$(lesson))))
# Any lesson's matmul, timed on the CPU; counted on the CPU device.
build/check/ladder: build/obj/lessons/ladder/check.o $(case_objects) build/obj/checker/cases/blas.o $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs) $(blas)
build/check/ladder-device: build/obj/lessons/ladder/check.o $(case_objects) build/obj/checker/cases/blas.o $(simt_side_objects) $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(simt_libs) $(harness_libs) $(blas)

checker_tests := $(patsubst checker/tests/%.cpp,build/tests/checker/%,$(wildcard checker/tests/*_test.cpp))
gpt2_tests := $(patsubst lessons/gpt2/tests/%.cpp,build/tests/gpt2/%,$(wildcard lessons/gpt2/tests/*_test.cpp))
test_programs := $(checker_tests) $(gpt2_tests)
checker_test_helpers := $(call objects,$(filter-out %_test.cpp,$(wildcard checker/tests/*.cpp)))
gpt2_test_helpers := $(call objects,$(filter-out %_test.cpp,$(wildcard lessons/gpt2/tests/*.cpp)))

# The fuzz targets are called by their own names there, without libFuzzer.
fuzz_objects := $(call objects,$(filter-out %_main.cpp,$(wildcard checker/fuzz/*.cpp)))
build/tests/checker/fuzz_corpus_test: $(fuzz_objects)

build/tests/checker/%: build/obj/checker/tests/%.o $(checker_test_helpers) $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lgtest_main $(harness_libs)

build/tests/checker/no_blas_test: build/dry/obj/no_blas.o

# Implementations that do one thing wrong each: what end_to_end_test checks.
fakes := $(patsubst checker/tests/fakes/%.cpp,build/tests/fakes/%.so,$(wildcard checker/tests/fakes/*.cpp))
build/tests/fakes/%.so: checker/tests/fakes/%.cpp checker/tests/fakes/fake.h build/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) $(solutions_flags) -shared $< -o $@
build/tests/checker/end_to_end_test: | $(fakes)
build/tests/checker/progress_test: | build/tools/progress
build/tests/checker/gpu_tool_test: | $(fakes) build/tools/gpu
build/tests/checker/gpu_rehearsal_test: | build/tools/wrong build/dry/wrong/commands build/simtcc build/tools/gpu

# The same for kernels: a check program with the CPU device, and shared objects that it loads.
device_fakes := $(patsubst checker/tests/fakes/%.cu,build/tests/fakes/%.so,$(wildcard checker/tests/fakes/*.cu))
$(device_fakes): build/tests/fakes/%.so: checker/tests/fakes/%.cu checker/tests/fakes/fake_sum.h build/simtcc build/simt-lower
	@mkdir -p $(@D)
	$(show)build/simtcc -shared $(device_flags) -Xcompiler -Werror $< -o $@$(hide)
build/tests/checker/device_end_to_end_test: build/obj/checker/tests/device_end_to_end_test.o $(simt_side_objects) $(libs) | $(device_fakes)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(simt_libs) $(harness_libs)

build/tests/gpt2/%: build/obj/lessons/gpt2/tests/%.o $(gpt2_test_helpers) build/lib/libsolutions.a $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lgtest_main $(harness_libs)
test_objects := $(checker_tests:build/tests/checker/%=build/obj/checker/tests/%.o) \
    $(gpt2_tests:build/tests/gpt2/%=build/obj/lessons/gpt2/tests/%.o) $(checker_test_helpers) $(gpt2_test_helpers)
# A test is compiled once for each time it runs, and its own code is not what takes time. GoogleTest's header, which is
# half of the rest, is compiled for all of them; where the compiler cannot use that, it reads the header.
test_flags := -O0 -include build/obj/tests.h
build/obj/tests.h: build/flags
	@mkdir -p $(@D)
	@echo '#include <gtest/gtest.h>' >$@
build/obj/tests.h.gch: build/obj/tests.h
	$(Q)$(CXX) $(harness_flags) -O0 -MD -MP -MF build/obj/tests.d -x c++-header $< -o $@
-include $(wildcard build/obj/tests.d)
$(test_objects): private more_flags := $(test_flags)
$(test_objects): | build/obj/tests.h.gch
$(eval $(call announce,tests,the tests,$(test_objects)))

build/calibrate: build/obj/checker/clock/calibrate_main.o build/lib/libchecker.a
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

# The GPU's roof, where nvcc is: device code for the cards of the course, and PTX for later ones.
nvcc := $(shell command -v nvcc)
calibrate_gpu := $(if $(nvcc),build/calibrate-gpu)
cards := -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=[sm_80,compute_80] \
    -gencode arch=compute_90a,code=sm_90a
calibrate_gpu_files := checker/gpu/calibrate_gpu.cu checker/gpu/gpu_launch.cu build/obj/checker/gpu/gpu_roof.o build/obj/checker/clock/timing.o
build/calibrate-gpu: $(calibrate_gpu_files) $(checker_headers)
	@mkdir -p $(@D)
	@echo "building the GPU's calibration …"
	$(Q)nvcc -std=c++20 -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror $(cards) -I. $(deps_include) \
	    $(calibrate_gpu_files) -o $@

# Every kernel file compiles for cards too; warnings are errors.
nvcc_objects := $(if $(nvcc),$(foreach lesson,$(filter-out $(host_lessons),$(lesson_dirs)),\
    $(foreach op,$(call ops_of,$(lesson)),build/nvcc/$(lesson)/$(op).o)))
nvcc_flags := -std=c++20 -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -I. \
    -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a
build/nvcc/gpu_launch.o: checker/gpu/gpu_launch.cu $(checker_headers)
	@mkdir -p $(@D)
	$(show)nvcc $(nvcc_flags) -c $< -o $@$(hide)
build/nvcc/%.o: solutions/%.cu checker/cuda_check.h checker/ptx.h $(wildcard lessons/*/*.h lessons/*/*.cuh)
	@mkdir -p $(@D)
	$(show)nvcc $(nvcc_flags) -c $< -o $@$(hide)
# They link: one program that holds the newest of each op, and the GPU's side of the newest lesson's check.
nvcc_program := $(if $(nvcc_objects),build/nvcc/all)
build/nvcc/all: $(patsubst %,build/nvcc/%.o,$(served_$(call number,$(lastword $(lesson_dirs))))) \
        build/nvcc/gpu_launch.o build/gpu/obj/gpu_side.o build/gpu/obj/no_blas.o \
        build/obj/lessons/$(lastword $(lesson_dirs))/check.o $(case_objects) build/obj/lessons/gpt2/op_table.o $(libs) | $(nvcc_objects)
	$(Q)$(CXX) -o $@ $^ $(cudart) $(harness_libs)
$(eval $(call announce,nvcc,the kernels for sm_80 and sm_90a,$(nvcc_objects)))

# checker/ptx.h compiles for all cards of the course: those without an instruction do what it does another way. So do the
# rules that the CPU device's counters are held to.
nvcc_ptx := $(if $(nvcc),build/nvcc/ptx.o build/nvcc/rules.o)
rule_files := $(addprefix checker/simt/tests/,rules.cu objects/traffic.cu objects/traffic.h) checker/ptx.h
build/nvcc/rules.o: $(rule_files)
	@mkdir -p $(@D)
	$(show)nvcc $(nvcc_flags) -gencode arch=compute_75,code=sm_75 -c $< -o $@$(hide)
build/nvcc/ptx.o: checker/simt/tests/kernels/correct/async_copy_of_all_sizes.cu checker/ptx.h
	@mkdir -p $(@D)
	$(show)nvcc $(nvcc_flags) -gencode arch=compute_75,code=sm_75 -c $< -o $@$(hide)

# ---- tools ----------------------------------------------------------------------------------------------------------

tools := $(patsubst checker/tools/%.cpp,build/tools/%,$(wildcard checker/tools/*.cpp))
$(foreach tool,$(notdir $(tools)),$(eval $(call announce,tool-$(tool),build/tools/$(tool),build/obj/checker/tools/$(tool).o)))
# What reads command lines is compiled without optimisation: no other file takes the compiler as long.
$(tools:build/tools/%=build/obj/checker/tools/%.o) build/obj/checker/program/options.o: private more_flags := -O0
build/tools/%: build/obj/checker/tools/%.o $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

-include $(wildcard build/obj/*/*.d build/obj/*/*/*.d build/obj/*/*/*/*.d build/ops/*/*/*.d)
