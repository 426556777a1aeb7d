# SPDX-License-Identifier: MIT
#
# Objects of ops, implementations to judge, check programs: the same for each variant of the build.
#
#   VARIANT/ops/SIDE/NN_name/OP.o       one object for each op file; SIDE is solutions or lessons
#   VARIANT/impl/SIDE/NN_name/OP.so     an implementation to judge OP by: that object, and the solution's object for
#                                       every other op, so that one wrong file never spoils another's verdict
#   VARIANT/impl/SIDE/NN_name/model.so  of a step: all the lesson's objects of SIDE, and the solution's of every other op
#   VARIANT/check/lessonNN              the check program of a lesson
#
#   cpu    build            what the checks load: C++ by g++; kernels for the CPU device, checked
#   dry    build/dry        kernels for the CPU device, unchecked: the gpt2 program's, and a rehearsal's (DRY=1)
#   debug  build/debug      kernels for the CPU device as a debugger wants them
#   arith  build/arith      kernels for the CPU device that count their floating-point operations too
#   gpu    build/gpu        kernels by nvcc for the card that is here
#   nvcc   build/nvcc       kernels by nvcc for the cards of the course: objects only, a test
#
# C++ is host code for every variant: its objects are those of cpu.

root_cpu := build
$(foreach variant,dry debug arith gpu nvcc,$(eval root_$(variant) := build/$(variant)))

# A target's variant; the parts of X in VARIANT/ops/X and VARIANT/impl/X.
variant = $(or $(filter dry debug arith gpu,$(word 2,$(subst /, ,$@))),cpu)
side = $(word 1,$(subst /, ,$*))
lesson = $(word 2,$(subst /, ,$*))
op = $(word 3,$(subst /, ,$*))

# $1 variant, $2 side, $3 lesson/op …
objects_of = $(foreach file,$3,$(if $(filter solutions/$(file).cpp,$(solution_files)),build,$(root_$1))/ops/$2/$(file).o)

# ---- objects ----------------------------------------------------------------------------------------------------------

# Most of what compiling an op takes would be the standard library's headers: those that the headers of every op file include
# are compiled once, for C++ by the rule below, for kernels by simtcc.
included_by = $(sort $(shell sed -n 's/^.include <\([a-z_]*\)>$$/\1/p' $1))
included_by_ops := $(call included_by,lessons/gpt2/ops.h lessons/gpt2/context.h checker/resources.h)
included_by_kernels := $(sort $(included_by_ops) $(call included_by,lessons/gpt2/launch.h checker/cuda_check.h checker/status_error.h))
op_header := build/headers/ops/common.h
$(op_header): lessons/gpt2/context.h checker/resources.h lessons/gpt2/ops.h build/flags
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(included_by_ops) >$@
$(op_header).gch: $(op_header)
	$(Q)$(CXX) $(op_flags) -MD -MP -MF $(<:.h=.d) -x c++-header $< -o $@
compile_op_on_host = $(CXX) $(op_flags) -include $(op_header)

device_flags := -std=c++20 -I. --included $(subst $(space),$(comma),$(included_by_kernels)) -Xcompiler -fPIC,-Wall,-Wextra
compile_cpu = build/simtcc $(device_flags)
compile_dry = build/simtcc --unchecked $(device_flags)
compile_debug = build/simtcc --for-debugger $(device_flags)
compile_arith = build/simtcc --arithmetic $(device_flags)
compile_gpu = $(run_nvcc) $(gpu_flags) -Xcompiler -fPIC,-Wall,-Wextra
warnings_solutions := -Werror
warnings_lessons := -Wno-unused -Wno-unused-parameter
# Of a stub nvcc would tell, for each name that the learner has yet to use, that it is not used.
nvcc_warnings_lessons := -diag-suppress 177,550 -Xcompiler $(subst $(space),$(comma),$(warnings_lessons))
nvcc_warnings_solutions := -Werror all-warnings

# Op files include the helpers of their own lesson as "X.cuh", those of an earlier one as "NN_name/X.cuh". Of these a solution
# takes the solution's. A learner's file takes the learner's; while that is still the stub, the solution's, and the check says
# so.
include_solutions := -Isolutions
include_lessons := -Ibuild/helpers
helpers := $(helper_files:solutions/%=build/helpers/%)
$(helpers): build/helpers/%: lessons/% solutions/% | build/tools/stubs
	@mkdir -p $(@D)
	$(Q)if build/tools/stubs --print stub solutions/$* | cmp -s - $<; then side=solutions; else side=lessons; fi; \
	    echo "#include \"$$side/$*\"" >$@
