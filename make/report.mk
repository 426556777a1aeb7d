# SPDX-License-Identifier: MIT
#
# What only a GPU can tell: the report of a card, Nsight Compute and compute-sanitizer on a lesson's kernels. The work is
# done in reference/report and reference/gpu/inspect_op.py. The report calls make once, for report-programs, so that one file
# that does not compile is one line of the report.

#: On an NVIDIA GPU (DRY=1 rehearses without one)
#:   make gpu-report         all that the course does on this card, into
#:                           reference/timings/<gpu>.json; PART=checks|calibrate|
#:                           timings|baselines|forward_b4|forward_b1|forward_b16|
#:                           ladder|waterfall|given|sanitize|ncu|simt|libs
#:                           takes one, FRESH=1 measures again what is there
#:                           LEASE=9m30s ends within that time and measures the
#:                           most valuable first; OUT=DIR writes into that
#:                           folder. PLAN=1 prints the schedule (WRITE=1: into
#:                           its page), MERGE=FILE adds what came back to the
#:                           card's file; both need no GPU
#:   make lease-check        before a card is borrowed: what to take along, and
#:                           what to type there
#:   make predictions        whether today's estimates differ from those that
#:                           were registered last; WRITE=1 registers them
#:   make ncu-table          counts the lessons' kernels on the CPU device and
#:                           sets that beside what the part ncu has measured, in
#:                           checker/simt/VS_NCU.md; needs no GPU
#:   make profile-lesson05   Nsight Compute on your kernels of one op
#:   make sanitize-lesson05  compute-sanitizer's four tools on them
#:                           ONLY=matmul takes that op, SOLUTION=1 the solution's
#:   make sass-lesson05      your kernels' SASS by source line, registers, spills,
#:                           occupancy; needs nvcc, for the SASS nvdisasm, no GPU:
#:                           ARCH=sm_90a, BLOCK=256, FULL=1 all of it in order
#:   make sass-table         whether reference/sass.json has what nvcc emits of the
#:                           solutions as they are; WRITE=1 compiles anew what is
#:                           not, with nvcc: 10 s a file and architecture
#:   make tune-lesson10      your kernel with other sizes, timed beside cuBLAS, and
#:                           which suit your card; SOLUTION=1 the solution's
#:

# The Python that holds PyTorch, or one line where it is not there.
with_python = command -v '$(report_python)' >/dev/null || { \
    echo "make $@: $(report_python) is not there; PYTHON=… names one, 3.10 or newer" >&2; exit 1; }; $1 '$(report_python)'
# Where the mend is to run the command again as root, it is named as it was given.
report_run = $(call report_with)
# $1: variables for what it runs.
report_with = @$(call with_python,$1 MAKE='$(MAKE)' SOL_COMMAND='$(subst ','\'',make $(strip $(MAKECMDGOALS) $(MAKEOVERRIDES)))') -m

# ---- the report --------------------------------------------------------------------------------------------------------

# The programs that each part runs. Passes are timed of the newest step, and at B=4 of `passes_timed`, which a page compares.
report_parts := checks calibrate timings baselines forward_b4 forward_b1 forward_b16 ladder waterfall given sanitize ncu simt libs
programs_always = build/tools/lessons build/tools/ops $(if $(dry),,build/tools/gpu) $(calls_programs)
programs_judged = $(call device_checks,$(card)) $(call impls,$(card),solutions,$(device_lessons))
programs_timings = $(programs_judged) $(foreach lesson,$(device_lessons),$(call step_before_impls,$(card),$(lesson)))
programs_checks = $(programs_judged) $(wrong_on_card)
programs_calibrate = $(if $(dry),,build/calibrate-gpu)
programs_baselines =
passes_timed := naive_forward double_buffered_matmul cublaslt_fusion fused_attention
bench_of = $(call program_name,gpt2-bench,$(call number,$1),solutions,$(if $(dry),,gpu))
programs_forward_b1 = $(call bench_of,$(lastword $(device_steps)))
programs_forward_b16 = $(programs_forward_b1)
programs_forward_b4 = $(programs_forward_b1) $(foreach step,$(filter $(addprefix %_,$(passes_timed)),$(device_steps)),$(call bench_of,$(step)))
programs_ladder = $(gpu)/check/ladder $(patsubst %,$(gpu)/impl/solutions/%/matmul.so,$(filter $(device_lessons),$(matmuls)))
programs_waterfall = $(programs_timings)
programs_given = $(given_programs:lessons/%.cu=$(gpu)/given/%)
programs_sanitize = $(programs_judged)
programs_ncu = $(programs_timings) $(gpu)/simt/rules
programs_simt = $(simt_kernels:build/tests/simt/kernels/%=$(gpu)/simt/%)
programs_libs = $(library_calls:%=$(gpu)/simt/libraries/%) $(library_calls:%=build/tests/simt/libraries/%)

