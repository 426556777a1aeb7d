# SPDX-License-Identifier: MIT
#
# What is compiled from what. Everything is under build/:
#   lib/      libchecker.a, libops.a (what ops and checks take of lessons/gpt2), libgpt2.a (all of it), libsolutions.a (the
#             newest solution of each op)
#   ops/, impl/, check/                             objects of ops, what is judged, check programs (make/ops.mk)
#   tests/    checker/X_test, gpt2/X_test           GoogleTest programs

comma := ,
empty :=
space := $(empty) $(empty)

# `make start`, `setup` and `test` install what is missing; every other command says what is missing and stops.
installing := $(filter start setup test test-all generate,$(MAKECMDGOALS))
local := $(filter-out 0,$(LOCAL))

# What `make setup LOCAL=1` unpacks goes before the system's. The path of its libraries starts at the program, so that
# the checkout can be moved, and is one of the old kind, which holds for what those libraries need in turn.
deps := $(if $(wildcard .deps/usr)$(and $(local),$(installing)),.deps/usr)
# Fedora has OpenBLAS's headers in a folder of their own.
deps_include := $(deps:%=-isystem %/include) $(patsubst %,-isystem %,$(wildcard /usr/include/openblas))
to_root = $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(@D))))
deps_lib = $(if $(deps),-L$(deps)/lib -Wl$(comma)--disable-new-dtags$(comma)-rpath-link$(comma)$(deps)/lib \
    '-Wl$(comma)-rpath$(comma)$$ORIGIN/$(to_root)/$(deps)/lib')

# g++ for ARM notes wherever a pair of floats is passed in another way than before its release 10.
psabi := $(if $(filter aarch64 arm%,$(shell uname -m)),-Wno-psabi)
# g++ looks for garbage from 128 MB on, which the compiled headers nearly fill: from 512 MB on it hardly ever does.
late_collection := --param ggc-min-heapsize=524288
harness_flags := $(psabi) $(late_collection) -std=c++20 -O2 -fPIC -I. $(deps_include) -Wall -Wextra -Wshadow -Wpedantic -Werror
op_flags := $(psabi) -std=c++20 -O3 -march=native -fPIC -fno-gnu-unique -I. $(deps_include) -Wall -Wextra
# Absolute names in depfiles would tie build/ to this folder; -MP lets a header disappear.
depfile = -MMD -MP -MF $(@:.o=.d)

# ---- lessons, numbers, tracks, ops --------------------------------------------------------------------------------

