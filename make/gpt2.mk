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
#:                           CONFIG=tiny B=4 T=64 ROUNDS=5 other shapes, rounds;
#:                           WRITE=1 into the README and lesson 03
#:   make roofline           each op's FLOP and bytes against the roof: a table,
#:                           results/roofline.svg and .png, by Python; the roof is
#:                           this machine's GPU, where make calibrate measured it,
#:                           or the datasheet of CARD=H100-SXM|H200|A100-80GB|
#:                           RTX-4090|RTX-3060|T4; CONFIG=small B=4 T=64 shapes
#:   make waterfall          one forward pass by step and by op: bars, results/
#:                           waterfall.svg and .png, by Python; from a GPU's
#:                           recorded times (GPU=nvidia-h200) or the estimate for
#:                           a card: CARD=T4, CONFIG=small B=4 T=64 as above (they
#:                           are counted first); STEP=08 lists that step's ops,
#:                           WRITE=1 counts what has changed (FRESH=1 all) and
#:                           writes all that shows an estimate: README, ladder,
#:                           pages
#:   make estimate           what each op of the newest step's forward pass takes
#:                           at least, and its limit, on three cards side by side;
#:                           STEP=09, CARD=T4, CONFIG=small B=4 T=64 as above
#:   make ladder             every matmul of the course beside the others: counts,
#:                           times, shares of OpenBLAS, of cuBLAS and the roof,
#:                           results/ladder.svg and .png, by Python; on a GPU it
#:                           times the kernels there first. SHAPES='N=64 C=768
#:                           OC=768; …' other shapes, WRITE=1 into its page
#:   make notebooks          JupyterLab, which it installs into .venv: pictures of
#:                           these numbers, your results, your kernels' accesses;
#:                           gpu_in_a_browser.ipynb is for a card in Colab
#:

step_numbers := $(foreach step,$(steps),$(call number,$(step)))
BASE ?= solutions
step := $(if $(STEP),$(if $(filter 1 2 3 4 5 6 7 8 9,$(STEP)),0$(STEP),$(STEP)),$(call number,$(lastword $(host_steps))))

# What a program of step $1, DEVICE $2 runs on: nothing but the CPU, the CPU device or a GPU; whose objects it links.
runs_on = $(if $(filter gpu,$2),gpu,$(if $(filter $1_%,$(device_steps)),dry,cpu))
# The side whose file serves lesson/op: solutions, or what the learner's verdict says.
chosen_side = $(if $(filter lessons,$1),$(file <build/verdict/$2),solutions)

# The linker's cross-reference names the file that defines each symbol; print that of each op.
define show_served
awk -f scripts/served.awk -v base='$(BASE)' -v ops='$(sort $(notdir $(served_$1)))' $2
endef

# What tests run where it does not matter which step it is.
newest_host_step := $(call number,$(lastword $(host_steps)))
build/gpt2-host: build/gpt2-$(newest_host_step)
	@ln -sfn $(notdir $<) $@

objects_gpt2 := $(main_objects)
objects_gpt2-bench := build/obj/lessons/gpt2/bench_main.o
objects_dry := build/obj/lessons/gpt2/placement_device.o $(simt_objects_alone)
objects_gpu := build/gpu/obj/placement_device.o
libs_dry = build/lib/libsimt_libraries.a $(simt_libs)
libs_gpu = $(cudart)

# $1 program, $2 step, $3 base, $4 DEVICE
program_name = build/$(if $(filter gpu,$4),gpu/)$1-$2$(if $(filter lessons,$3),-lessons)
# $1 program, $2 step, $3 base, $4 cpu, dry or gpu: the program's parts, without and with the ops.
program_parts = $(objects_$1) $(objects_$4)
program_needs = $(program_parts) $(call objects_of,$4,solutions,$(served_$2)) $(libs) $(filter build/%,$(libs_$4)) $(if $(filter lessons,$3),\
    $(addprefix build/verdict/,$(served_$2)) $(call objects_of,$4,lessons,$(served_$2)))
# The linker prints its cross-reference table; the map keeps the lines of symbols that ops define.
define link_program
@mkdir -p $(@D)
$(Q)set -o pipefail; $(CXX) -o $@ $(program_parts) $(foreach file,$(served_$2),$(call objects_of,$4,$(call chosen_side,$3,$(file)),$(file))) \
    build/lib/libgpt2.a build/lib/libchecker.a $(libs_$4) \
    $(if $(filter gpu,$4),$(call cublas,$^)) $(deps_lib) -lfmt -Wl,--cref | { grep -E '^[^ ].* build/.*ops/' || [ $$? = 1 ]; } >$@.map
endef
define program_rule
$(call program_name,$1,$2,$3,$4): $(call program_needs,$1,$2,$3,$(call runs_on,$2,$4))
	$$(call link_program,$1,$2,$3,$(call runs_on,$2,$4))
endef
$(foreach step,$(step_numbers),$(foreach program,gpt2 gpt2-bench,$(foreach base,solutions lessons,\
    $(foreach device,cpu $(if $(filter $(step)_%,$(device_steps)),gpu),\
        $(eval $(call program_rule,$(program),$(step),$(base),$(device)))))))
$(eval $(call announce,main,the gpt2 program,$(objects_gpt2)))
$(eval $(call announce,bench,the benchmark program,$(objects_gpt2-bench)))

