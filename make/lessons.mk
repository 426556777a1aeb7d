# SPDX-License-Identifier: MIT
#
# What a learner types in a lesson: check, time, hint, reset, diff, watch, progress.
# Every command is known as check-lesson01 and as check-lesson1.

#: The lessons (here 01; ONLY=layernorm takes one exercise of it)
#:   make check-lesson01     check your files: right or wrong and why, how fast
#:                           SOLUTION=1 checks the solution, VERBOSE=1 says more
#:   make time-lesson01      only the times, all of them: median, p10, p90, rate,
#:                           shares of the roof and of others' speed
#:   make watch-lesson01     check again whenever you save
#:   make hint-lesson01      the next hint
#:   make reset-lesson01     the stub again; yours is kept in results/kept
#:   make diff-lesson01      yours against the solution, once yours passes
#:   make debug-lesson05     gdb in one CUDA thread, at its kernel's first line:
#:                           BLOCK=2,0 THREAD=17 KERNEL=… of ONLY=op/case
#:                           next stays in it, `here` says which it is
#:   make trace-lesson05     what one thread loads and stores, in order; chosen
#:                           as above; LIMIT=50 lines
#:   make traffic-lesson05   what your kernels ask of memory, line by line:
#:                           requests, sectors, bank conflicts, beside the
#:                           solution's totals. ONLY=op/case another case than
#:                           GPT-2's shape, JSON=file.json for plots. Where nvcc
#:                           is, lines where it emits other accesses are marked
#:   make estimate-lesson09  what cards could do at best with your kernels: a
#:                           time for each resource, which one binds, beside the
#:                           solution and an older lesson's; CARD=A6000 or T4,H100
#:                           or all, SHAPE='N=4096 C=768 OC=3072' another than
#:                           GPT-2's, SOLUTION=1, ONLY=op, JSON=file.json
#:   make compare-lesson07   your times beside recorded machines', as shares of
#:                           each one's roof; of kernels without a GPU what the
#:                           check counts, beside the solution's and an older's
#:   make progress           what passes so far
#:   make check-lesson04 DEVICE=gpu      on your GPU, with times; DEVICE=cpu on the
#:                           CPU device alone; without DEVICE on both that there
#:                           are. DRY=1 rehearses the GPU's part without a GPU
#:   make time-aa            how fair the clock is: the solutions of 01 to 03, each
#:                           timed REPEAT=20 times against itself; DEVICE=gpu
#:                           those of all lessons; VERBOSE=1 lists all shares
#:   make record-cpu         the solutions' times of 01 to 03 on this CPU, into
#:                           reference/timings/<cpu>.json; RUNS=5 of each
#:   make calibrate          how fast this machine copies and computes at best
#:

# The ops of lesson $1 whose solutions include its helper $2.
helped = $(basename $(notdir $(shell grep -l '^#include "$2.cuh"' $(call files_of,$1))))
subject := $(if $(filter-out 0,$(SOLUTION)),solutions,lessons)
only_op := $(firstword $(subst /, ,$(ONLY)))
GDB ?= gdb

# A goal is known by two digits and by the number alone.
kernel_commands := debug trace traffic estimate profile sanitize sass
lesson_commands := check time compare watch hint reset diff $(kernel_commands)
goals = $(numbers:%=$1-lesson%)
short := $(patsubst 0%,%,$(filter 0%,$(numbers)))
.PHONY: $(foreach command,$(lesson_commands),$(call goals,$(command)) $(short:%=$(command)-lesson%))
$(foreach command,$(lesson_commands),$(eval $(short:%=$(command)-lesson%): $(command)-lesson%: $(command)-lesson0%))

# ---- what is refused, each in one line, before anything is built -----------------------------------------------------

is_device = $(filter $1,$(device_lessons))
# The op of lesson $1 that SHAPE= is of.
shaped_op = $(or $(only_op),$(if $(word 2,$(call judged_ops,$1)),,$(call judged_ops,$1)))
# Why a command needs a GPU, and which one comes nearest to it on the CPU device.
only_on_gpu_time = the CPU device has no times, a GPU has; what it counts: make check-lesson$(call number,$2) DEVICE=cpu
only_on_gpu_profile = Nsight Compute looks at a GPU; what the CPU device counts: make traffic-lesson$(call number,$2)
only_on_gpu_sanitize = compute-sanitizer looks at a GPU; what the CPU device finds: make check-lesson$(call number,$2) DEVICE=cpu
# $1 command, $2 lesson
define reject
$(if $(filter-out $(call judged_ops,$2) $(call helpers_in,$2),$(only_op)),\
  $(error ONLY=$(ONLY): lesson $(call number,$2) has no $(only_op); it has: $(strip $(call judged_ops,$2) $(call helpers_in,$2))))
