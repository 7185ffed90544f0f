# SPDX-License-Identifier: Apache-2.0
# A short face on CMake and scripts/ for people. Everything is built in build/.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

.PHONY: all demo test proofs lint format install clean configure bench fuzz fuzz-long coverage stress wheel js

all: configure
	@cmake --build $(BUILD) -j $(JOBS)

configure:
	@scripts/setup build
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }

demo: all
	@scripts/setup demo
	@examples/exfiltration/run

test:
	@scripts/setup test
	@scripts/test

# Other tools confirm the machines. Exit 4 when one disagrees.
proofs: all
	@scripts/setup proofs
	@BUILD=$(BUILD) proofs/run

# About two minutes, on a machine that does nothing else. Writes build/bench.json.
bench: all
	@scripts/setup bench
	@bench/run --build $(BUILD)

# Minutes; FUZZ_SECONDS for each fuzzer. fuzz-long: 20 minutes for each.
fuzz:
	@scripts/setup fuzz
	@scripts/fuzz

fuzz-long:
	@scripts/setup fuzz
	@scripts/fuzz --long

# The Python package, as one wheel for every CPython from 3.11 on, in build/python/dist.
wheel:
	@scripts/setup wheel
	@tests/python/run.py --wheel

# The JavaScript package, as npm publishes it, in build/js.
js: all
	@scripts/setup js
	@node tests/js/run.mjs --pack

# Threads, processes and kills, more of each than `make test` takes.
stress: all
	@scripts/setup test
	@IL_TEST_THOROUGH=1 IL_CRASH_KILLS=1000 scripts/test races crash

coverage:
	@scripts/setup coverage
	@scripts/coverage

lint:
	@scripts/setup lint
	@scripts/lint

format:
	@scripts/setup lint
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build build.log build-*
