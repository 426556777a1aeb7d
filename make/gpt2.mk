# SPDX-License-Identifier: MIT
#
# The gpt2 program of a step: for each op the object of the newest lesson up to the step, linked directly, then the
# archives for what is still undefined. (Archives alone would resolve to an old kernel whenever its object is pulled in
# for something else.)

#: The model
#:   make gpt2               GPT-2 from the newest file of each op; prints which
#:                           STEP=02 takes lessons up to 02 only
#:                           BASE=lessons takes your files where they pass
#:   build/gpt2 --prompt "The loss"      writes on; --help tells the rest
#:   make bench-cpu          the forward pass of the steps beside PyTorch's (Python)
#:                           STEP=02 that step only, CONFIG=tiny a small shape
#:                           B=4 T=64 ROUNDS=5 are what it takes unless told
#:

steps := $(foreach lesson,$(lesson_dirs),$(if $(call toml_has,$(lesson),step=true),$(lesson)))
step_numbers := $(foreach step,$(steps),$(call number,$(step)))
BASE ?= solutions
step := $(if $(STEP),$(if $(filter 1 2 3 4 5 6 7 8 9,$(STEP)),0$(STEP),$(STEP)),$(lastword $(step_numbers)))

# The side whose file serves lesson/op: solutions, or what the learner's verdict says.
side = $(if $(filter lessons,$1),$(file <build/verdict/$2),solutions)
op_objects = $(foreach served,$(served_$2),build/ops/$(call side,$1,$(served))/$(served).o)

# The linker's cross-reference names the file that defines each symbol; print that of each op.
define show_served
awk -f scripts/served.awk -v ops='$(sort $(notdir $(served_$1)))' $2
endef

# $1 step, $2 base, $3 what the choice of objects depends on
define gpt2_rule
build/gpt2-$1$(if $(filter lessons,$2),-lessons): $$(main_objects) \
        $$(patsubst %,build/ops/solutions/%.o,$$(served_$1)) $$(libs) $3
	$(Q)$(CXX) -o $$@ $$(main_objects) $$(call op_objects,$2,$1) build/lib/libgpt2.a build/lib/libchecker.a \
	    -lfmt -Wl,--cref,-Map=$$@.map
endef
$(foreach step,$(step_numbers),$(eval $(call gpt2_rule,$(step),solutions)))
$(foreach step,$(step_numbers),$(eval $(call gpt2_rule,$(step),lessons,$(patsubst %,build/verdict/%,$(served_$(step))))))
$(eval $(call announce,main,the gpt2 program,$(main_objects)))

reject_gpt2 = $(strip \
  $(if $(filter-out solutions lessons,$(BASE)),$(error BASE=$(BASE): it is solutions (the default) or lessons)) \
  $(if $(filter-out $(step_numbers),$(step)),$(error STEP=$(STEP): no step; these lessons give a whole model: $(step_numbers))) \
  $(if $(filter-out cpu,$(DEVICE)),$(error DEVICE=$(DEVICE): step $(step) is plain C++ for the CPU; leave DEVICE out)))

ifneq ($(filter gpt2,$(MAKECMDGOALS)),)
  $(reject_gpt2)
endif
program := build/gpt2-$(step)$(if $(filter lessons,$(BASE)),-lessons)

.PHONY: gpt2
gpt2: $(program)
	@ln -sfn $(notdir $<) build/gpt2
	@$(call show_served,$(step),$<.map)

# ---- the steps beside PyTorch -----------------------------------------------------------------------------------------

bench_object := build/obj/lessons/gpt2/bench_main.o
bench_steps := $(if $(STEP),$(step),$(step_numbers))
bench_programs := $(patsubst %,build/gpt2-bench-%,$(bench_steps))

define bench_rule
build/gpt2-bench-$1: $(bench_object) $$(patsubst %,build/ops/solutions/%.o,$$(served_$1)) $$(libs)
	$(Q)$(CXX) -o $$@ $(bench_object) $$(call op_objects,solutions,$1) build/lib/libgpt2.a build/lib/libchecker.a -lfmt
endef
$(foreach step,$(step_numbers),$(eval $(call bench_rule,$(step))))
$(eval $(call announce,bench,the benchmark program,$(bench_object)))

ifneq ($(filter bench-cpu,$(MAKECMDGOALS)),)
  $(reject_gpt2)
endif

.PHONY: bench-cpu
bench-cpu: $(bench_programs) .venv/requirements.sha256
	@.venv/bin/python -m reference.bench_cpu $(if $(CONFIG),--config='$(CONFIG)') $(if $(B),-B '$(B)') \
	    $(if $(T),-T '$(T)') $(if $(ROUNDS),--rounds='$(ROUNDS)') \
	    $(foreach step,$(bench_steps),$(step)=build/gpt2-bench-$(step))
