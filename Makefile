# SPDX-License-Identifier: MIT
#
# `make` prints every command: the lines that start with `#:` here and in make/*.mk.
# The rules are in make/build.mk (the harness, its tests, setup), make/ops.mk (what is built of lessons and solutions),
# make/simt.mk (the CPU device), make/gpu.mk (the build for a GPU), make/lessons.mk (check, hint, reset, …), make/gpt2.mk (the
# program), make/report.mk (a GPU's report and tools) and make/test.mk (setup, tests, generated files). A new lesson needs
# no edit in any of them: folders lessons/NN_name and solutions/NN_name are found by name.

#: Speed of Light: GPT-2 in C++ and CUDA, kernel by kernel
#:
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
SHELL := /bin/bash

CXX := g++
AR := ar
Q := $(if $(V),,@)

# As many jobs as there are processors, but one for each GiB that is free; a -j on the command line wins. A make within a
# make shares its jobs.
ifeq ($(findstring --jobserver,$(shell echo "$$MAKEFLAGS")),)
  MAKEFLAGS += -j$(shell cpus=$$(nproc 2>/dev/null || echo 1); \
    gib=$$(awk '/^MemAvailable/ {print int($$2 / 1048576) + 1}' /proc/meminfo 2>/dev/null || echo 2); \
    echo $$((cpus < gib ? cpus : gib)))
endif

# Prerequisites of what follows are expanded again when their target is wanted: there $$ defers.
.SECONDEXPANSION:
include $(addprefix make/,build.mk ops.mk simt.mk gpu.mk lessons.mk gpt2.mk report.mk test.mk)

.PHONY: help
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile $(addprefix make/,lessons.mk gpt2.mk simt.mk report.mk test.mk)
