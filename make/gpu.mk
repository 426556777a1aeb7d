# SPDX-License-Identifier: MIT
#
# The build for a GPU: the same kernel files by nvcc, for the card that is here, under build/gpu. DRY=1 rehearses it
# under build/dry where there is none: the same programs, with the CPU device, unchecked, in the card's place.
#
#   gpu/card                the card's architecture, such as 90a
#   {gpu,dry}/impl/...      as build/impl
#   {gpu,dry}/check/        as build/check, with the GPU's side of the checker

dry := $(filter-out 0,$(DRY))
gpu := $(if $(dry),build/dry,build/gpu)
device_lessons := $(filter-out $(host_lessons),$(lesson_dirs))

# Where nvcc has its headers and libraries; taken from what it says it would do. Asked once, and only where it is used.
nvcc_says = $(shell nvcc --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^...$1.*"-$2\([^"]*\)".*/\1/p')
cuda_include = $(eval cuda_include := $(call nvcc_says,INCLUDES=,I))$(cuda_include)
cuda_lib = $(eval cuda_lib := $(call nvcc_says,LIBRARIES=,L))$(cuda_lib)
cudart = -L$(cuda_lib) -lcudart -Wl,-rpath,$(cuda_lib)

# What does not change is not written again: a newer file would compile every kernel anew.
build/gpu/card: build/tools/gpu FORCE
	@mkdir -p $(@D)
	@build/tools/gpu --arch >$@.new || { rm -f $@.new; exit 1; }
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# -lineinfo: profilers and compute-sanitizer name lines of the file.
card_flags := -std=c++20 -O3 -lineinfo -I.
gpu_flags = $(card_flags) -arch=sm_$$(cat build/gpu/card)
gpu_depfile = -MMD -MP -MF $(@:.o=.d)
build/gpu/ops/solutions/%.o: solutions/%.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)nvcc $(gpu_flags) -Werror all-warnings -Xcompiler -fPIC,-Wall,-Wextra,-Werror $(gpu_depfile) -c $< -o $@$(hide)
build/gpu/ops/lessons/%.o: lessons/%.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)nvcc $(gpu_flags) -Xcompiler -fPIC,-Wall,-Wextra,-Wno-unused,-Wno-unused-parameter $(gpu_depfile) -c $< -o $@ \
	    >$(@:.o=.log) 2>&1$(learner_failed)

# The GPU's side of the checker: host code by the C++ compiler, launches by nvcc; for the rehearsal both for the CPU device.
# no_blas: a machine with a GPU need not have OpenBLAS.
side_names := gpu_side gpu_launch no_blas
build/gpu/obj/gpu_side.o: checker/gpu/gpu_side.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) -isystem $(cuda_include) $(depfile) -c $< -o $@$(hide)
build/gpu/obj/gpu_launch.o: checker/gpu/gpu_launch.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)nvcc $(gpu_flags) -Werror all-warnings -Xcompiler -fPIC,-Wall,-Wextra,-Werror $(gpu_depfile) -c $< -o $@$(hide)
build/gpu/obj/placement_device.o: lessons/gpt2/placement_device.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) -isystem $(cuda_include) $(depfile) -c $< -o $@$(hide)
build/dry/obj/gpu_side.o: checker/gpu/gpu_side.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(with_simt) $(depfile) -c $< -o $@$(hide)
build/dry/obj/gpu_launch.o: checker/gpu/gpu_launch.cu $(checker_headers) | build/simtcc build/simt-lower
	@mkdir -p $(@D)
	$(show)build/simtcc --unchecked $(device_flags) -Xcompiler -Werror -c $< -o $@$(hide)
build/%/obj/no_blas.o: checker/cases/no_blas.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(solutions_flags) $(depfile) -c $< -o $@$(hide)
side_objects = $(side_names:%=build/$1/obj/%.o) $(if $(filter dry,$1),$(simt_objects_alone))
side_libs = $(if $(filter dry,$1),$(simt_libs),$(cudart))
# In a rehearsal the op objects are those of the gpt2 program on the CPU device.
side_ops = $(if $(filter dry,$1),build/fast-ops,build/gpu/ops)

