# SPDX-License-Identifier: MIT
#
# The CPU device: build/simtcc, its compiler driver; build/simt-lower, which it calls; build/lib/libsimt.a, the runtime.

#: The CPU device
#:   make run FILE=x.cu      compiles a CUDA program for the CPU device and runs
#:                           it checked; ARGS='…' are the program's; DEVICE=gpu
#:                           by nvcc on your GPU. SIMT_TRAFFIC=1 before it
#:                           counts what its warps ask of memory, and
#:                           SIMT_ESTIMATE=H100,T4 adds what cards could do
#:   make estimates          estimates beside what others published of such
#:                           kernels, into checker/simt/ESTIMATES.md; WRITE=1
#:                           counts and compiles the kernels anew: needs nvcc
#:   make public-programs    builds and runs cuda-samples and Rodinia, and counts
#:                           those that it judges rightly: FROM=DIR holds both,
#:                           as cloned; ONLY='nw dxtc' these; WRITE=1 writes the
#:                           counts into checker/simt/README.md. An hour; then
#:                           only what has changed runs again
#:   make bench-simt         how fast the CPU device is, against plain C++, and
#:                           what its search for races and its counters add

# simtcc for the course's own files, with the standard that gpu_flags give nvcc.
simtcc_strict := build/simtcc -std=c++20 -Xcompiler -Wall,-Wextra,-Werror -I.