$(if $(filter-out hint reset diff,$1),$(if $(filter $(call helpers_in,$2),$(only_op)),\
  $(error ONLY=$(ONLY): a helper is judged with what includes it: ONLY=$(firstword $(call helped,$2,$(only_op))) or no ONLY)))
$(if $(call is_device,$2),\
  $(if $(filter-out cpu gpu,$(DEVICE)),$(error DEVICE=$(DEVICE): it is cpu (the CPU device) or gpu))\
  $(if $(filter time profile sanitize,$1),$(if $(filter cpu,$(DEVICE)),$(error DEVICE=cpu: $(only_on_gpu_$1)))),\
  $(if $(filter-out cpu,$(DEVICE)),$(error DEVICE=$(DEVICE): lesson $(call number,$2) is plain C++ for the CPU; leave DEVICE out))\
  $(if $(filter $(kernel_commands),$1),$(error lesson $(call number,$2) is plain C++ for the CPU; the lessons with kernels are \
    $(device_numbers))))
$(if $(and $(filter $2/%,$(cublas_ops)),$(or $(filter time profile sanitize sass,$1),$(filter gpu,$(DEVICE)))),\
  $(if $(or $(dry),$(has_cublas)),,$(error lesson $(call number,$2) calls cuBLAS, and nvcc has no cublas_v2.h: \
    CUBLAS=DIR names a folder with its include/ and lib/, as the Python package nvidia-cublas has them)))
$(if $(and $(filter estimate,$1),$(SHAPE)),$(if $(call shaped_op,$2),,$(error SHAPE= is of one op: ONLY= names it, one of \
    $(call judged_ops,$2))))
$(if $(filter debug,$1),$(if $(shell command -v $(firstword $(GDB))),,$(error $(firstword $(GDB)) is not there: $(shell scripts/setup.sh --how gdb))))
endef
lesson_of = $(filter $1_% 0$1_%,$(lesson_dirs))
lesson_goals := $(filter $(lesson_commands:%=%-lesson%),$(MAKECMDGOALS))
# The command that does on the CPU device what is wanted here: programs name it where there is no card, or a card does not
# say what that device does. A make within make keeps what it is told.
of_kernels := $(firstword $(filter $(device_lessons),$(foreach goal,$(lesson_goals) $(filter tune-lesson%,$(MAKECMDGOALS)),\
    $(call lesson_of,$(lastword $(subst -lesson, ,$(goal)))))))
ifneq ($(of_kernels),)
  SOL_ON_CPU := make check-lesson$(call number,$(of_kernels)) $(if $(ONLY),ONLY=$(if $(word 2,$(ONLY)),'$(ONLY)',$(ONLY)) )$(if \
      $(filter-out 0,$(SOLUTION)),SOLUTION=1 )DEVICE=cpu
endif
export SOL_ON_CPU ?= make check-lesson$(firstword $(device_numbers)) DEVICE=cpu
ifneq ($(dry),)
  ifneq ($(filter check-lesson% time-lesson%,$(lesson_goals)),)
    ifeq ($(filter gpu,$(DEVICE)),)
      $(error DRY=1 rehearses what is done on a GPU: it goes with DEVICE=gpu)
    endif
  endif
endif
$(foreach goal,$(subst -lesson,/,$(lesson_goals)),$(foreach lesson,$(call lesson_of,$(notdir $(goal))),\
    $(call reject,$(patsubst %/,%,$(dir $(goal))),$(lesson))))

# What ends in a recipe of another name when the lesson is not there.
no_lesson = $(error there is no lesson $1; the lessons are $(numbers))
define no_lesson_rule
$1-lesson:
	$$(error which lesson? For example: make $1-lesson$(if $(filter $(kernel_commands),$1),05,01))
$1-lesson%:
	$$(call no_lesson,$$*)
endef
$(foreach command,$(lesson_commands),$(eval $(call no_lesson_rule,$(command))))

# ---- check and time ---------------------------------------------------------------------------------------------------