# $1 variants: the objects of those lessons that may include one, on the learner's side.
after_helpers = $(filter-out $(call up_to,$(firstword $(subst /, ,$(helper_files:solutions/%=%)))),$(device_lessons))
ifneq ($(helpers),)
$(foreach variant,cpu dry debug arith gpu,$(foreach lesson,$(after_helpers),$(addprefix $(root_$(variant))/ops/lessons/$(lesson)/,$(addsuffix \
    .o,$(call ops_of,$(lesson)))))): | $(helpers)
endif

# A learner's file that does not compile is a finding, not a failure of make: the diagnostics are shown, no object is
# left, and the check says so. The other files of the lesson are checked all the same. Where nothing can be written, make
# fails: an older object would speak for a file that it does not come from. A template's error comes once for each of its
# instances: the first lines tell it. The gpt2 program's objects say nothing: those of the check have.
learner_failed = || rm -f $@ || exit 2; if [ -t 2 ]; then printf '\r\033[K' >&2; fi; $(if $(filter dry,$(variant)),,\
    awk 'NR <= 24; END { if (NR > 24) print "... and " NR - 24 " more lines in " FILENAME }' $(@:.o=.log) >&2)
color = -fdiagnostics-color=$$([ -t 2 ] && echo always || echo never)

# $1 the compiler
define compile_op
@mkdir -p $(@D)
$(if $(filter lessons,$(side)),@: >$(@:.o=.log))
$(show)$1 $(more_flags) $(depfile) -c $< -o $@$(if $(filter lessons,$(side)), >$(@:.o=.log) 2>&1$(learner_failed),$(hide))
endef
space_to_comma = $(subst $(space),$(comma),$(strip $1))
kernel_options = $(include_$(side)) -Xcompiler $(call space_to_comma,$(warnings_$(side)) $(if $(filter lessons,$(side)),-ftemplate-backtrace-limit=1))

build/ops/%.o: %.cpp build/flags | $(op_header).gch
	$(call compile_op,$(compile_op_on_host) $(warnings_$(side)) $(if $(filter lessons,$(side)),$(color)))
build/ops/%.o: %.cu $(simtcc_needs)
	$(call compile_op,$(compile_cpu) $(kernel_options))
build/dry/ops/%.o: %.cu $(simtcc_needs)
	$(call compile_op,$(compile_dry) $(kernel_options))
build/debug/ops/%.o: %.cu $(simtcc_needs)
	$(call compile_op,$(compile_debug) $(kernel_options))
build/arith/ops/%.o: %.cu $(simtcc_needs)
	$(call compile_op,$(compile_arith) $(kernel_options))
build/gpu/ops/%.o: %.cu build/gpu/card
	$(call compile_op,$(compile_gpu) $(nvcc_warnings_$(side)) $(kernel_options))

# A shared op runs on the device's track too, where reading the device's memory is a finding at a line of it.
$(foreach op,$(shared_ops),$(patsubst %.cpp,build/ops/%.o,$(foreach side,solutions lessons,\
    $(patsubst solutions/%,$(side)/%,$(filter %/$(op).cpp,$(solution_files)))))): private more_flags := -g1

-include $(wildcard $(foreach variant,cpu dry debug arith gpu nvcc,$(root_$(variant))/ops/*/*/*.d))

# ---- implementations --------------------------------------------------------------------------------------------------

# $1 lesson, $2 op: the file that serves the op there, the lesson's own if it has one; the files that serve the others.
own = $(if $(filter $2,$(call ops_of,$1)),$1/$2,$(or $(filter %/$2,$(call served_by,$1)),$1/$2))
others = $(filter-out %/$2,$(call served_by,$1))
impl_objects = $(call objects_of,$(variant),$(side),$(call own,$(lesson),$(op))) \
    $(call objects_of,$(variant),solutions,$(call others,$(lesson),$(op)))