reject_gpt2 = $(strip \
  $(if $(filter-out solutions lessons,$(BASE)),$(error BASE=$(BASE): it is solutions (the default) or lessons)) \
  $(if $(filter-out $(step_numbers),$(step)),$(error STEP=$(STEP): no step; these lessons give a whole model: $(step_numbers))) \
  $(if $(filter $(step)_%,$(device_steps)),\
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
bench_steps := $(if $(STEP),$(step),$(foreach step,$(host_steps),$(call number,$(step))))
bench_programs := $(patsubst %,build/gpt2-bench-%$(if $(filter lessons,$(BASE)),-lessons),$(bench_steps))

ifneq ($(filter bench-cpu,$(MAKECMDGOALS)),)
  $(reject_gpt2)
endif

.PHONY: bench-cpu
bench-cpu: $(bench_programs) build/tools/lessons .venv/requirements.sha256
	@$(if $(filter lessons,$(BASE)),$(foreach step,$(bench_steps),echo "step $(step)"; \
	    $(call show_served,$(step),build/gpt2-bench-$(step)-lessons.map) || exit;))\
	.venv/bin/python -m reference.plots.bench_cpu $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(ROUNDS),--rounds='$(ROUNDS)') $(if $(filter-out 0,$(WRITE)),--write) $(join $(bench_steps:=$(eq)),$(bench_programs))

# ---- the ops against the roof ------------------------------------------------------------------------------------------

# Programs that print the calls of each forward pass of the device's track, and of the host's newest: forward as it is,
# linked with ops that note their calls.
host_forward := $(filter %/forward,$(served_$(newest_host_step)))
device_forwards := $(foreach lesson,$(device_steps),$(filter %/forward,$(served_$(call number,$(lesson)))))
host_calls := $(host_forward:%/forward=build/tools/calls/%)
calls_programs := $(patsubst %/forward,build/tools/calls/%,$(sort $(host_forward) $(device_forwards)))
$(calls_programs): build/tools/calls/%: build/ops/solutions/%/forward.o build/obj/lessons/gpt2/calls_main.o \
        build/obj/lessons/gpt2/check/sizes.o build/lib/libops.a
	@mkdir -p $(@D)
	$(Q)$(CXX) -o $@ $^ $(harness_libs)

roofline_needs := $(host_calls) build/tools/lessons build/tools/ops build/tools/estimate
.PHONY: roofline
roofline: $(roofline_needs) .venv/requirements.sha256
	@.venv/bin/python -m reference.plots.roofline $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(CARD),--card='$(CARD)')

# Each step's pass by op. What is counted of GPT-2's pass at B=4 is recorded: with WRITE=1 what has changed is counted
# anew. At other shapes all is counted, and kept in build/estimates.
waterfall_needs := $(calls_programs) build/tools/ops build/tools/lessons build/tools/estimate
waterfall_writes := $(filter-out 0,$(WRITE)) $(filter generate,$(MAKECMDGOALS))
waterfall_counts := $(call device_checks,cpu) $(call impls,cpu,solutions,$(device_lessons))
.PHONY: waterfall forward-calls
forward-calls: $(calls_programs)
counts_first := $(if $(strip $(waterfall_writes) $(CONFIG) $(B) $(T)),$(waterfall_counts))
waterfall: $(waterfall_needs) .venv/requirements.sha256 $(counts_first)
	@.venv/bin/python -m reference.plots.waterfall $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(CARD),--card='$(CARD)') $(if $(GPU),--gpu='$(GPU)') $(if $(STEP),--step='$(STEP)') \
	    $(if $(strip $(waterfall_writes)),--write $(if $(filter-out 0,$(FRESH)),--fresh))

.PHONY: estimate
estimate: $(waterfall_needs) .venv/requirements.sha256 $(counts_first)
	@.venv/bin/python -m reference.plots.step_estimate $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(CARD),--card='$(CARD)') $(if $(STEP),--step='$(STEP)')

# The matmul of each lesson that is a rung, counted and timed on the CPU; on a GPU, where one is, by the report's part.
# [ladder] and its keys begin their line, whether quoted, indented, in brackets or dotted.
matmuls := $(call lessons_whose_toml_has,^[^[:alnum:]=$(number_sign)]*\<ladder\>)
ladder_rehearsal := build/dry/check/ladder $(foreach side,lessons solutions,build/dry/impl/$(side)/07_tiled_matmul/matmul.so)
ladder_needs := build/check/ladder build/check/ladder-device build/tools/lessons build/tools/estimate $(matmuls:%=build/impl/solutions/%/matmul.so)
.PHONY: ladder
ladder: $(ladder_needs) .venv/requirements.sha256
	$(if $(and $(gpu_seen),$(nvcc)),+@SHAPES='$(SHAPES)' $(MAKE) gpu-report PART=ladder)
	@SHAPES='$(SHAPES)' .venv/bin/python -m reference.plots.ladder $(if $(filter-out 0,$(WRITE)),--write)

# ---- notebooks ---------------------------------------------------------------------------------------------------------

# JupyterLab, whose kernel is .venv's Python; the tests run the notebooks without it.
.venv/notebooks.sha256: notebooks/requirements.txt .venv/requirements.sha256
	@scripts/venv.sh $< $@

.PHONY: notebooks
notebooks: $(waterfall_needs) .venv/notebooks.sha256
	@PYTHONPATH=. .venv/bin/jupyter lab --config=notebooks/jupyter_config.py