lesson_dirs := $(notdir $(patsubst %/,%,$(sort $(wildcard lessons/[0-9][0-9]_*/))))
solution_files := $(sort $(wildcard $(addprefix solutions/[0-9][0-9]_*/*.,cpp cu)))
# Headers that the learner writes, for the lesson's op files and later ones: solutions/NN_name/X.cuh.
helper_files := $(sort $(wildcard solutions/[0-9][0-9]_*/*.cuh))

number = $(firstword $(subst _, ,$1))
# The lessons up to $1, which is among them.
up_to = $(foreach lesson,$(lesson_dirs),$(if $(filter $(lesson),$(firstword $(sort $(lesson) $1))),$(lesson)))
named = $(filter $1_%,$(lesson_dirs))
numbers := $(foreach lesson,$(lesson_dirs),$(call number,$(lesson)))
# $1 an extended regular expression: the lessons with a line like it. make runs before anything can be built that reads TOML;
# the reader, checker/cases/lesson_toml.cpp, refuses keys whose letters are escaped.
number_sign := \#
lessons_whose_toml_has = $(patsubst lessons/%/lesson.toml,%,$(shell grep -lsE '$1' /dev/null $(lesson_dirs:%=lessons/%/lesson.toml)))
files_of = $(filter solutions/$1/%,$(solution_files))
helpers_in = $(basename $(notdir $(filter solutions/$1/%,$(helper_files))))
ops_of = $(basename $(notdir $(call files_of,$1)))
all_ops := $(sort $(basename $(notdir $(solution_files))))
# Op files are C++ on the host's track, CUDA C++ on the device's.
track_of = $(if $(filter %.cu,$(call files_of,$1)),device,host)
host_lessons := $(foreach lesson,$(lesson_dirs),$(if $(filter host,$(call track_of,$(lesson))),$(lesson)))
device_lessons := $(filter-out $(host_lessons),$(lesson_dirs))
device_numbers := $(foreach lesson,$(device_lessons),$(call number,$(lesson)))

# A branch: a lesson whose lesson.toml has the line branch_of = "NN_name". Its ops are compared with that lesson's and serve
# no step.
branches := $(call lessons_whose_toml_has,^branch_of = )
branch_of = $(if $(filter $1,$(branches)),$(shell sed -n 's/^branch_of = "\(.*\)"$$/\1/p' lessons/$1/lesson.toml))
# The lessons before $1, whose ops its own are compared with.
before = $(filter-out $(filter-out $(call branch_of,$1),$1 $(branches)),$(call up_to,$(or $(call branch_of,$1),$1)))

# served_NN: for every op that exists by lesson NN on its track, the lesson whose file serves it, as name/op.
$(foreach lesson,$(lesson_dirs),$(if $(filter $(lesson),$(branches)),,\
    $(foreach op,$(call ops_of,$(lesson)),$(eval newest_$(call track_of,$(lesson))_$(op) := $(lesson)/$(op))))\
    $(eval served_$(call number,$(lesson)) := $(foreach op,$(all_ops),$(newest_$(call track_of,$(lesson))_$(op)))))
served_by = $(served_$(call number,$1))

# An op that only calls other ops needs one file for both tracks: until a device lesson has its own, the host's serves.
# A lesson is a step when its track serves the whole model: each op that the lesson with the first `forward` serves.
shared_ops := forward
first_model := $(firstword $(foreach lesson,$(lesson_dirs),$(if $(filter forward,$(call ops_of,$(lesson))),$(lesson))))
steps := $(foreach lesson,$(filter-out $(branches),$(lesson_dirs)),$(if $(filter-out $(shared_ops) $(notdir $(call served_by,$(lesson))),\
    $(notdir $(call served_by,$(first_model)))),,$(lesson)))
host_steps := $(filter $(host_lessons),$(steps))
device_steps := $(filter $(device_lessons),$(steps))
$(foreach lesson,$(device_steps),$(foreach op,$(filter-out $(notdir $(call served_by,$(lesson))),$(shared_ops)),\
    $(eval served_$(call number,$(lesson)) += $(newest_host_$(op)))))
# The ops that a lesson's check judges: its own, and at the device's first step the shared ones too.
judged_ops = $(call ops_of,$1) $(if $(filter $1,$(firstword $(device_steps))),$(filter-out $(call ops_of,$1),$(shared_ops)))

# ---- when the machine, the compiler or the flags change, everything is compiled again -------------------------------

# Harness code that uses the CPU device's headers.
with_simt := -Ichecker/simt/include -DSIMT_HARNESS
# The functions that CUDA and its libraries have are those in no namespace here, and the compiler calls a hook where one begins
# and ends: so calls are counted (runtime/base/errors.cpp), and none can be forgotten. Those that say what an error is called
# are not counted.
counted_calls := -finstrument-functions -finstrument-functions-exclude-function-list=::,lambda,operator,cublasGetStatus

# What -march=native and the compiler mean here. Nothing as long as there is no compiler.
flags_now = $(shell command -v $(CXX) >/dev/null && { grep -m1 -E '^(flags|Features)' /proc/cpuinfo | cksum; \
    $(CXX) -dumpfullversion; }) $(CXX) $(harness_flags) $(op_flags) $(with_simt) $(counted_calls)
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
	@CXX='$(CXX)' scripts/setup.sh $(if $(installing),$(if $(local),--local),--check) $(if $(for_gpu),--gpu)
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

# Files that are compiled as one, by the group's name: most of compiling them is making instances of templates, which are the
# same ones in each. So names in their unnamed namespaces differ.
group_files = $(filter-out $3,$(wildcard $(addsuffix .cpp,$(addprefix $1/,$2))))
group_program := $(call group_files,checker/program,*,%_main.cpp)
group_judge := $(call group_files,checker/judge,judge progress_line report verdict describe)
group_worker := $(call group_files,checker/worker,worker time_op bench host_tensors shared_buffers)
group_messages := $(call group_files,checker/worker,call_buffers finding left_threads messages worker_process)
group_cases := $(call group_files,checker/cases,budget counters library dims lesson safetensors)
group_estimate := $(call group_files,checker/estimate,*,%/cards.cpp)
group_ops := $(call group_files,lessons/gpt2/check,*,%/floors.cpp %/sizes.cpp)
groups := program judge worker messages cases estimate ops
group_objects := $(groups:%=build/obj/groups/%.o)
$(foreach group,$(groups),$(foreach file,$(group_$(group)),$(eval object_of_$(file) := build/obj/groups/$(group).o)))

objects = $(sort $(foreach file,$1,$(or $(object_of_$(file)),$(file:%.cpp=build/obj/%.o))))

# The checker's folders, each using only those before it (checker/README.md).
checker_folders := base estimate clock cases worker judge program
checker_objects := $(call objects,$(filter-out %_main.cpp %/blas.cpp %/no_blas.cpp %/kept.cpp,$(wildcard $(checker_folders:%=checker/%/*.cpp))))
checker_headers := $(wildcard checker/*.h $(checker_folders:%=checker/%/*.h) checker/devices/gpu/*.h checker/devices/gpu/*.cuh)
case_objects := $(call objects,$(wildcard lessons/gpt2/check/*.cpp))
gpt2_objects := $(call objects,$(filter-out %main.cpp %/embedded.cpp %/placement_device.cpp,$(wildcard lessons/gpt2/*.cpp)))
libops_objects := build/obj/lessons/gpt2/tensors.o
# The CPU device's runtime, and the side of the checker that runs ops on it: linked into a device lesson's check.
simt_objects_alone := $(call objects,$(wildcard checker/simt/runtime/*/*.cpp)) build/obj/checker/simt/backtrace.o
simt_library_objects := $(call objects,$(wildcard checker/simt/libraries/*.cpp))
simt_backend_objects := $(call objects,$(wildcard checker/devices/simt/*.cpp) checker/base/kept.cpp) $(simt_objects_alone) $(simt_library_objects)
main_objects := $(call objects,$(wildcard lessons/gpt2/main.cpp lessons/gpt2/embedded.cpp))
newest_objects := $(patsubst %,build/ops/solutions/%.o,$(call served_by,$(lastword $(host_lessons))))

# What compiles kernels for the CPU device: its headers are compiled once for all, so depfiles do not name them.
simtcc_needs := build/simtcc build/simt-lower $(shell find checker/simt/include -type f) checker/ptx.h
$(call objects,$(wildcard checker/devices/simt/*.cpp)) build/obj/lessons/gpt2/placement_device.o build/obj/checker/simt/tests/half_test.o: \
    private more_flags := $(with_simt)

# Functions begin at the processor's cache lines: the speed of those called at each access depends by 10% on that, and so
# on the order in which objects are linked.
$(filter $(foreach part,access intrinsics races requests threads,build/obj/checker/simt/runtime/$(part)/%),$(simt_objects_alone)): \
    private more_flags := -falign-functions=64

$(filter %_api.o %/launch.o,$(simt_objects_alone)) $(simt_library_objects): private more_flags := $(counted_calls)

# Reading the standard library's headers is half of what compiling a file takes: those that many files include are compiled
# once, with and without optimisation. A file includes what it uses all the same, and where the compiler cannot use what is
# compiled, it reads the headers.
common_headers := algorithm array chrono cmath cstdint cstring deque filesystem fmt/format.h fmt/ranges.h fstream functional map \
    memory numeric optional span sstream stdexcept string string_view utility vector
optimised := -O2
headers = build/headers/$(optimised)/common.h
compiled_headers := build/headers/-O0/common.h.gch build/headers/-O2/common.h.gch
$(compiled_headers:.gch=): build/flags
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(common_headers) >$@
$(compiled_headers): build/headers/%/common.h.gch: build/headers/%/common.h
	$(Q)$(CXX) $(harness_flags) $* -MD -MP -MF $(<:.h=.d) -x c++-header $< -o $@
-include $(wildcard build/headers/*/common.d)
$(eval $(call announce,headers,the headers that most files read,$(compiled_headers)))

build/obj/%.o: %.cpp build/flags | $(compiled_headers)
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(optimised) -include $(headers) $(more_flags) $(depfile) -c $< -o $@$(hide)

$(foreach group,$(groups),$(eval build/obj/groups/$(group).o: $(group_$(group))))
$(group_objects): build/flags | $(compiled_headers)
	@mkdir -p $(@D)
	$(show)printf '#include "%s"\n' $(wildcard $(filter %.cpp,$^)) | \
	    $(CXX) $(harness_flags) $(optimised) -include $(headers) $(depfile) -x c++ -c - -o $@$(hide)

build/obj/lessons/%/check_main.o: checker/program/check_main.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) -DLESSON='"$*"' $(depfile) -c $< -o $@$(hide)

# The assembler reads these; the compiler's depfile does not name them.
build/obj/lessons/gpt2/embedded.o: reference/model/small/config.json reference/model/small/model.safetensors

# The assembler reads it.
build/obj/checker/estimate/cards.o: reference/cards.toml

# The roof is measured with the flags of the code that is measured against it.
build/obj/checker/clock/roof_kernels.o: checker/clock/roof_kernels.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(op_flags) -Werror $(depfile) -c $< -o $@$(hide)

# What reads and writes text, or leaves the work on numbers to others, is compiled without optimisation: it is most of what
# is compiled before the first check, and none of what a check waits for.
texts := $(filter $(addprefix build/obj/checker/,base/%.o estimate/cards.o cases/lesson_toml.o clock/roof_file.o),$(checker_objects))
$(texts) $(filter-out %/worker.o,$(group_objects)) $(lesson_dirs:%=build/obj/lessons/%/check.o): \
    private optimised := -O0

build/lib/libchecker.a: $(checker_objects)
build/lib/libgpt2.a: $(gpt2_objects)
build/lib/libops.a: $(libops_objects)
build/lib/libsolutions.a: $(newest_objects)
build/lib/%.a:
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

libs := build/lib/libchecker.a build/lib/libgpt2.a
$(eval $(call announce,checker,the checker,$(checker_objects)))
$(eval $(call announce,ops,what the lessons share,$(libops_objects) $(case_objects)))
$(eval $(call announce,gpt2,the model,$(filter-out $(libops_objects),$(gpt2_objects))))

# ---- tests -----------------------------------------------------------------------------------------------------------

harness_libs = $(deps_lib) -lgtest -lfmt -ldl -lpthread

checker_tests := $(patsubst checker/tests/%.cpp,build/tests/checker/%,$(wildcard checker/tests/*_test.cpp))
gpt2_tests := $(patsubst lessons/gpt2/tests/%.cpp,build/tests/gpt2/%,$(wildcard lessons/gpt2/tests/*_test.cpp))
test_programs := $(checker_tests) $(gpt2_tests)
checker_test_helpers := $(call objects,$(filter-out %_test.cpp,$(wildcard checker/tests/*.cpp)))
gpt2_test_helpers := $(call objects,$(filter-out %_test.cpp,$(wildcard lessons/gpt2/tests/*.cpp)))

build/tests/checker/fuzz_corpus_test: $(call objects,$(wildcard checker/fuzz/*.cpp))
# The same with the compiler's sanitizers, which see a read beyond an input.
sanitized := $(wildcard checker/fuzz/*.cpp) checker/tests/fuzz_corpus_test.cpp checker/base/json.cpp checker/cases/safetensors.cpp \
    $(addprefix lessons/gpt2/,loading.cpp tensors.cpp files.cpp)
build/sanitized/%.o: %.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all $(depfile) -c $< -o $@$(hide)
build/sanitized/fuzz_corpus_test: $(sanitized:%.cpp=build/sanitized/%.o) build/lib/libgpt2.a build/lib/libchecker.a
	$(Q)$(CXX) -fsanitize=address,undefined -o $@ $^ -lgtest_main $(harness_libs)
-include $(wildcard build/sanitized/*/*/*.d)

build/tests/checker/%: build/obj/checker/tests/%.o $(checker_test_helpers) $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lgtest_main $(harness_libs)

build/tests/checker/no_blas_test: build/dry/obj/no_blas.o
build/tests/checker/kept_test: build/obj/checker/base/kept.o
build/tests/checker/gpu_roof_test: build/obj/checker/devices/gpu/gpu_roof.o
build/tests/checker/no_backtrace_test: $(call objects,checker/simt/runtime/base/source.cpp checker/simt/no_backtrace.cpp)

# Implementations that do one thing wrong each: what end_to_end_test checks.
fakes := $(patsubst checker/tests/fakes/%.cpp,build/tests/fakes/%.so,$(wildcard checker/tests/fakes/*.cpp))
fake_headers := $(wildcard checker/tests/fakes/*.h) lessons/gpt2/context.h checker/resources.h
build/tests/fakes/%.so: checker/tests/fakes/%.cpp $(fake_headers) build/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) $(op_flags) -Werror -shared $< -o $@
build/tests/checker/end_to_end_test build/tests/checker/bench_test: | $(fakes)
build/tests/checker/progress_test: | build/tools/progress
build/tests/checker/gpu_tool_test: | $(fakes) build/tools/gpu
build/tests/checker/gpu_dry_run_test: | $(fakes) build/tools/wrong build/dry/wrong/commands build/simtcc build/tools/gpu

# The same for kernels: a check program with the CPU device, and shared objects that it loads.
device_fakes := $(patsubst checker/tests/fakes/%.cu,build/tests/fakes/%.so,$(wildcard checker/tests/fakes/*.cu))
$(device_fakes): build/tests/fakes/%.so: checker/tests/fakes/%.cu $(fake_headers) $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)build/simtcc -shared $(device_flags) -Xcompiler -Werror $< -o $@$(hide)
build/tests/checker/device_end_to_end_test: build/obj/checker/tests/device_end_to_end_test.o $(simt_backend_objects) $(libs) | $(device_fakes)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(simt_libs) $(harness_libs)

# Its toy lesson with the GPU's side, which gpu_dry_run_test runs.
build/dry/check/toy: build/obj/checker/tests/programs/toy_check.o $$(gpu_backend_dry) build/obj/checker/base/kept.o $(libs) \
        build/lib/libops.a | build/tests/fakes/toy_on_device.so
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(simt_libs) $(harness_libs)
build/tests/checker/gpu_dry_run_test: | build/dry/check/toy

build/tests/gpt2/check_test build/tests/gpt2/model_call_test: $(case_objects) build/dry/obj/no_blas.o
build/tests/gpt2/%: build/obj/lessons/gpt2/tests/%.o $(gpt2_test_helpers) build/lib/libsolutions.a $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lgtest_main $(harness_libs)
test_objects := $(checker_tests:build/tests/checker/%=build/obj/checker/tests/%.o) \
    $(gpt2_tests:build/tests/gpt2/%=build/obj/lessons/gpt2/tests/%.o) $(checker_test_helpers) $(gpt2_test_helpers)
# A test is compiled once for each time it runs, and its own code is not what takes time. GoogleTest's header is compiled
# for all of them.
build/obj/tests.h: build/flags
	@mkdir -p $(@D)
	@printf '#include <%s>\n' gtest/gtest.h $(common_headers) >$@
build/obj/tests.h.gch: build/obj/tests.h
	$(Q)$(CXX) $(harness_flags) -O0 -MD -MP -MF build/obj/tests.d -x c++-header $< -o $@
-include $(wildcard build/obj/tests.d)
$(test_objects): private optimised := -O0
$(test_objects): private headers := build/obj/tests.h
$(test_objects): | build/obj/tests.h.gch
$(eval $(call announce,tests,the tests,$(test_objects)))

build/calibrate: build/obj/checker/clock/calibrate_main.o build/lib/libchecker.a
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

# CUDA's programs: scripts/cuda.sh says where they are when PATH does not name them. NVCC_CXX is nvcc's host compiler, where it
# is not to be the g++ that nvcc takes by itself.
export PATH := $(PATH)$(shell scripts/cuda.sh --path)
export NVCC_CXX ?=
run_nvcc := nvcc$(NVCC_CXX:%= -ccbin %)
# CUDA counts cards as nvidia-smi does, not the fastest first: the card that is compiled for, that is measured and that a
# report names is the same, the first one or CUDA_VISIBLE_DEVICES's first.
export CUDA_DEVICE_ORDER := PCI_BUS_ID
# The GPU's roof, where nvcc is: device code for the cards of the course, and PTX for later ones.
nvcc := $(shell PATH='$(PATH)' command -v nvcc)
nvdisasm := $(shell PATH='$(PATH)' command -v nvdisasm)
# The system's Python, which holds PyTorch where there is a GPU; what measures nothing takes the one of the tests.
report_python := $(or $(PYTHON),$(if $(filter-out 0,$(DRY) $(PLAN) $(MERGE)),$(wildcard .venv/bin/python)),python3)
# cuBLAS: CUBLAS=DIR is a folder that has its include/ and lib/; else what make test-all has fetched for this nvcc's release;
# else nvcc's toolkit, where it has cuBLAS; else a package of the Python that holds PyTorch. Asked once, and only where it is
# used: cublas_elsewhere is empty where the toolkit has cuBLAS, "none" where neither has.
cuda_major = $(eval cuda_major := $(if $(nvcc),$(shell $(nvcc) --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')))$(cuda_major)
cublas_elsewhere = $(eval cublas_elsewhere := $(if $(nvcc),$(shell scripts/cuda.sh --cublas '$(report_python)' || echo none),none))$(cublas_elsewhere)
CUBLAS ?= $(if $(wildcard build/cublas/*/nvidia),$(lastword $(wildcard build/cublas/$(cuda_major)/nvidia/*)),$(filter-out none,$(cublas_elsewhere)))
# Not empty where cuBLAS's headers are there. What compiles all that is for nvcc asks that when make begins.
has_cublas = $(if $(CUBLAS),$(wildcard $(CUBLAS)/include/cublas_v2.h),$(if $(cublas_elsewhere),,yes))
cublas_header := $(if $(filter test test-all test-borrowed for-nvcc sass-table build/nvcc/%,$(MAKECMDGOALS)),$(has_cublas),not asked)
cublas_include = $(CUBLAS:%=-isystem %/include)
# The op files that call it, as NN_name/OP; its libraries, for nvcc, and for a program of the objects $1.
cublas_ops := $(if $(nvcc),$(patsubst solutions/%.cu,%,$(shell grep -lsE 'include .(checker/)?cublas' $(filter %.cu,$(solution_files)))))
cublas_libs = $(or $(wildcard $(CUBLAS:%=%/lib/libcublas*.so.*)),-lcublas -lcublasLt) \
    $(foreach folder,$(CUBLAS),-Wl$(comma)-rpath$(comma)$(abspath $(folder))/lib)
nvcc_cublas = $(or $(foreach library,$(wildcard $(CUBLAS:%=%/lib/libcublas*.so.*)),-L$(dir $(library)) -l:$(notdir $(library)) \
    -Xlinker -rpath=$(abspath $(dir $(library)))),-lcublas -lcublasLt $(cuda_lib:%=-Xlinker -rpath=%))
cublas = $(if $(filter $(cublas_ops:%=\%/%.o),$1),-Wl$(comma)--as-needed $(cublas_libs) -Wl$(comma)--no-as-needed)
# Variables of a command that runs a program for a GPU: they name the libraries that it loads, if only a Python package or
# CUBLAS=DIR has them. What the caller names stays.
at_run_time = $(if $(nvcc),$(addprefix SOL_CUBLAS=,$(if $(SOL_CUBLAS),,$(firstword $(wildcard $(CUBLAS:%=%/lib/libcublas.so.*))))) \
    $(addprefix SOL_CUPTI=,$(if $(SOL_CUPTI),,$(shell scripts/cuda.sh --cupti '$(report_python)'))))
calibrate_gpu := $(if $(nvcc),build/calibrate-gpu)

# What a recipe has written beside its target replaces it where it is another: what depends on the target is made anew then.
new_if_other = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# What nvcc compiles is compiled anew by another nvcc, host compiler or C library; and not before they have compiled an empty
# file, so that what is wrong with them is one line and no error in a kernel.
build/toolkit: FORCE
	@mkdir -p $(@D)
	@scripts/cuda.sh --toolkit >$@.new || { scripts/cuda.sh --compiles >&2; rm $@.new; exit 1; }
	@cmp -s $@.new $@ || scripts/cuda.sh --compiles >&2 || { rm $@.new; exit 1; }
	@$(new_if_other)

# What measures the GPU's roof is compiled for the card that is here, since an older driver of the same release refuses newer
# PTX; where none is here, or none can be used, for the course's cards.
cards := -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=[sm_80,compute_80] \
    -gencode arch=compute_90a,code=sm_90a
build/nvcc/calibrate/card: $$(if $$(gpu_seen),build/tools/gpu) FORCE
	@mkdir -p $(@D)
	@if card=$$($(if $(gpu_seen),build/tools/gpu --arch 2>/dev/null,false)); then echo "-arch=sm_$$card"; else echo '$(cards)'; fi >$@.new
	@$(new_if_other)
calibrate_gpu_objects := build/nvcc/calibrate/calibrate_gpu.o build/nvcc/calibrate/gpu_launch.o
$(calibrate_gpu_objects): build/nvcc/calibrate/%.o: checker/devices/gpu/%.cu $(checker_headers) build/toolkit build/nvcc/calibrate/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) -std=c++20 -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror $$(cat build/nvcc/calibrate/card) -I. $(deps_include) \
	    -c $< -o $@$(hide)
build/calibrate-gpu: $(calibrate_gpu_objects) build/obj/checker/devices/gpu/gpu_roof.o build/obj/checker/clock/timing.o
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(cudart) -ldl
$(eval $(call announce,calibrate-gpu,the GPU's calibration,$(if $(nvcc),$(calibrate_gpu_objects))))

# Every kernel file compiles for cards too; warnings are errors. Where helpers lie is said in make/ops.mk, which is read later.
codes := -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a
nvcc_flags = -std=c++20 -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -I. $(include_solutions) $(cublas_include) $(codes)
build/nvcc/gpu_launch.o: checker/devices/gpu/gpu_launch.cu $(checker_headers) build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) -c $< -o $@$(hide)
# What ptxas says of registers and spills stands beside the object.
build/nvcc/ops/%.o build/nvcc/ops/%.ptxas: %.cu build/flags build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) -Xptxas -v -MMD -MP -MF build/nvcc/ops/$*.d -c $< -o build/nvcc/ops/$*.o 2>build/nvcc/ops/$*.ptxas || { \
	    cat build/nvcc/ops/$*.ptxas >&2; false; }$(hide)
# Without cuBLAS's headers those that call it are left out, and a test of reference/tests/test_sass.py names them as skipped.
left_out := $(if $(cublas_header),,$(cublas_ops))
nvcc_objects := $(if $(nvcc),$(patsubst %.cu,build/nvcc/ops/%.o,$(filter-out $(left_out:%=solutions/%.cu),$(filter %.cu,$(solution_files)))))
# They link: one program that holds the newest of each op, and the GPU's side of the newest lesson's check.
nvcc_program := $(if $(nvcc_objects),build/nvcc/all)
newest_lesson := $(lastword $(foreach lesson,$(lesson_dirs),$(if $(filter $(left_out),$(call served_by,$(lesson))),,$(lesson))))
build/nvcc/all: $$(call objects_of,nvcc,solutions,$$(call served_by,$$(newest_lesson))) build/nvcc/gpu_launch.o \
        build/gpu/obj/checker/devices/gpu/gpu_backend.o build/gpu/obj/no_blas.o $$(call check_of,$$(newest_lesson)) \
        $(case_objects) $(libs) | $(nvcc_objects)
	$(Q)$(CXX) -o $@ $^ $(cudart) $(call cublas,$^) $(harness_libs)
$(eval $(call announce,nvcc,the kernels for sm_80 and sm_90a,$(nvcc_objects)))

# checker/ptx.h compiles for all cards of the course: those without an instruction do what it does another way, or trap. So do the
# rules that the CPU device's counters are held to; of their recursive kernel ptxas cannot say how deep its stack is.
nvcc_ptx := $(if $(nvcc),build/nvcc/ptx.o build/nvcc/matrices.o build/nvcc/rules.o)
build/nvcc/ptx.o build/nvcc/matrices.o build/nvcc/rules.o: private codes += -gencode arch=compute_75,code=sm_75
rule_files := $(addprefix checker/simt/tests/,rules.cu objects/traffic.cu objects/traffic.h) checker/ptx.h
rule_flags := -Xptxas --suppress-stack-size-warning
build/nvcc/rules.o: $(rule_files) build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) $(rule_flags) -c $< -o $@$(hide)
build/nvcc/ptx.o: checker/simt/tests/kernels/correct/async_copy_of_all_sizes.cu checker/ptx.h build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) -c $< -o $@$(hide)
build/nvcc/matrices.o: checker/simt/tests/kernels/correct/ldmatrix_of_each_size.cu checker/simt/tests/matrices.h checker/ptx.h build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) -c $< -o $@$(hide)

# The programs that lessons give to run and look at, which call cuBLAS only where nvcc has it.
given_programs := $(filter-out $(patsubst solutions/%,lessons/%,$(solution_files)),$(wildcard lessons/[0-9][0-9]_*/*.cu))
nvcc_given := $(if $(nvcc),$(patsubst lessons/%.cu,build/nvcc/given/%.o,$(filter-out \
    $(if $(cublas_header),,$(shell grep -ls cublas /dev/null $(given_programs))),$(given_programs))))
$(nvcc_given): build/nvcc/given/%.o: lessons/%.cu build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) -c $< -o $@$(hide)

# Where nvcc has cuBLAS, the calls that the CPU device is held to compile with its headers and link with it. Two need no card:
# libraries_test runs them.
nvcc_calls := $(if $(and $(nvcc),$(cublas_header)),$(patsubst checker/simt/tests/%.cu,build/nvcc/simt/%,$(wildcard checker/simt/tests/libraries/*.cu)) \
    $(addprefix build/nvcc/simt/kernels/correct/,cublas_without_a_handle cublas_lt_descriptors))
$(nvcc_calls): build/nvcc/simt/%: checker/simt/tests/%.cu build/toolkit
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(nvcc_flags) $< -o $@ $(nvcc_cublas)$(hide)

# ---- tools ----------------------------------------------------------------------------------------------------------

build/tools/ops: build/obj/lessons/gpt2/ops_main.o $(case_objects) build/dry/obj/no_blas.o $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

tools := $(patsubst checker/tools/%.cpp,build/tools/%,$(wildcard checker/tools/*.cpp))
$(foreach tool,$(notdir $(tools)),$(eval $(call announce,tool-$(tool),build/tools/$(tool),build/obj/checker/tools/$(tool).o)))
$(tools:build/tools/%=build/obj/checker/tools/%.o) $(patsubst %,build/obj/lessons/gpt2/%.o,ops_main main bench_main): private optimised := -O0
build/tools/wrong: build/obj/checker/base/kept.o
build/tools/%: build/obj/checker/tools/%.o $(libs)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

-include $(wildcard build/obj/*/*.d build/obj/*/*/*.d build/obj/*/*/*/*.d build/obj/*/*/*/*/*.d)