# An op's callees count their arithmetic too; the check has built the rest. make 4.3 expands this
# for each target of every command, so that one look at all files, lessons/NN_name/OP.cu:called, serves them all.
its_others = $(call others,$(lesson),$(op))
own_file = $(side)/$(call own,$(lesson),$(op)).cu
calls_in_files := $(sort $(shell grep -oswE '$(subst $(space),|,$(all_ops))' /dev/null \
    $(filter %.cu,$(solution_files) $(solution_files:solutions/%=lessons/%))))
called = $(filter $(patsubst $(own_file):%,\%/%,$(filter $(own_file):%,$(calls_in_files))),$(its_others))
arith_objects = $(call objects_of,arith,$(side),$(call own,$(lesson),$(op))) $(call objects_of,arith,solutions,$(called)) \
    $(call objects_of,cpu,solutions,$(filter-out $(called),$(its_others)))

# What a kernel's object lacks, the check program has: the CPU device's runtime.
link_impl = $(CXX) -shared -Wl,-Bsymbolic$(if $(filter $(host_lessons),$(lesson)),$(comma)-z$(comma)defs) -o $@ \
    $(filter %.o,$^) build/lib/libops.a $(if $(filter gpu,$(variant)),$(cudart) $(call cublas,$^))
define make_impl
@mkdir -p $(@D)
$(Q)$(if $(filter solutions,$(side)),$(link_impl),if [ -f $< ]; then \
    $(link_impl) 2>$(<:.o=.log) || { rm -f $@; cat $(<:.o=.log) >&2; }; else rm -f $@; fi)
endef

# $1 variants, $2 sides, $3 lessons, $4 ops; without ops those that are judged.
impls = $(foreach variant,$1,$(foreach side,$2,$(foreach lesson,$3,$(patsubst %,$(root_$(variant))/impl/$(side)/$(lesson)/%.so,\
    $(or $4,$(call judged_ops,$(lesson)))))))
sides := solutions lessons

# `older` in a lesson.toml times the op as the step before has it: that lesson's ops around the file that serves it there.
# The word outside a comment counts, however the key is spelled. One build too many costs time, one too few a verdict.
beside_older := $(call lessons_whose_toml_has,^[^$(number_sign)]*\<older\>)
its_track = $(filter $(if $(filter $1,$(host_lessons)),$(host_lessons),$(device_lessons)),$(lesson_dirs))
step_before = $(lastword $(filter-out $1,$(filter $(its_track),$(call up_to,$1))))
replaced_ops = $(filter $(call ops_of,$1),$(notdir $(call served_by,$(call step_before,$1))))
# $1 variant, $2 lesson
step_before_impls = $(if $(filter $2,$(beside_older)),$(if $(call replaced_ops,$2),\
    $(call impls,$1,solutions,$(call step_before,$2),$(call replaced_ops,$2))))

$(sort $(call impls,cpu,$(sides),$(lesson_dirs)) $(foreach lesson,$(host_lessons),$(call step_before_impls,cpu,$(lesson)))): \
        build/impl/%.so: $$(impl_objects) build/lib/libops.a
	$(make_impl)
$(sort $(call impls,dry,$(sides),$(device_lessons)) $(foreach lesson,$(device_lessons),$(call step_before_impls,dry,$(lesson)))): \
        build/dry/impl/%.so: $$(impl_objects) build/lib/libops.a
	$(make_impl)
$(call impls,debug,$(sides),$(device_lessons)): build/debug/impl/%.so: $$(impl_objects) build/lib/libops.a
	$(make_impl)
$(call impls,arith,$(sides),$(device_lessons)): build/arith/impl/%.so: $$(arith_objects) build/lib/libops.a
	$(make_impl)
$(sort $(call impls,gpu,$(sides),$(device_lessons)) $(foreach lesson,$(device_lessons),$(call step_before_impls,gpu,$(lesson)))): \
        build/gpu/impl/%.so: $$(impl_objects) build/lib/libops.a
	$(make_impl)

# The whole step. Where an object of the learner's is missing, an op's verdict says why; what the linker refuses is a finding.
model_objects = $(foreach file,$(call served_by,$(lesson)),\
    $(call objects_of,$(variant),$(if $(filter $(lesson)/%,$(file)),$(side),solutions),$(file)))
model_log = $(root_$(variant))/ops/$(side)/$(lesson)/model.log
define make_model
@mkdir -p $(@D) $(dir $(model_log))
$(Q)rm -f $@ $(model_log); for object in $(filter %.o,$^); do [ -f $$object ] || exit 0; done; \
    $(link_impl) 2>$(model_log) || { rm -f $@; $(if $(filter solutions,$(side)),cat $(model_log) >&2; false,true); }
