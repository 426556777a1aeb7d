# SPDX-License-Identifier: MIT
#
# What a learner types in a lesson: check, time, hint, reset, diff, watch, progress.
# Every command is known as check-lesson01 and as check-lesson1.

#: Speed of Light: GPT-2, from plain C++ to faster than PyTorch
#:
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
#:                           GPT-2's shape, JSON=file.json for plots
#:   make progress           what passes so far
#:   make check-lesson04 DEVICE=gpu      on your GPU, with times; DEVICE=cpu on the
#:                           CPU device alone; without DEVICE on both that there
#:                           are. DRY=1 rehearses the GPU's part without a GPU
#:   make calibrate          how fast this machine copies and computes at best
#:

subject := $(if $(filter-out 0,$(SOLUTION)),solutions,lessons)
only_op := $(firstword $(subst /, ,$(ONLY)))
check_options = --subject $(subject) $(if $(dry),,--results results/results.jsonl) --roof results/roof.json $(if $(ONLY),--only '$(ONLY)') \
    $(if $(VERBOSE),--verbose) $(if $(JSON),--json '$(JSON)')

# Ends make with one line when $1, the lesson's folder of a goal, cannot do what the command line asks.
define reject
$(if $(filter-out $(call ops_of,$1),$(only_op)),\
  $(error ONLY=$(ONLY): lesson $(call number,$1) has no $(only_op); it has: $(call ops_of,$1)))
$(if $(filter device,$(call track_of,$1)),\
  $(if $(filter-out cpu gpu,$(DEVICE)),$(error DEVICE=$(DEVICE): it is cpu (the CPU device) or gpu)),\
  $(if $(filter-out cpu,$(DEVICE)),$(error DEVICE=$(DEVICE): lesson $(call number,$1) is plain C++ for the CPU; leave DEVICE out)))
endef
# A lesson's times are those of its device; the CPU device has none.
reject_times = $(if $(filter device,$(call track_of,$1)),$(if $(filter cpu,$(DEVICE)),\
  $(error DEVICE=cpu: the CPU device has no times, a GPU has; make check-lesson$(call number,$1) says what it counts)))
ifneq ($(dry),)
  ifneq ($(filter check-lesson% time-lesson%,$(MAKECMDGOALS)),)
    ifeq ($(filter gpu,$(DEVICE)),)
      $(error DRY=1 rehearses what is done on a GPU: it goes with DEVICE=gpu)
    endif
  endif
endif
# The same for what only kernels have. $2: debug, trace or traffic.
GDB ?= gdb
define reject_thread
$(if $(filter host,$(call track_of,$1)),\
  $(error lesson $(call number,$1) has no kernels; these have: $(foreach lesson,$(filter-out $(host_lessons),$(lesson_dirs)),$(call number,$(lesson)))))
$(if $(filter debug,$2),$(if $(shell command -v $(firstword $(GDB))),,\
  $(error $(firstword $(GDB)) is not there: apt-get install gdb)))
endef
lesson_of = $(filter $1_% 0$1_%,$(lesson_dirs))
$(foreach goal,$(filter %,$(subst -lesson, ,$(filter $(addsuffix -lesson%,check time watch hint reset diff debug trace traffic),$(MAKECMDGOALS)))),\
  $(foreach lesson,$(call lesson_of,$(goal)),$(call reject,$(lesson))))
$(foreach command,debug trace traffic,$(foreach goal,$(patsubst $(command)-lesson%,%,$(filter $(command)-lesson%,$(MAKECMDGOALS))),\
  $(foreach lesson,$(call lesson_of,$(goal)),$(call reject_thread,$(lesson),$(command)))))
chosen_ops = $(or $(only_op),$(call ops_of,$1))
impls = $(patsubst %,build/impl/$1/$2/%.so,$3)

$(foreach goal,$(filter %,$(subst -lesson, ,$(filter time-lesson%,$(MAKECMDGOALS)))),\
  $(foreach lesson,$(call lesson_of,$(goal)),$(call reject_times,$(lesson))))

