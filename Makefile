PREFIX ?= /usr/local
MANIFEST ?=

.PHONY: run test lint format bench fuzz tsan asan coverage docs install

run:      ; @tools/bootstrap && tools/build imgflow gallery && tools/run $(MANIFEST)
test:     ; @tools/bootstrap && tools/python-checks && swift test --disable-xctest --parallel --experimental-maximum-parallelization-width 6
lint:     ; @tools/bootstrap && tools/lint
format:   ; @swift format --in-place --recursive Sources Tests Benchmarks Package.swift
bench:    ; @tools/bootstrap bench && tools/bench $(if $(QUICK),,--write)
fuzz:     ; @tools/bootstrap && tools/fuzz
tsan:     ; @tools/bootstrap && tools/sanitize thread
asan:     ; @tools/bootstrap && tools/sanitize address
coverage: ; @tools/bootstrap && tools/coverage
docs:     ; @tools/bootstrap && tools/build imgflow && tools/docs
install:  ; @tools/bootstrap && tools/install "$(DESTDIR)$(PREFIX)"
