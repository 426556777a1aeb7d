# SPDX-License-Identifier: MIT
#
# `make` prints every command: the lines that start with `#:` here and in make/*.mk.
# The rules are in make/build.mk (what is compiled from what), make/lessons.mk (check, hint, reset, …),
# make/gpu.mk (the build for a GPU), make/gpt2.mk (the program), make/simt.mk (the CPU device), make/fuzz.mk,
# make/report.mk (a GPU's report and tools) and make/test.mk (setup, tests, generated files). A new lesson needs no edit in
# any of them: folders lessons/NN_name and solutions/NN_name are found by name.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
SHELL := /bin/bash

CXX := g++
AR := ar
Q := $(if $(V),,@)

# As many jobs as there are processors, but one for each GiB that is free; a -j on the command line wins.
MAKEFLAGS += -j$(shell cpus=$$(nproc 2>/dev/null || echo 1); \
    gib=$$(awk '/^MemAvailable/ {print int($$2 / 1048576) + 1}' /proc/meminfo 2>/dev/null || echo 2); \
    echo $$((cpus < gib ? cpus : gib)))

include make/build.mk make/simt.mk make/gpu.mk make/lessons.mk make/gpt2.mk make/fuzz.mk make/report.mk make/test.mk

.PHONY: help
help:
	@sed -n 's/^#: \{0,1\}//p' $(MAKEFILE_LIST)