# On the device's track a check runs on the CPU device; then, where a GPU is and DEVICE does not choose, there too.
gpu_options = $(check_options) --impl-dir $(gpu)/impl/$(subject)/$1 --reference-dir $(gpu)/impl/solutions/$1 \
    --log-dir build/gpu/ops/$(subject)/$1 $(if $(dry),,--device "$$(build/tools/gpu --name), GPU")
# What lesson $1 requires of a card, by lesson.toml; fails in one line where the card here is older.
requires_of = $(firstword $(filter sm_%,$(subst ",$(space),$(file <lessons/$1/lesson.toml))))
card_suits = $(if $(dry),,build/tools/gpu --requires $(or $(requires_of),sm_75) >/dev/null &&)
gpu_seen := $(wildcard /dev/nvidia[0-9]* /dev/dxg)
then_gpu = $(if $(DEVICE),,$(if $(gpu_seen),$(if $(nvcc),then,without)))
define on_gpu_too
$(if $(filter then,$(then_gpu)),@build/tools/gpu --arch >/dev/null && $(MAKE) check-lesson$1 DEVICE=gpu)\
$(if $(filter without,$(then_gpu)),@echo "A GPU is here too; with nvcc on PATH (make doctor) it is checked and timed there.")
endef

# What ends in a recipe of another name when the lesson is not there.
lesson_commands := check time watch hint reset diff debug trace traffic
no_lesson = $(error there is no lesson $1; the lessons are $(foreach lesson,$(lesson_dirs),$(call number,$(lesson))))

define lesson_rules
.PHONY: $(foreach command,$(lesson_commands),$(command)-lesson$2 $(command)-lesson$(patsubst 0%,%,$2))
$(if $(filter 0%,$2),$(foreach command,$(lesson_commands),
$(command)-lesson$(patsubst 0%,%,$2): $(command)-lesson$2))

# The whole lesson is compiled even under ONLY where it is the solution's: times are taken against it.
$(if $(filter device,$(call track_of,$1)),
$(if $(filter gpu,$(DEVICE)),check-lesson$2) time-lesson$2: $(gpu)/check/lesson$2 \
        $(patsubst %,$(gpu)/impl/solutions/$1/%.so,$(call ops_of,$1)) \
        $(if $(filter lessons,$(subject)),$(patsubst %,$(gpu)/impl/lessons/$1/%.so,$(call chosen_ops,$1)))
time-lesson$2:
	@$(call card_suits,$1) $$< --timing-only $$(call gpu_options,$1)
,
time-lesson$2: build/check/lesson$2 $$(call impls,solutions,$1,$(call ops_of,$1)) $$(call older_impls,$1,$$(call chosen_ops,$1)) \
        $$(if $$(filter lessons,$(subject)),$$(call impls,lessons,$1,$$(call chosen_ops,$1)))
	@$$< --timing-only $(check_options)
)
$(if $(and $(filter device,$(call track_of,$1)),$(filter gpu,$(DEVICE))),
check-lesson$2:
	@$(call card_suits,$1) $$< $$(call gpu_options,$1)
,
check-lesson$2: build/check/lesson$2 $$(call impls,solutions,$1,$(call ops_of,$1)) \
        $$(if $$(filter lessons,$(subject)),$$(call impls,lessons,$1,$$(call chosen_ops,$1))) \
        $(if $(filter device,$(call track_of,$1)),$(if $(filter then,$(then_gpu)),build/tools/gpu),$$(call older_impls,$1,$$(call chosen_ops,$1)))
	@$$< $(check_options) $(if $(filter device,$(call track_of,$1)),$(if $(filter then,$(then_gpu)),--more))
	$(if $(filter device,$(call track_of,$1)),$$(call on_gpu_too,$2))
)
watch-lesson$2:
	@scripts/watch.sh $1 $(if $(ONLY),ONLY='$(ONLY)') $(if $(VERBOSE),VERBOSE=1)
hint-lesson$2:
	@scripts/hint.sh $1 '$(only_op)'
reset-lesson$2: build/tools/stubs
	@$$< --reset $(patsubst %,solutions/$1/%.$(call extension_of,$1),$(call chosen_ops,$1))
diff-lesson$2: build/tools/stubs $(patsubst %,build/verdict/$1/%,$(call chosen_ops,$1))
	@scripts/diff.sh $1 $(call chosen_ops,$1)

# One CUDA thread: of the first launch of KERNEL (or of any) that has it, in the cases of ONLY (or in all).
debug-lesson$2: build/check/lesson$2 $(if $(filter-out $(host_lessons),$1),$$(patsubst %,build/debug-impl/$(subject)/$1/%.so,$$(call chosen_ops,$1)))
	@SIMT_STOP='$(chosen_thread)' $(GDB) -q -iex 'set print symbol-loading off' -x checker/simt/debug.py \
	    --args $$< $(one_thread) --impl-dir build/debug-impl/$(subject)/$1
trace-lesson$2: build/check/lesson$2 $$(call impls,$(subject),$1,$$(call chosen_ops,$1))
	@SIMT_TRACE='$(chosen_thread)' SIMT_TRACE_LIMIT='$(LIMIT)' $$< $(one_thread)
# What the kernels ask of memory, beside the solution's and those of the newest lesson before that has the op.
traffic-lesson$2: build/check/lesson$2 $$(call impls,$(subject),$1,$$(call chosen_ops,$1)) $$(call impls,solutions,$1,$$(call chosen_ops,$1)) \
        $$(call older_impls,$1,$$(call chosen_ops,$1))
	@$$< --traffic --subject $(subject) $(if $(ONLY),--only '$(ONLY)') $(if $(JSON),--json '$(JSON)')
endef
# The implementations of ops $2 in the newest lessons before $1 that have a file of them, of the same track.
lessons_before = $(if $(filter-out $1,$(firstword $2)),$(firstword $2) $(call lessons_before,$1,$(wordlist 2,$(words $2),$2)))
older_impls = $(foreach op,$2,$(patsubst solutions/%.$(call extension_of,$1),build/impl/solutions/%.so,$(lastword $(filter \
    $(patsubst %,solutions/%/$(op).$(call extension_of,$1),$(call lessons_before,$1,$(lesson_dirs))),$(solution_files)))))
chosen_thread = $(KERNEL):$(BLOCK):$(THREAD)
one_thread = --one-thread --subject $(subject) $(if $(ONLY),--only '$(ONLY)')
$(foreach lesson,$(lesson_dirs),$(eval $(call lesson_rules,$(lesson),$(call number,$(lesson)))))

define no_lesson_rule
$1-lesson:
	$$(error which lesson? For example: make $1-lesson$(if $(filter debug trace traffic,$1),$(call number,$(lastword $(lesson_dirs))),01))
$1-lesson%:
	$$(call no_lesson,$$*)
endef
$(foreach command,$(lesson_commands),$(eval $(call no_lesson_rule,$(command))))

# Whose file serves an op where the learner's are wanted: the word `lessons` where the learner's is right, `solutions`
# where it is not (yet). Times do not count. Taken anew whenever the learner's file changed.
define verdict_rule
build/verdict/$1/$2: build/impl/lessons/$1/$2.so build/check/lesson$(call number,$1) \
        $(patsubst %,build/impl/solutions/$1/%.so,$(call ops_of,$1))
	@mkdir -p $$(@D)
	$(Q)if [ -f $$< ] && build/check/lesson$(call number,$1) --only $2 --no-timing >$$@.log 2>&1; \
	    then echo lessons; else echo solutions; fi >$$@
lessons/$1/$2.$(call extension_of,$1):
	$$(error $$@ is gone; the stub comes back with: make reset-lesson$(call number,$1) ONLY=$2)
endef
$(foreach lesson,$(lesson_dirs),$(foreach op,$(call ops_of,$(lesson)),$(eval $(call verdict_rule,$(lesson),$(op)))))

.PHONY: progress
progress: build/tools/progress
	@$<

.PHONY: calibrate
calibrate: build/calibrate $(calibrate_gpu)
	@$<