# $1 gpu or dry, $2 lesson, $3 op
define gpu_impl_rules
build/$1/impl/solutions/$2/$3.so: $(call side_ops,$1)/solutions/$2/$3.o \
        $(patsubst %,$(call side_ops,$1)/solutions/%.o,$(filter-out %/$3,$(served_$(call number,$2)))) $(op_table) build/lib/libgpt2.a
	@mkdir -p $$(@D)
	$(Q)$$(link_device_impl) $(if $(filter gpu,$1),$$(cudart))
build/$1/impl/lessons/$2/$3.so: $(call side_ops,$1)/lessons/$2/$3.o \
        $(patsubst %,$(call side_ops,$1)/solutions/%.o,$(filter-out %/$3,$(served_$(call number,$2)))) $(op_table) build/lib/libgpt2.a
	@mkdir -p $$(@D)
	$(Q)if [ -f $$< ]; then $$(link_device_impl) $(if $(filter gpu,$1),$$(cudart)); else rm -f $$@; fi
endef
# $3 the check's folder
define gpu_check_rule
build/$1/check/$2: build/obj/lessons/$3/check.o $(case_objects) $(call side_objects,$1) $(libs)
	@mkdir -p $$(@D)
	$(Q)$(CXX) -o $$@ $$^ $$(call side_libs,$1) $$(harness_libs)
endef
$(foreach side,gpu dry,$(eval $(call gpu_check_rule,$(side),ladder,ladder))$(foreach lesson,$(device_lessons),\
    $(eval $(call gpu_check_rule,$(side),lesson$(call number,$(lesson)),$(lesson)))\
    $(foreach op,$(call ops_of,$(lesson)),$(eval $(call gpu_impl_rules,$(side),$(lesson),$(op))))))

# $1 gpu or dry: what its check programs and solutions are.
gpu_checks = $(foreach lesson,$(device_lessons),build/$1/check/lesson$(call number,$(lesson)))
gpu_impls = $(foreach lesson,$(device_lessons),$(patsubst %,build/$1/impl/$2/$(lesson)/%.so,$(call ops_of,$(lesson))))

# What tools/wrong compiles and links with for a GPU.
build/gpu/wrong/commands build/dry/wrong/commands: build/%/wrong/commands: build/flags $(solution_files)
	$(shell mkdir -p $(@D))$(file >$@,compile.cu $(if $(filter dry,$*),build/simtcc --unchecked $(device_flags),\
	    nvcc $(gpu_flags) -Xcompiler -fPIC))
	$(file >>$@,link.cu $(CXX) -shared -Wl$(comma)-Bsymbolic)
	$(foreach lesson,$(device_lessons),$(foreach op,$(call ops_of,$(lesson)),$(file >>$@,$(lesson)/$(op) \
	    $(patsubst %,$(call side_ops,$*)/solutions/%.o,$(filter-out %/$(op),$(served_$(call number,$(lesson))))) \
	    $(op_table) build/lib/libgpt2.a $(if $(filter gpu,$*),$(cudart)))))@:

# What the CPU device's counters are held to.
build/gpu/simt/rules: $(rule_files) build/gpu/card
	@mkdir -p $(@D)
	$(show)nvcc $(gpu_flags) $< -o $@$(hide)
build/dry/simt/rules: build/tests/simt/rules
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

# The corpus that the CPU device is held to: a file that does not compile is no program, and its log says why. In a
# rehearsal the CPU device's own programs take their place.
build/gpu/simt/%: checker/simt/tests/kernels/%.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)nvcc $(gpu_flags) $< -o $@ >$@.log 2>&1 || rm -f $@$(hide)
build/dry/simt/%: build/tests/simt/kernels/%
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

.PHONY: gpu-wrong
gpu-wrong: build/tools/wrong $(gpu)/wrong/commands $(if $(dry),build/simtcc) \
        $(call gpu_checks,$(notdir $(gpu))) $(call gpu_impls,$(notdir $(gpu)),solutions)

-include $(wildcard build/gpu/obj/*.d build/dry/obj/*.d build/gpu/ops/*/*/*.d)