# All of it by one make, with -k: a file that does not compile costs what is made of it and no more.
PARTS ?= $(report_parts)
report_programs = $(sort $(programs_always) $(foreach part,$(PARTS),$(programs_$(part))))
.PHONY: report-programs
ifneq ($(filter report-programs,$(MAKECMDGOALS)),)
  $(if $(filter-out $(report_parts),$(PARTS)),$(error PARTS=$(PARTS): each is one of $(report_parts)))
endif
report-programs: $(if $(filter report-programs,$(MAKECMDGOALS)),$(report_programs))

.PHONY: gpu-report
# Where there is no nvidia-smi, this one names the card.
names_card := $(if $(dry),,$(if $(gpu_seen),build/tools/gpu))
ifneq ($(filter gpu-report,$(MAKECMDGOALS)),)
  $(if $(filter-out $(report_parts) all,$(PART)),$(error PART=$(PART): it is one of $(report_parts) all))
  $(foreach gone,REPORT BUDGET,$(if $(filter command,$(origin $(gone))),$(error $(gone)= is no longer known: \
    $(if $(filter REPORT,$(gone)),OUT=DIR is the folder of the results,LEASE=9m30s is the time that the report may take))))
  # The lease runs while make reads its files. The report builds what names the card with the rest, by a job a processor.
  begun := $(if $(LEASE),$(shell date +%s))
  report_plans := $(filter-out 0,$(PLAN))
  names_itself := $(if $(or $(MERGE),$(and $(LEASE),$(shell scripts/cuda.sh nvidia-smi))),yes)
endif
gpu-report: $(if $(report_plans),build/tools/lessons build/tools/ops forward-calls,$(if $(names_itself),,$(names_card)))
	$(call report_with,$(if $(report_plans)$(MERGE)$(dry),,$(at_run_time))) reference.report.main $(if $(PART),--part='$(PART)') $(if $(dry),--dry) \
	    $(if $(filter-out 0,$(FRESH)),--fresh) $(if $(COMMIT),--commit='$(COMMIT)') $(if $(OUT),--out='$(OUT)') \
	    $(if $(LEASE),--lease='$(LEASE)' --begun=$(begun)) $(if $(MERGE),--merge='$(MERGE)') \
	    $(if $(report_plans),--plan $(if $(filter-out 0,$(WRITE)),--write))

.PHONY: lease-check
lease-check:
	@MAKE='$(MAKE)' scripts/lease_check.sh

# Estimates, registered before a card measures what they are of.
.PHONY: predictions
predictions: $(waterfall_needs) $(waterfall_counts) .venv/requirements.sha256
	@.venv/bin/python -m reference.report.predictions $(if $(filter-out 0,$(WRITE)),--write)

# ---- Nsight Compute, compute-sanitizer, SASS ---------------------------------------------------------------------------

.PHONY: ncu-table
ncu-table: build/tests/simt/rules build/tools/lessons $(call device_checks,cpu) $(call impls,cpu,solutions,$(device_lessons))
	$(report_run) reference.gpu.simt_vs_ncu

run_on = $(call report_with,$2) reference.gpu.$1 '$*' --subject=$(subject) $(if $(ONLY),--only='$(ONLY)')
$(call goals,profile): profile-lesson%: $(names_card)
	$(call run_on,inspect_op profile,$(if $(dry),,$(at_run_time))) $(if $(dry),--dry)
$(call goals,sanitize): sanitize-lesson%: $(names_card)
	$(call run_on,inspect_op sanitize,$(if $(dry),,$(at_run_time))) $(if $(dry),--dry)
$(call goals,sass): sass-lesson%: $(if $(filter lessons,$(subject)),$(helpers)) $(if $(nvcc),build/toolkit)
	$(call run_on,sass) --flags='$(card_flags) $(include_$(subject))' $(if $(ARCH),--arch='$(ARCH)') $(if $(BLOCK),--block='$(BLOCK)') \
	    $(if $(filter-out 0,$(FULL)),--full)

# build/sass/lessons/08_name/matmul.sm_86.json: what nvcc emits for the kernels of that file, by loop.
sass_of = $(firstword $(subst /, ,$*))
build/sass/%.json: $$(basename $$*).cu $(helper_files) $$(wildcard $$(dir $$*)*.cuh) $(addprefix reference/gpu/,nvcc.py sass_flow.py kernel_sass.py) \
        $(if $(nvcc),build/toolkit)
	$(report_run) reference.gpu.kernel_sass $< --arch='$(patsubst .%,%,$(suffix $*))' --flags='$(card_flags) $(include_$(sass_of))' --out=$@