# In the rules below the stem is a lesson's number. What is judged of a lesson, by the command line.
here = $(call named,$*)
chosen_ops = $(or $(only_op),$(call judged_ops,$(here)))
# What command $1 of a lesson runs on: a GPU's times are wanted, or a check there, or the CPU.
card := $(notdir $(gpu))
place = $(if $(call is_device,$(here)),$(if $(or $(filter time,$1),$(filter gpu,$(DEVICE))),$(card),cpu),cpu)
# The whole lesson is compiled even under ONLY where it is the solution's: times are taken against it.
check_needs = $(root_$1)/check/lesson$* $(call impls,$1,solutions,$(here)) \
    $(if $(filter lessons,$(subject)),$(call impls,$1,lessons,$(here),$(chosen_ops)))
# The chosen ops in the newest of the lessons before, of the same track, that have a file of them: what is to be beaten.
older_impls = $(foreach op,$(chosen_ops),$(patsubst solutions/%,build/impl/solutions/%.so,$(basename $(lastword $(filter \
    $(foreach lesson,$(call before,$(here)),$(addprefix solutions/$(lesson)/$(op),$(if $(call is_device,$(here)),.cu,.cpp))),$(solution_files))))))
check_options = --subject $(subject) $(if $(dry),,--results results/results.jsonl) --roof results/roof.json $(if $(ONLY),--only '$(ONLY)') \
    $(if $(VERBOSE),--verbose) $(if $(JSON),--json '$(JSON)')
card_options = $(if $(filter cpu,$1),,--impl-dir $(gpu)/impl/$(subject)/$(here) --reference-dir $(gpu)/impl/solutions/$(here) \
    --log-dir $(gpu)/ops/$(subject)/$(here) $(if $(dry),,--device "$$(build/tools/gpu --name), GPU"))

