# Every target sets up what it needs: `make demo` on a fresh clone makes .venv, builds the wheel, installs it and goes.
# A second run rebuilds nothing that has not changed; what was built is remembered by stamps inside the virtual environment.
#
#   make demo      a real server, the SDK and toolwire side by side
#   make test      the real servers, the Rust tests, the Python tests   (PYTEST_ARGS="-k lines" for some of them,
#                  PYTEST_WORKERS=0 for one process, as a debugger wants it)
#   make check     format, lint, types, stubs
#   make bench     the speed table                                      (BENCH_ARGS=... is passed on)
#   make bench-peers   the other SDKs that it compares with, in Rust and, where Go is there, in Go; then make bench again
#   make conformance   the protocol's own suite against toolwire's server and client, at both revisions
#   make soak      100,000 calls and 1,000 connects                     (SOAK=short for the short form)
#   make dev       a wheel without link-time optimisation, in seconds, into .venv
#   make build     the release wheel, into .venv
#   make servers   the real MCP servers that the tests talk to
#
# PYTHON=python3.13 chooses the interpreter, VENV=/elsewhere another environment (two people, one tree).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

PYTHON ?= python3
VENV ?= .venv
SOAK ?= full
PYTEST_ARGS ?=
PYTEST_WORKERS ?= auto
BENCH_ARGS ?=

BIN := $(VENV)/bin
RUN := $(BIN)/python
PIP := $(RUN) -m pip --quiet --disable-pip-version-check
PINS := requirements/ci.txt
WHEELS := $(VENV)/wheels

TOOLS := $(VENV)/.stamp-tools
RELEASE := $(VENV)/.stamp-release
FAST := $(VENV)/.stamp-fast
BENCH := $(VENV)/.stamp-bench
NODE_SERVERS := .servers/node/.stamp
SUITE := .servers/conformance/.stamp
PEERS := target/benches/peers

SOURCES := Cargo.toml Cargo.lock pyproject.toml $(wildcard README.md) LICENSE $(PINS) \
  $(shell find rust python/toolwire ! -path '*__pycache__*' ! -name '*.so' 2>/dev/null)
CHECKED := $(wildcard python tests benches examples conformance)

# $(call install,<profile>): build one wheel, install it with what the tests need, replace the one that was there.
# The stamp bears the time before the build, so that a source edited meanwhile counts as changed.
define install
touch $(TOOLS).began
rm -rf $(WHEELS)
$(BIN)/maturin build --quiet --locked --profile $(1) --interpreter $(RUN) --out $(WHEELS)
wheel=$$(ls $(WHEELS)/*.whl); \
$(PIP) install -c $(PINS) "$$wheel[test]"; \
$(PIP) install --force-reinstall --no-deps "$$wheel"
rm -f $(RELEASE) $(FAST)
mv $(TOOLS).began $@
endef

.PHONY: demo test check bench bench-peers conformance soak servers dev build clean

demo: $(RELEASE)
	$(BIN)/toolwire demo

test: $(RELEASE) servers
	cargo test --locked --no-default-features
	$(RUN) -m pytest -n $(PYTEST_WORKERS) --dist worksteal $(PYTEST_ARGS)

check: $(RELEASE)
	cargo fmt --check
	cargo check --locked --no-default-features
	cargo clippy --locked --all-targets --no-default-features -- -D warnings
	PYO3_PYTHON=$(abspath $(RUN)) cargo clippy --locked --all-targets -- -D warnings
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(RUN) -m mypy $(CHECKED)
	$(RUN) -m mypy.stubtest --mypy-config-file pyproject.toml toolwire._core

bench: $(RELEASE) $(BENCH)
	$(RUN) -m benches $(BENCH_ARGS)

bench-peers:
	mkdir -p $(PEERS)
	cargo build --quiet --locked --release --manifest-path benches/peers/rmcp/Cargo.toml --target-dir target/benches/rmcp
	for program in server client; do cp target/benches/rmcp/release/$$program $(PEERS)/rmcp-$$program; done
	if command -v go >/dev/null; then \
	  cd benches/peers/go && go build -mod=readonly -o ../../../$(PEERS)/go-server .; \
	else echo "bench-peers: no go here, the Go SDK is left out"; fi

conformance: $(RELEASE) $(SUITE)
	$(RUN) -m conformance

soak: $(RELEASE)
	SOAK=$(SOAK) $(RUN) -m tests.soak

build: $(RELEASE)

dev: $(FAST)

servers: $(NODE_SERVERS)

clean:
	rm -rf $(VENV) .servers target .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(TOOLS): $(PINS)
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(PIP) install -c $(PINS) maturin
	touch $@

$(RELEASE): $(TOOLS) $(SOURCES)
	$(call install,release)

$(FAST): $(TOOLS) $(SOURCES)
	$(call install,dev-fast)

$(BENCH): $(PINS) pyproject.toml $(RELEASE)
	$(PIP) install -c $(PINS) "$$(ls $(WHEELS)/*.whl)[bench]"
	touch $@

# The npm servers, pinned by the committed lock; the ones from PyPI come with the wheel's test extra.
# Without npm there is no stamp, and the tests that need these servers skip with the reason.
$(NODE_SERVERS): tests/servers/package.json tests/servers/package-lock.json
	mkdir -p $(@D)
	if command -v npm >/dev/null; then \
	  cp $^ $(@D)/ && npm --prefix $(@D) ci --silent --no-audit --no-fund && touch $@; \
	else echo "servers: no npm here, the npm servers are left out"; fi

# The conformance suite, with the Node that it needs: the system's may be too old for it. No script of theirs is run.
$(SUITE): conformance/package.json conformance/package-lock.json
	command -v npm >/dev/null || { echo "conformance: this needs npm, which is not here"; exit 1; }
	mkdir -p $(@D)
	cp $^ $(@D)/
	npm --prefix $(@D) ci --silent --ignore-scripts --no-audit --no-fund
	touch $@
