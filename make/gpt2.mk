# SPDX-License-Identifier: MIT
#
# The gpt2 program of a step: for each op the object of the newest lesson up to the step, linked directly, then the
# archives for what is still undefined. (Archives alone would resolve to an old kernel whenever its object is pulled in
# for something else.)

#: The model
#:   make gpt2               GPT-2 from the newest C++ file of each op; prints
#:                           which. STEP=02 takes lessons up to 02 only, STEP=05
#:                           the kernels up to 05, on the CPU device, or with
#:                           DEVICE=gpu on your GPU
#:                           BASE=lessons takes your files where they pass
#:   build/gpt2 --prompt "The loss"      writes on; --help tells the rest
#:   make bench-cpu          the steps' forward pass beside PyTorch's, by Python
#:                           STEP=02 that step only, BASE=lessons as above
#:                           CONFIG=tiny B=4 T=64 ROUNDS=5 other shapes, rounds
#:   make roofline           each op's FLOP and bytes against the roof: a table,
#:                           results/roofline.svg and .png, by Python; the roof is
#:                           this machine's GPU, where make calibrate measured it,
#:                           or the datasheet of CARD=H100-SXM|H200|A100-80GB|
#:                           RTX-4090|RTX-3060|T4; CONFIG=small B=4 T=64 shapes
#:   make ladder             every matmul of the course beside the others: counts,
#:                           times, shares of OpenBLAS, of cuBLAS and the roof,
#:                           results/ladder.svg and .png, by Python; on a GPU it
#:                           times the kernels there first. SHAPES='N=64 C=768
#:                           OC=768; …' other shapes, WRITE=1 into the README
#:

steps := $(foreach lesson,$(lesson_dirs),$(if $(call toml_has,$(lesson),step=true),$(lesson)))
step_numbers := $(foreach step,$(steps),$(call number,$(step)))
BASE ?= solutions
host_steps := $(foreach step,$(filter $(host_lessons),$(steps)),$(call number,$(step)))
device_steps := $(filter-out $(host_steps),$(step_numbers))
step := $(if $(STEP),$(if $(filter 1 2 3 4 5 6 7 8 9,$(STEP)),0$(STEP),$(STEP)),$(lastword $(host_steps)))