# On the device's track a check runs on the CPU device; then, where a GPU is and DEVICE does not choose, there too.
# Under WSL2 any card is /dev/dxg, and NVIDIA's driver brings this library. A Jetson has device files of its own.
gpu_seen := $(wildcard /dev/nvidia[0-9]* /dev/nvhost-gpu /dev/nvmap /dev/nvgpu)$(and $(wildcard /dev/dxg),$(wildcard /usr/lib/wsl/lib/libcuda.so*))
gpu_next := $(if $(DEVICE),,$(if $(gpu_seen),$(if $(nvcc),then,without)))
then_gpu = $(if $(call is_device,$(here)),$(gpu_next))
# Why the GPU that is seen cannot be used, asked once; nothing where it can.
no_gpu = $(eval no_gpu := $$(shell build/tools/gpu --arch 2>&1 >/dev/null))$(no_gpu)
define on_gpu_too
$(if $(filter then,$(then_gpu)),$(if $(no_gpu),@echo 'A GPU seems to be here too$(comma) and nothing ran on it: $(subst ','\'',$(no_gpu))',\
    +@$(MAKE) check-lesson$* DEVICE=gpu))\
$(if $(filter without,$(then_gpu)),@echo "A GPU is here too; with nvcc (make doctor) it is checked and timed there.")
endef

# After the check's own words make would add "make: *** [make/lessons.mk:155: check-lesson01] Error 1". It says nothing if
# it is ended by SIGPIPE, which shells do not report either. So it is on a terminal, where one goal was asked for; then its
# status is 141. Scripts get the line, and 2.
quietly = || { status=$$?; $(if $(filter 0,$(MAKELEVEL)),$(if $(word 2,$(MAKECMDGOALS)),,[ ! -t 2 ] || kill -PIPE $$PPID;)) exit $$status; }

# The verdict of kernels says what a card could do at best with them.
at_best = $(if $(call is_device,$(here)),$(if $(filter cpu,$(call place,check)),--at-best))
run_check = $(if $(filter gpu,$1),$(at_run_time)) $< $2 $(check_options) $(call card_options,$1)
# The whole step is run too, where each op is right.
model_needs = $(if $(ONLY),,$(call models,$1,$(subject),$(here)))
$(call goals,check): check-lesson%: $$(call check_needs,$$(call place,check)) $$(call model_needs,$$(call place,check)) $$(if $$(filter then,$$(then_gpu)),build/tools/gpu)
	@$(call run_check,$(call place,check),$(if $(filter then,$(then_gpu)),$(if $(no_gpu),,--more)) $(at_best)) $(quietly)
	$(on_gpu_too)
$(call goals,time): time-lesson%: $$(call check_needs,$$(call place,time))
	@$(call run_check,$(call place,time),--timing-only) $(quietly)

# The solutions against themselves, by the same check.
aa_lessons := $(host_lessons) $(if $(filter gpu,$(DEVICE)),$(device_lessons))
aa_place = $(if $(call is_device,$(here)),$(card),cpu)
aa_check = $(root_$(aa_place))/check/lesson$(call number,$(here))
aa_needs := $(foreach here,$(aa_lessons),$(aa_check) $(call impls,$(aa_place),solutions,$(here)))
aa_options = $(if $(call is_device,$(here)),$(addsuffix $(gpu)/impl/solutions/$(here),--impl-dir= --reference-dir=))
.PHONY: time-aa
time-aa: $(aa_needs)
	@$(call with_python,VERBOSE='$(VERBOSE)') scripts/time_aa.py $(or $(REPEAT),20) $(foreach here,$(aa_lessons),'$(aa_check) $(aa_options)')

# The solutions' times on this CPU, for others to compare with.
.PHONY: record-cpu
record-cpu: $(foreach here,$(host_lessons),build/check/lesson$(call number,$(here)) $(call impls,cpu,solutions,$(here)))
	$(report_run) reference.timings.record_cpu $(host_checks) $(if $(RUNS),--runs='$(RUNS)') --compiler='$(CXX)' --flags='$(op_flags)'

# ---- working on a lesson ------------------------------------------------------------------------------------------------

$(call goals,watch): watch-lesson%:
	@scripts/watch.sh $(here) $(if $(ONLY),ONLY='$(ONLY)') $(if $(VERBOSE),VERBOSE=1)
$(call goals,hint): hint-lesson%: $(if $(wildcard results/results.jsonl),build/tools/progress)
	@scripts/hint.sh $(here) '$(only_op)'
own_files = $(or $(only_op),$(call helpers_in,$(here)) $(call ops_of,$(here)))
$(call goals,reset): reset-lesson%: build/tools/stubs
	@$< --reset $(filter $(addprefix solutions/$(here)/,$(addsuffix .%,$(own_files))),$(solution_files) $(helper_files))
$(call goals,diff): diff-lesson%: build/tools/stubs $$(addprefix build/verdict/$$(here)/,$$(own_files))
	@scripts/diff.sh $(here) $(own_files)

# One CUDA thread: of the first launch of KERNEL (or of any) that has it, in the cases of ONLY (or in all).
chosen_thread = $(KERNEL):$(BLOCK):$(THREAD)
one_thread = --one-thread --subject $(subject) $(if $(ONLY),--only '$(ONLY)')
$(call goals,debug): debug-lesson%: build/check/lesson% $$(call impls,debug,$(subject),$$(here),$$(chosen_ops))
	@SIMT_STOP='$(chosen_thread)' $(GDB) -q -iex 'set print symbol-loading off' -x checker/simt/debug.py \
	    --args $< $(one_thread) --impl-dir build/debug/impl/$(subject)/$(here)
$(call goals,trace): trace-lesson%: build/check/lesson% $$(call impls,cpu,$(subject),$$(here),$$(chosen_ops))
	@SIMT_TRACE='$(chosen_thread)' SIMT_TRACE_LIMIT='$(LIMIT)' $< $(one_thread)
# What the kernels ask of memory, beside the solution's and those of the newest lesson before that has the op; and where nvcc
# emits something else, of which a solution's is recorded.
$(call goals,traffic): traffic-lesson%: build/check/lesson% $$(call impls,cpu,$(subject) solutions,$$(here),$$(chosen_ops)) $$(older_impls)
	$(if $(filter lessons,$(subject)),$(call emit,$(chosen_ops),lessons/$(here),sm_90a))
	@$< --traffic --subject $(subject) $(if $(ONLY),--only '$(ONLY)') $(if $(JSON),--json '$(JSON)')

# What cards could do at best with them, by what the CPU device counts and what nvcc emits, of which a solution's is recorded.
# Of what nvcc refuses it is said why, and the source's own accesses are taken. Where nvcc is not, the kernels' arithmetic is
# counted too, which simtcc can on processors that have fused multiply-adds.
cards_wanted = $(if $(CARD),--cards '$(CARD)')
emitted_for_cards = archs=$$($< --estimate --archs $(cards_wanted)) || exit; \
    said=$$($(MAKE) -s -k -j$$(nproc) $(foreach op,$(chosen_ops),$(patsubst %.cu,$$(printf 'build/sass/%.%s.json ' $$archs),\
        $(wildcard lessons/$(here)/$(op).cu))) 2>&1) || grep -m1 -E '^(kernel-sass: |nvcc|CUDA )' <<<"$$said" >&2;
without_nvdisasm = $(if $(and $(nvcc),$(filter lessons,$(subject))),echo \
    'nvcc is there and nvdisasm is not: make setup NVCC=1 puts it into .venv' >&2;)
emits := $(and $(nvcc),$(nvdisasm),$(filter lessons,$(subject)))
flavour_estimated := $(if $(emits)$(filter solutions,$(subject)),cpu,$(shell grep -qsw fma /proc/cpuinfo && echo arith || echo cpu))
$(call goals,estimate): estimate-lesson%: build/check/lesson% $$(call impls,$(flavour_estimated),$(subject) solutions,$$(here),$$(chosen_ops)) \
        $$(subst build/impl/,$$(root_$(flavour_estimated))/impl/,$$(older_impls))
	@$(if $(emits),$(emitted_for_cards),$(without_nvdisasm)) \
	    $(if $(SHAPE),SOL_CALL='$(call shaped_op,$(here)) $(SHAPE)') $< --estimate --subject $(subject) $(cards_wanted) \
	    --impl-dir $(root_$(flavour_estimated))/impl/$(subject)/$(here) \
	    --reference-dir $(root_$(flavour_estimated))/impl/solutions/$(here) \
	    $(if $(ONLY),--only '$(ONLY)') $(if $(JSON),--json '$(JSON)')

# The learner's times beside recorded ones; counters where there are none.
compare_needs = $(if $(call is_device,$(here)),build/check/lesson$* $(call impls,cpu,$(subject) solutions,$(here),$(chosen_ops)) $(older_impls))
$(call goals,compare): compare-lesson%: $$(compare_needs)
	$(report_run) reference.timings.compare $(here) --subject $(subject) $(if $(only_op),--only '$(only_op)') \
	    $(if $<,--check $< --older $(older_impls))

# Whose file serves an op where the learner's are wanted: the word `lessons` where the learner's is right, `solutions`
# where it is not (yet). Times do not count. Taken anew whenever the learner's file changed.
op_names := $(foreach lesson,$(lesson_dirs),$(addprefix $(lesson)/,$(call ops_of,$(lesson))))
its_lesson = $(firstword $(subst /, ,$*))
$(op_names:%=build/verdict/%): build/verdict/%: build/impl/lessons/%.so build/check/lesson$$(call number,$$(its_lesson)) \
        $$(call impls,cpu,solutions,$$(its_lesson))
	@mkdir -p $(@D)
	$(Q)if [ -f $< ] && $(word 2,$^) --only $(notdir $*) --no-timing >$@.log 2>&1; then echo lessons; else echo solutions; fi >$@
# A helper is right where the lesson's ops that are meant to include it are.
$(helper_files:solutions/%.cuh=build/verdict/%): build/verdict/%: \
        $$(addprefix build/verdict/$$(its_lesson)/,$$(call helped,$$(its_lesson),$$(notdir $$*)))
	$(Q)if grep -qx solutions $^; then echo solutions; else echo lessons; fi >$@
$(patsubst solutions/%,lessons/%,$(solution_files) $(helper_files)):
	$(error $@ is gone; the stub comes back with: make reset-lesson$(call number,$(notdir $(@D))) ONLY=$(basename $(@F)))

.PHONY: progress
progress: build/tools/progress
	@$<

# The CPU's roof needs nothing of a GPU's: why that one is left out is said in a line.
gpu_roof = $(if $(gpu_seen),why=$$(build/tools/gpu 2>&1 >/dev/null) && { why='its program was not built'; \
    $(MAKE) build/calibrate-gpu; },{ why='no GPU is here'; false; })
.PHONY: calibrate
calibrate: build/calibrate $(if $(gpu_seen),build/tools/gpu)
	+@gpu=build/calibrate-gpu; $(gpu_roof) || { gpu=none; echo "the GPU's roof is left out: $$why" >&2; }; $< --gpu $$gpu
