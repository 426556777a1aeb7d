# SPDX-License-Identifier: MIT
#
# The CPU device: build/simtcc, its compiler driver; build/simt-lower, which it calls; build/lib/libsimt.a, the runtime.

#: The CPU device
#:   make run FILE=x.cu      compiles a CUDA program for the CPU device and runs
#:                           it checked; ARGS='…' are the program's

simt_runtime_objects := $(call objects,$(wildcard checker/simt/runtime/*.cpp)) build/obj/checker/dims.o
simt_lower_objects := $(call objects,$(wildcard checker/simt/lower/*.cpp))
simt_driver_objects := $(call objects,$(wildcard checker/simt/driver/*.cpp))
$(eval $(call announce,simt,the CPU device,$(simt_runtime_objects) $(simt_lower_objects) $(simt_driver_objects)))

build/lib/libsimt.a: $(simt_runtime_objects)
build/simt-lower: $(simt_lower_objects)
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ -lfmt
build/simtcc: $(simt_driver_objects) | build/simt-lower build/lib/libsimt.a
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^

.PHONY: simt run
simt: build/simtcc build/simt-lower build/lib/libsimt.a

run: $(if $(wildcard $(FILE)),build/run/$(basename $(notdir $(FILE))))
	@$(if $(FILE),$(if $(wildcard $(FILE)),,echo "make run: $(FILE): no such file" >&2; exit 2;),echo "which file? For example: make run FILE=x.cu" >&2; exit 2;) \
	    build/run/$(basename $(notdir $(FILE))) $(ARGS)
build/run/$(basename $(notdir $(FILE))): $(FILE) build/simtcc build/simt-lower build/lib/libsimt.a FORCE
	@mkdir -p $(@D)
	$(Q)build/simtcc $(FILE) -o $@
