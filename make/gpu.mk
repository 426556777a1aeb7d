# SPDX-License-Identifier: MIT
#
# The build for a GPU: the same kernel files by nvcc, for the card that is here, under build/gpu. DRY=1 rehearses it
# under build/dry where there is none: the same programs, with the CPU device, unchecked, in the card's place.
#
#   toolkit                 nvcc, its version and path, its host compiler, the C library
#   gpu/card                the card's architecture, such as 90a, and the same
#   {gpu,dry}/impl/...      as build/impl
#   {gpu,dry}/check/        as build/check, with the GPU's side of the checker

dry := $(filter-out 0,$(DRY))
gpu := $(if $(dry),build/dry,build/gpu)

# Where nvcc has its headers and libraries; nothing where every compiler looks. Asked once, and only where it is used.
cuda_include = $(eval cuda_include := $(shell scripts/cuda.sh --include))$(cuda_include)
cuda_lib = $(eval cuda_lib := $(shell scripts/cuda.sh --lib))$(cuda_lib)
cuda_headers = $(cuda_include:%=-isystem %)
cudart = $(cuda_lib:%=-L%) -lcudart $(cuda_lib:%=-Wl,-rpath,%)

# What does not change is not written again: a newer file would compile every kernel anew. So does another toolkit: a kernel
# by CUDA 12 in a program by CUDA 13 would bring a second runtime, which knows nothing of the first one's errors.
build/gpu/card: build/tools/gpu $(if $(nvcc),build/toolkit) FORCE
	@mkdir -p $(@D)
	@{ build/tools/gpu --arch && cat build/toolkit; } >$@.new || { rm -f $@.new; exit 1; }
	@$(new_if_other)

# -lineinfo: profilers and compute-sanitizer name lines of the file.
card_flags = -std=c++20 -O3 -lineinfo -I. $(cublas_include)
gpu_flags = $(card_flags) -arch=sm_$$(sed q build/gpu/card)

# The GPU's side of the checker: host code by the C++ compiler, launches by nvcc; for the rehearsal both for the CPU device.
# no_blas: a machine with a GPU need not have OpenBLAS.
backend_names := $(addprefix checker/devices/gpu/,gpu_backend gpu_launch) no_blas
build/gpu/obj/checker/devices/gpu/gpu_backend.o: checker/devices/gpu/gpu_backend.cpp build/flags $(if $(nvcc),build/toolkit,build/gpu/card)
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(cuda_headers) $(depfile) -c $< -o $@$(hide)
build/gpu/obj/checker/devices/gpu/gpu_launch.o: checker/devices/gpu/gpu_launch.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(gpu_flags) -Werror all-warnings -Xcompiler -fPIC,-Wall,-Wextra,-Werror $(gpu_depfile) -c $< -o $@$(hide)
build/gpu/obj/placement_device.o: lessons/gpt2/placement_device.cpp build/flags $(if $(nvcc),build/toolkit,build/gpu/card)
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(cuda_headers) $(depfile) -c $< -o $@$(hide)
build/dry/obj/checker/devices/gpu/gpu_backend.o: checker/devices/gpu/gpu_backend.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(harness_flags) $(with_simt) $(depfile) -c $< -o $@$(hide)
build/dry/obj/checker/devices/gpu/gpu_launch.o: checker/devices/gpu/gpu_launch.cu $(checker_headers) $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)build/simtcc --unchecked $(device_flags) -Xcompiler -Werror -c $< -o $@$(hide)
build/%/obj/no_blas.o: checker/cases/no_blas.cpp build/flags
	@mkdir -p $(@D)
	$(show)$(CXX) $(op_flags) -Werror $(depfile) -c $< -o $@$(hide)
gpu_backend_gpu := $(case_objects) $(backend_names:%=build/gpu/obj/%.o)
gpu_backend_dry := $(case_objects) $(backend_names:%=build/dry/obj/%.o) $(simt_objects_alone) $(simt_library_objects)

# What tools/wrong compiles and links with for a GPU.
build/gpu/wrong/commands: build/gpu/card
build/gpu/wrong/commands build/dry/wrong/commands: build/%/wrong/commands: build/flags $(solution_files) make/ops.mk make/gpu.mk make/test.mk \
        | $(op_header).gch
	$(shell mkdir -p $(@D))$(file >$@,compile.cpp $(compile_op_on_host) $(warnings_lessons))$(file >>$@,compile.cu $(compile_$*) $(include_solutions))
	$(file >>$@,link.cu $(CXX) -shared -Wl$(comma)-Bsymbolic)
	$(call wrong_links,$*,$(device_lessons))@:

# What the CPU device's counters are held to.
build/gpu/simt/rules: $(rule_files) build/gpu/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(gpu_flags) $(rule_flags) $< -o $@$(hide)
build/dry/simt/rules: build/tests/simt/rules
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

# The calls of cuBLAS and cuBLASLt that the CPU device is held to.
build/gpu/simt/libraries/%: checker/simt/tests/libraries/%.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(gpu_flags) $< -o $@ $(nvcc_cublas)$(hide)
build/dry/simt/libraries/%: build/tests/simt/libraries/%
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

# The corpus that the CPU device is held to: a file that does not compile is no program, and its log says why. In a
# rehearsal the CPU device's own programs take their place.
build/gpu/simt/%: checker/simt/tests/kernels/%.cu checker/simt/tests/run.h build/gpu/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(gpu_flags) $< -o $@ $(if $(findstring /cublas,$<),$(nvcc_cublas)) >$@.log 2>&1 || rm -f $@$(hide)
build/dry/simt/%: build/tests/simt/kernels/%
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

# The programs that lessons give to run and look at.
build/gpu/given/%: lessons/%.cu build/gpu/card
	@mkdir -p $(@D)
	$(show)$(run_nvcc) $(gpu_flags) $< -o $@ $(if $(shell grep -l cublas $<),$(nvcc_cublas))$(hide)
build/dry/given/%: lessons/%.cu $(simtcc_needs) $(simt_archives)
	@mkdir -p $(@D)
	$(show)build/simtcc -std=c++20 --unchecked -I. $< -o $@$(hide)

# tools/wrong and what it compiles with. It also runs the lessons' check programs and solutions.
wrong_on_card = build/tools/wrong $(gpu)/wrong/commands $(if $(dry),build/simtcc)

-include $(wildcard $(addprefix build/,gpu/obj/*.d dry/obj/*.d $(addsuffix /obj/checker/devices/gpu/*.d,gpu dry)))