# Such files of the ops $1 of $2, lessons/08_name, for the architectures $3: where the tools are, and what compiles.
emit = $(if $(and $(nvcc),$(nvdisasm)),+@$(MAKE) -k $(foreach op,$1,$(if $(wildcard $2/$(op).cu),$(3:%=build/sass/$2/$(op).%.json))) \
    >/dev/null 2>&1 || true)

# What is recorded of the solutions. Those that call cuBLAS are compiled with its headers.
.PHONY: sass-table
sass-table: $(if $(filter-out 0,$(WRITE)),$(if $(nvcc),build/toolkit $(if $(cublas_header),,build/cublas/$$(cuda_major)/fetched)))
	$(report_run) reference.gpu.sass_table --flags='$(card_flags) $(include_solutions)' $(if $(filter-out 0,$(WRITE)),--write)

# ---- a lesson's tuner --------------------------------------------------------------------------------------------------

# lessons/NN_name/tune/tune.cu includes the lesson's matmul.cu, yours or the solution's, once for each of the sizes in
# tiles.h; the lines in which the file has its own are left out. Without a GPU it is compiled for the CPU device, which runs
# all of them and measures none.
tuned_lessons := $(patsubst lessons/%/tune/tune.cu,%,$(wildcard lessons/*/tune/tune.cu))
ifneq ($(filter tune-lesson%,$(MAKECMDGOALS)),)
  $(if $(filter-out cpu gpu,$(DEVICE)),$(error DEVICE=$(DEVICE): it is cpu (the CPU device) or gpu))
endif
tune_on = $(if $(dry),cpu,$(or $(DEVICE),$(if $(and $(gpu_seen),$(nvcc)),gpu,cpu)))
sizes := int_kBlockN int_kThreadN int_kStep bool_kAsync
define tune_rules
.PRECIOUS: build/tune/%/$1/matmul.cu
build/tune/%/$1/matmul.cu: %/$1/matmul.cu
	@mkdir -p $$(@D)
	@$$(foreach size,$$(sizes),grep -q '^constexpr $$(subst _, ,$$(size)) = .*;' $$< || { \
	    echo 'tune: $$< has no line `constexpr $$(subst _, ,$$(size)) = …;`' >&2; exit 1; };)
	@{ echo '#line 1 "$$<"'; sed $$(foreach size,$$(sizes),-e 's/^constexpr $$(subst _, ,$$(size)) = .*//') $$<; } >$$@
build/tune/cpu/%/lesson$(call number,$1): build/tune/%/$1/matmul.cu $(wildcard lessons/$1/tune/*) \
        build/dry/obj/checker/devices/gpu/gpu_launch.o build/obj/checker/clock/timing.o $(checker_headers) $(wildcard lessons/gpt2/*.h) $(simtcc_needs)
	@mkdir -p $$(@D)
	$$(show)build/simtcc $(filter-out -Xcompiler -fPIC%,$(device_flags)) -Xcompiler -Wno-unused,-Wno-unused-parameter \
	    -DMATMUL_FILE='"$$<"' lessons/$1/tune/tune.cu $$(filter %.o,$$^) -o $$@$$(hide)
build/tune/gpu/%/lesson$(call number,$1): build/tune/%/$1/matmul.cu $(wildcard lessons/$1/tune/*) \
        build/gpu/obj/checker/devices/gpu/gpu_launch.o build/obj/checker/clock/timing.o $(checker_headers) $(wildcard lessons/gpt2/*.h) build/gpu/card
	@mkdir -p $$(@D)
	$$(show){ $$(run_nvcc) $$(gpu_flags) $$(nvcc_warnings_$$*) -DMATMUL_FILE='"$$<"' -c lessons/$1/tune/tune.cu -o $$@.o && \
	    $$(CXX) -o $$@ $$@.o $$(filter %.o,$$^) $$(cudart) -ldl; }$$(hide)
.PHONY: tune-lesson$(call number,$1) tune-lesson$(patsubst 0%,%,$(call number,$1))
tune-lesson$(call number,$1): build/tune/$(tune_on)/$(subject)/lesson$(call number,$1)
	@$$< $(if $(dry),--rehearse)
$(if $(filter 0%,$(call number,$1)),tune-lesson$(patsubst 0%,%,$(call number,$1)): tune-lesson$(call number,$1))
endef
$(foreach lesson,$(tuned_lessons),$(eval $(call tune_rules,$(lesson))))
tune-lesson:
	$(error which lesson? For example: make tune-lesson$(lastword $(foreach lesson,$(tuned_lessons),$(call number,$(lesson)))))
tune-lesson%:
	$(error lesson $* has no tuner; these have: $(foreach lesson,$(tuned_lessons),$(call number,$(lesson))))