endef
# $1 variants, $2 sides, $3 lessons
models = $(foreach variant,$1,$(foreach side,$2,$(patsubst %,$(root_$(variant))/impl/$(side)/%/model.so,$(filter $(steps),$3))))
$(foreach variant,cpu dry gpu,$(eval $(call models,$(variant),$(sides),$(if $(filter cpu,$(variant)),$(steps),$(device_steps))): \
        $(root_$(variant))/impl/%/model.so: $$$$(model_objects) build/lib/libops.a ; $$(make_model)))

# Said before the first is built.
$(foreach lesson,$(lesson_dirs),$(eval $(call announce,solution-$(lesson),the solution of lesson $(call number,$(lesson)),\
    $(call objects_of,cpu,solutions,$(addprefix $(lesson)/,$(call ops_of,$(lesson)))))))
$(foreach lesson,$(device_lessons),$(foreach side,$(sides),$(eval $(call announce,debug-$(side)-$(lesson),kernels for the debugger,\
    $(filter build/debug/%,$(call objects_of,debug,$(side),$(addprefix $(lesson)/,$(call ops_of,$(lesson)))))))))
$(foreach lesson,$(device_lessons),$(foreach side,$(sides),$(eval $(call announce,arith-$(side)-$(lesson),kernels that count arithmetic,\
    $(filter build/arith/%,$(call objects_of,arith,$(side),$(addprefix $(lesson)/,$(call ops_of,$(lesson)))))))))

# ---- check programs ---------------------------------------------------------------------------------------------------

blas := -Wl,--as-needed -lopenblas -Wl,--no-as-needed
check_libs := build/lib/libchecker.a build/lib/libops.a
with_blas := $(case_objects) build/obj/checker/cases/blas.o
define link_check
@mkdir -p $(@D)
$(Q)$(CXX) -o $@ $^ $(if $(filter gpu,$(variant)),$(cudart),$(if $(filter %/scheduler.o,$^),$(simt_libs))) \
    $(harness_libs) $(if $(filter %/blas.o,$^),$(blas))
endef
# Of a folder: what its check has of its own, if anything, and its name.
check_of = $(call objects,$(wildcard lessons/$1/check.cpp)) build/obj/lessons/$1/check_main.o
check_objects = $(call check_of,$(call named,$*))
host_checks := $(patsubst %,build/check/lesson%,$(filter-out $(device_numbers),$(numbers)))
# $1 variant
device_checks = $(device_numbers:%=$(root_$1)/check/lesson%)
check_programs := $(host_checks) $(call device_checks,cpu)

# A check program brings the older solutions that its targets time. report-programs names them itself: then a newer lesson
# keeps its check if an older solution does not compile. $1 variant, $2 lesson
timed_beside = $(if $(filter report-programs,$(MAKECMDGOALS)),,$(call step_before_impls,$1,$2))
$(host_checks): build/check/lesson%: $$(check_objects) $(with_blas) $(check_libs) | $$(call timed_beside,cpu,$$(call named,$$*))
	$(link_check)
$(call device_checks,cpu): build/check/lesson%: $$(check_objects) $(with_blas) $(simt_backend_objects) $(check_libs)
	$(link_check)
$(call device_checks,dry): build/dry/check/lesson%: $$(check_objects) $$(gpu_backend_dry) $(check_libs) \
        | $$(call timed_beside,dry,$$(call named,$$*))
	$(link_check)
$(call device_checks,gpu): build/gpu/check/lesson%: $$(check_objects) $$(gpu_backend_gpu) $(check_libs) \
        | $$(call timed_beside,gpu,$$(call named,$$*))
	$(link_check)

# Any lesson's matmul, timed; ladder-device counts it on the CPU device.
ladder_check := $(call check_of,ladder)
build/check/ladder: $(ladder_check) $(with_blas) $(check_libs)
	$(link_check)
build/check/ladder-device: $(ladder_check) $(with_blas) $(simt_backend_objects) $(check_libs)
	$(link_check)
build/dry/check/ladder: $(ladder_check) $$(gpu_backend_dry) $(check_libs)
	$(link_check)
build/gpu/check/ladder: $(ladder_check) $$(gpu_backend_gpu) $(check_libs)
	$(link_check)