# The side whose file serves lesson/op: solutions, or what the learner's verdict says.
side = $(if $(filter lessons,$1),$(file <build/verdict/$2),solutions)
# On the device's track the program runs unchecked: other objects than those that the checks load.
ops_folder = $(if $(filter gpu,$2),build/gpu/ops,$(if $(filter $(device_steps),$1),build/fast-ops,build/ops))
op_objects = $(foreach served,$(served_$2),$(call ops_folder,$2,$3)/$(call side,$1,$(served))/$(served).o)
build/fast-ops/%.o: %.cu $(wildcard checker/*.h lessons/gpt2/*.h) | build/simtcc build/simt-lower
	@mkdir -p $(@D)
	$(show)build/simtcc --unchecked $(device_flags) -MMD -MF $(@:.o=.d) -c $< -o $@$(hide)
# A learner's file that does not compile leaves no object and serves nothing; its check shows the diagnostics.
build/fast-ops/lessons/%.o: lessons/%.cu $(wildcard checker/*.h lessons/gpt2/*.h) | build/simtcc build/simt-lower
	@mkdir -p $(@D)
	$(show)build/simtcc --unchecked $(device_flags) -Xcompiler -Wno-unused,-Wno-unused-parameter -MMD -MF $(@:.o=.d) -c $< -o $@ \
	    >$(@:.o=.log) 2>&1 || rm -f $@$(hide)
-include $(wildcard build/fast-ops/*/*/*.d)

# The linker's cross-reference names the file that defines each symbol; print that of each op.
define show_served
awk -f scripts/served.awk -v ops='$(sort $(notdir $(served_$1)))' $2
endef

device_objects := build/obj/lessons/gpt2/placement_device.o $(simt_objects_alone)
gpu_objects := build/gpu/obj/placement_device.o

# What tests run where it does not matter which step it is.
build/gpt2-host: build/gpt2-$(lastword $(host_steps))
	@ln -sfn $(notdir $<) $@

objects_gpt2 := $(main_objects)
objects_gpt2-bench := build/obj/lessons/gpt2/bench_main.o
# $1 program, $2 step, $3 base, $4 cpu or gpu, $5 what the choice of objects depends on, $6 objects it may choose
program_name = build/$(if $(filter gpu,$4),gpu/)$1-$2$(if $(filter lessons,$3),-lessons)
runs_on = $(if $(filter gpu,$2),gpu,$(if $(filter $(device_steps),$1),device))
objects_device = $(device_objects)
objects_gpu = $(gpu_objects)
libs_device = $(simt_libs)
libs_gpu = $(cudart)
define program_rule
$(program_name): $(objects_$1) $(objects_$(call runs_on,$2,$4)) \
        $$(patsubst %,$(call ops_folder,$2,$4)/solutions/%.o,$$(served_$2)) $$(libs) $5 $6
	@mkdir -p $$(@D)
	$(Q)$$(CXX) -o $$@ $(objects_$1) $$(call op_objects,$3,$2,$4) $(objects_$(call runs_on,$2,$4)) \
	    build/lib/libgpt2.a build/lib/libchecker.a $$(libs_$(call runs_on,$2,$4)) $$(deps_lib) -lfmt \
	    -Wl,--cref,-Map=$$@.map
endef
$(foreach step,$(step_numbers),$(foreach program,gpt2 gpt2-bench,$(foreach device,cpu $(if $(filter $(device_steps),$(step)),gpu),\
    $(eval $(call program_rule,$(program),$(step),solutions,$(device)))\
    $(eval $(call program_rule,$(program),$(step),lessons,$(device),$(patsubst %,build/verdict/%,$(served_$(step))),\
        $(patsubst %,$(call ops_folder,$(step),$(device))/lessons/%.o,$(served_$(step))))))))
$(eval $(call announce,main,the gpt2 program,$(objects_gpt2)))
$(eval $(call announce,bench,the benchmark program,$(objects_gpt2-bench)))

reject_gpt2 = $(strip \
  $(if $(filter-out solutions lessons,$(BASE)),$(error BASE=$(BASE): it is solutions (the default) or lessons)) \
  $(if $(filter-out $(step_numbers),$(step)),$(error STEP=$(STEP): no step; these lessons give a whole model: $(step_numbers))) \
  $(if $(filter $(device_steps),$(step)),\
    $(if $(filter-out cpu gpu,$(DEVICE)),$(error DEVICE=$(DEVICE): it is cpu (the CPU device) or gpu)),\
    $(if $(filter-out cpu,$(DEVICE)),$(error DEVICE=$(DEVICE): step $(step) is plain C++ for the CPU; leave DEVICE out))))

ifneq ($(filter gpt2,$(MAKECMDGOALS)),)
  $(reject_gpt2)
endif
program := $(call program_name,gpt2,$(step),$(BASE),$(DEVICE))

.PHONY: gpt2
gpt2: $(program)
	@ln -sfn $(<:build/%=%) build/gpt2
	@$(call show_served,$(step),$<.map)

# ---- the steps beside PyTorch -----------------------------------------------------------------------------------------

eq := =
bench_steps := $(if $(STEP),$(step),$(host_steps))
bench_programs := $(patsubst %,build/gpt2-bench-%$(if $(filter lessons,$(BASE)),-lessons),$(bench_steps))

ifneq ($(filter bench-cpu,$(MAKECMDGOALS)),)
  $(reject_gpt2)
endif

.PHONY: bench-cpu
bench-cpu: $(bench_programs) .venv/requirements.sha256
	@$(if $(filter lessons,$(BASE)),$(foreach step,$(bench_steps),echo "step $(step)"; \
	    $(call show_served,$(step),build/gpt2-bench-$(step)-lessons.map) || exit;))\
	.venv/bin/python -m reference.plots.bench_cpu $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(ROUNDS),--rounds='$(ROUNDS)') $(join $(bench_steps:=$(eq)),$(bench_programs))

# ---- the ops against the roof ------------------------------------------------------------------------------------------

.PHONY: roofline
roofline: .venv/requirements.sha256
	@.venv/bin/python -m reference.plots.roofline $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(CARD),--card='$(CARD)')

# Every lesson's matmul, counted and timed on the CPU; on a GPU, where one is, by the report's part.
matmuls := $(patsubst lessons/%/lesson.toml,%,$(shell grep -ls '^\[ladder\]' $(lesson_dirs:%=lessons/%/lesson.toml)))
ladder_rehearsal := build/dry/check/ladder $(foreach side,lessons solutions,build/dry/impl/$(side)/07_tiled_matmul/matmul.so)
ladder_needs := build/check/ladder build/check/ladder-device $(matmuls:%=build/impl/solutions/%/matmul.so)
.PHONY: ladder
ladder: $(ladder_needs) .venv/requirements.sha256
	$(if $(and $(gpu_seen),$(nvcc)),@SHAPES='$(SHAPES)' $(MAKE) gpu-report PART=ladder)
	@SHAPES='$(SHAPES)' .venv/bin/python -m reference.plots.ladder $(if $(filter-out 0,$(WRITE)),--write)