simt_archives := build/lib/libsimt.a build/lib/libsimt_libraries.a
simt_runtime_objects := $(simt_objects_alone)
simt_lower_objects := $(call objects,$(wildcard checker/simt/lower/*.cpp))
simt_driver_objects := $(call objects,$(wildcard checker/simt/driver/*.cpp))
$(eval $(call announce,simt,the CPU device,$(simt_runtime_objects) $(simt_library_objects) $(simt_lower_objects) $(simt_driver_objects)))

# What libraries compute is what the programs that call them wait for.
build/obj/checker/simt/libraries/product.o: private optimised := -O3
build/obj/checker/simt/libraries/product.o: private headers := build/headers/-O2/common.h
# Its vectors of eight numbers take as many instructions on a processor without AVX2 as eight numbers do.
build/obj/checker/simt/runtime/tensor/tile_product.o: private optimised := -O3 -march=native -Wno-psabi
build/obj/checker/simt/runtime/tensor/tile_product.o: private headers := build/headers/-O2/common.h

# Where there is no libbacktrace, findings name no line (make doctor says so).
build/obj/checker/simt/backtrace.o: scripts/backtrace.sh build/obj/checker/simt/no_backtrace.o build/flags
	$(Q)scripts/backtrace.sh '$(CXX)' $@ || cp build/obj/checker/simt/no_backtrace.o $@

build/lib/libsimt.a: $(simt_runtime_objects)
# cuBLAS on the CPU device. A program links what it calls of it; one that loads kernels links all of it.
build/lib/libsimt_libraries.a: $(simt_library_objects)
# What SIMT_ESTIMATE prints. Most programs never ask for it, and it is as large as all else that they have of the device.
build/lib/libsimt_estimate.so: $(call objects,$(wildcard checker/estimate/*.cpp) $(addprefix checker/base/,files.cpp json.cpp text.cpp))
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -o $@ $^ -lfmt
build/simt-lower: $(simt_lower_objects)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ -lfmt
build/simtcc: $(simt_driver_objects) | build/simt-lower $(simt_archives) build/lib/libsimt_estimate.so
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ -lfmt

# A folder laid out as nvcc's toolkit, for what names one: make CUDA_DIR=…/build/cuda. Its libraries are scripts for the
# linker; what links with g++ and -lcudart gets the whole runtime, once, as the only member of an archive.
as_toolkit := build/cuda
toolkit_runtime := cudart.so cudart.a cudart_static.a
toolkit_blas := cublas.so cublas_static.a cublasLt.so cublasLt_static.a
toolkit_empty := cudadevrt.a $(addsuffix .so,cuda nvToolsExt nvidia-ml cufft cufftw curand cusparse cusolver nvrtc nvJitLink nvjpeg \
    $(addprefix npp,c ial icc idei if ig im ist isu itc s))
$(as_toolkit)/made: $(simt_archives) make/simt.mk
	@mkdir -p $(@D)/bin $(@D)/lib64
	$(Q)ln -sfn ../../simtcc $(@D)/bin/nvcc && ln -sfn ../../checker/simt/include $(@D)/include && ln -sfn lib64 $(@D)/lib
	$(Q)$(CXX) -r -nostdlib -Wl,--whole-archive build/lib/libsimt.a -o $(@D)/lib64/simt.o
	$(Q)ar rcs $(@D)/lib64/libsimt_whole.a $(@D)/lib64/simt.o && rm $(@D)/lib64/simt.o
	$(Q)ln -sfn ../../lib/libsimt_libraries.a $(@D)/lib64/libsimt_libraries.a
	$(Q)for one in $(toolkit_runtime); do echo 'INPUT(libsimt_whole.a -lstdc++ -lboost_context -lfmt -lpthread -lm)' >$(@D)/lib64/lib$$one || exit; done
	$(Q)for one in $(toolkit_blas); do echo 'INPUT(libsimt_libraries.a AS_NEEDED(-lopenblas))' >$(@D)/lib64/lib$$one || exit; done
	$(Q)for one in $(toolkit_empty); do echo '/* the CPU device has nothing of it */' >$(@D)/lib64/lib$$one || exit; done
	@touch $@

# ---- tests: each kernel of the corpus is a program, and corpus_test holds it to the verdict in its first lines ----------

simt_tests := $(patsubst checker/simt/tests/%.cpp,build/tests/simt/%,$(wildcard checker/simt/tests/*_test.cpp))
simt_kernels := $(patsubst checker/simt/tests/%.cu,build/tests/simt/%,$(wildcard checker/simt/tests/kernels/*/*.cu))
test_programs += $(simt_tests)
simt_test_objects := $(simt_tests:build/tests/simt/%=build/obj/checker/simt/tests/%.o)
# half_test goes through every pattern of the small types itself.
$(filter-out %/half_test.o,$(simt_test_objects)): private optimised := -O0
$(filter-out %/half_test.o,$(simt_test_objects)): private headers := build/obj/tests.h
$(simt_test_objects): | build/obj/tests.h.gch
$(eval $(call announce,simt-tests,the CPU device's tests,$(simt_test_objects)))
$(eval $(call announce,simt-kernels,the CPU device's test kernels,$(simt_kernels)))

$(simt_tests): build/tests/simt/%: build/obj/checker/simt/tests/%.o $(filter-out %_main.o,$(simt_lower_objects) $(simt_driver_objects)) \
        $(simt_archives)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) $(whole_simt) -lgtest_main $(harness_libs)
build/tests/simt/corpus_test: build/obj/checker/simt/tests/corpus.o | $(simt_kernels)
build/tests/simt/races_test: | $(simt_kernels)
# Those that run other programs.
$(addprefix build/tests/simt/,debug_test driver_test estimate_listing_test libraries_test races_test traffic_listing_test traffic_test): \
    build/obj/checker/base/files.o
build/tests/simt/debug_test: | build/simtcc build/simt-lower $(simt_archives) build/check/lesson05 \
    $(call impls,cpu debug,solutions,05_naive_forward)
build/tests/simt/traffic_listing_test: | build/check/lesson05 build/simtcc build/simt-lower build/lib/libgpt2.a \
    build/impl/solutions/05_naive_forward/layernorm.so build/check/lesson06 build/check/lesson08 \
    build/impl/solutions/07_tiled_matmul/matmul.so build/impl/solutions/08_register_tiled_matmul/matmul.so \
    build/impl/solutions/06_coalescing/residual.so build/impl/solutions/06_coalescing/layernorm.so build/impl/solutions/04_first_kernel/residual.so \
    build/check/lesson11 build/impl/solutions/11_tf32/matmul.so build/impl/solutions/10_double_buffered_matmul/matmul.so \
    build/check/lesson17 build/impl/solutions/17_cuda_graphs/predict.so build/impl/solutions/05_naive_forward/predict.so
build/tests/simt/estimate_listing_test: build/obj/checker/base/json.o
build/tests/simt/estimate_listing_test: | build/check/lesson05 build/check/lesson08 build/check/lesson11 build/simtcc build/simt-lower \
    build/lib/libgpt2.a $(foreach op,attention causal_softmax crossentropy layernorm matmul softmax predict forward,\
        build/impl/solutions/05_naive_forward/$(op).so) build/impl/solutions/07_tiled_matmul/matmul.so \
    build/impl/solutions/08_register_tiled_matmul/matmul.so build/impl/solutions/11_tf32/matmul.so \
    build/impl/solutions/10_double_buffered_matmul/matmul.so
build/tests/simt/driver_test: | build/simtcc build/simt-lower $(simt_archives) $(as_toolkit)/made

matrix_kernels := $(foreach one,$(simt_kernels),$(if $(filter mma_% ldmatrix_% wmma_%,$(notdir $(one))),$(one)))
$(matrix_kernels): checker/simt/tests/matrices.h
build/tests/simt/kernels/correct/mma_sums_by_hand: checker/simt/tests/tensor_sums.h checker/simt/runtime/tensor/tile_product.h
$(simt_kernels): build/tests/simt/%: checker/simt/tests/%.cu checker/simt/tests/run.h $(simtcc_needs) $(simt_archives)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) $< -o $@$(hide)

# Calls of cuBLAS and cuBLASLt against plain loops, which are most of what these programs do.
library_calls := $(basename $(notdir $(wildcard checker/simt/tests/libraries/*.cu)))
$(library_calls:%=build/tests/simt/libraries/%): build/tests/simt/%: checker/simt/tests/%.cu $(simtcc_needs) $(simt_archives)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) --unchecked $< -o $@$(hide)
build/tests/simt/libraries_test: | $(library_calls:%=build/tests/simt/libraries/%) build/tests/simt/kernels/correct/cublas_lt_descriptors

# The rules of the counters, for the device and for a GPU.
build/tests/simt/rules: $(rule_files) $(simtcc_needs) $(simt_archives)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) $< -o $@$(hide)

# Kernels that are built as published ones are said to be: estimates of them are held against what was measured.
published_kernels := $(wildcard checker/estimate/published/*.cu) checker/devices/simt/count_published.cu
published_objects := $(published_kernels:checker/%.cu=build/obj/checker/%.o)
$(published_objects): build/obj/checker/%.o: checker/%.cu checker/estimate/published/kernels.h $(wildcard checker/simt/runtime/*/*.h) $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) -c $< -o $@$(hide)
build/estimate/published: $(published_objects) $(simt_archives)
	@mkdir -p $(@D)
	$(show)build/simtcc $(published_objects) -o $@$(hide)

build/estimate/price: build/obj/checker/estimate/published/price.o build/lib/libchecker.a
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

# Without WRITE=1 what was counted and compiled is only priced anew.
.PHONY: estimates
estimates: build/estimate/price $(if $(filter-out 0,$(WRITE)),build/estimate/published $(if $(nvcc),build/toolkit)) .venv/requirements.sha256
	@.venv/bin/python -m reference.gpu.published $(if $(filter-out 0,$(WRITE)),--write)

# Programs of others, which the user has cloned into FROM.
.PHONY: public-programs
public-programs: build/simtcc build/simt-lower $(simt_archives)
	@$(if $(FROM),,echo "make public-programs: which folder holds cuda-samples and gpu-rodinia? FROM=DIR" >&2; exit 2;) \
	    $(call with_python) -m reference.public_programs '$(FROM)' --only '$(ONLY)' $(if $(filter-out 0,$(WRITE)),--write)

simt_objects := $(patsubst checker/simt/tests/%.cu,build/tests/simt/%.so,$(wildcard checker/simt/tests/objects/*.cu))
$(simt_objects): build/tests/simt/%.so: checker/simt/tests/%.cu $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) $(arithmetic) -shared $< -o $@$(hide)
build/tests/simt/objects/arithmetic.so: private arithmetic := --arithmetic
build/tests/simt/objects/without_arithmetic.so: checker/simt/tests/objects/arithmetic.cu $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) -shared $< -o $@$(hide)
build/tests/simt/arithmetic_test: | build/tests/simt/objects/arithmetic.so build/tests/simt/objects/without_arithmetic.so
build/tests/simt/shared_memory_test build/tests/simt/shared_object_test build/tests/simt/libraries_test build/tests/simt/sampling_test build/tests/simt/sampled_traffic_test build/tests/simt/race_shadow_test build/tests/simt/traffic_test build/tests/simt/graph_api_test: | $(simt_objects)
build/tests/simt/traffic_test: | build/tests/simt/kernels/correct/tiled_matmul

build/tests/simt/table: build/obj/checker/simt/tests/table_main.o build/obj/checker/simt/tests/corpus.o
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ -lfmt
# The products of tensor cores, for Python.
build/tools/tile_product: build/obj/checker/simt/tests/tile_product_main.o build/obj/checker/simt/runtime/tensor/tile_product.o
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ -lfmt
.PHONY: simt-table
simt-table: build/tests/simt/table $(simt_kernels)
	@$<

# What a program links that loads kernels from shared objects: all of the runtime, its symbols visible to them.
simt_libs := -rdynamic -lboost_context $(blas)
whole_simt := -Wl,--whole-archive $(simt_archives) -Wl,--no-whole-archive $(simt_libs)

# ---- how fast it is ------------------------------------------------------------------------------------------------------

simt_bench_objects := $(call objects,$(wildcard checker/simt/bench/*.cpp))
build/simt-bench/unchecked.so: unchecked := --unchecked
build/simt-bench/checked.so build/simt-bench/unchecked.so: checker/simt/bench/kernels.cu checker/simt/bench/ops.h \
        $(simtcc_needs)
	@mkdir -p $(@D)
	$(show)$(simtcc_strict) $(unchecked) -shared $< -o $@$(hide)
build/simt-bench/bench: $(simt_bench_objects) $(simt_archives)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) $(whole_simt) $(harness_libs)

simt_bench_programs := build/simt-bench/bench build/simt-bench/checked.so build/simt-bench/unchecked.so
.PHONY: bench-simt
bench-simt: $(simt_bench_programs)
	@$^

.PHONY: simt run
simt: build/simtcc build/simt-lower $(simt_archives) build/lib/libsimt_estimate.so $(as_toolkit)/made

run_at := build/$(if $(filter gpu,$(DEVICE)),gpu/)run/$(basename $(notdir $(FILE)))
ifneq ($(filter run,$(MAKECMDGOALS)),)
  $(if $(filter-out cpu gpu,$(DEVICE)),$(error DEVICE=$(DEVICE): it is cpu (the CPU device) or gpu))
endif
run: $(if $(wildcard $(FILE)),$(run_at))
	@$(if $(FILE),$(if $(wildcard $(FILE)),,echo "make run: $(FILE): no such file" >&2; exit 2;),echo "which file? For example: make run FILE=x.cu" >&2; exit 2;) \
	    $(run_at) $(ARGS)
build/run/$(basename $(notdir $(FILE))): $(FILE) $(simtcc_needs) $(simt_archives) FORCE
	@mkdir -p $(@D)
	$(Q)build/simtcc -std=c++20 -I. $(FILE) -o $@
build/gpu/run/$(basename $(notdir $(FILE))): $(FILE) build/gpu/card FORCE
	@mkdir -p $(@D)
	$(Q)$(run_nvcc) $(gpu_flags) $(FILE) -o $@ $(if $(FILE),$(if $(shell grep -l cublas $(wildcard $(FILE))),$(nvcc_cublas)))
