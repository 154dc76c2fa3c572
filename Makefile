# Every target makes what it needs in .venv; beforehand only make and Python 3.11 or newer must be there.
#
#   PYTHON   the interpreter that makes .venv     make setup PYTHON=python3.12
#   DATA     folder with LoCoMo and MuSiQue       make bench DATA=~/data
#   ARGS     more arguments for pytest            make test ARGS='-k tokenise'
#   LOCKED   install what requirements.lock pins   make setup LOCKED=1

PYTHON ?= python3
DATA   ?= ../shared/data
ARGS   ?=

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.installed

# Two packages bring the module apsw, so the one that encrypts has an environment of its own.
ENCRYPTING := .venv-encryption

# Python keeps what it has compiled: the tests start some hundred programs, and each would compile every module.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: package start container setup demo test conformance check fix audit lock sbom mutation bench train bench-peers docs site \
	soak encryption fuzz clean help test-ui screenshots vendor check-page

setup: $(READY) ## make .venv with the package and all development tools

# pip knows dependency groups from 25.1 on; `--seed` because `models pull` fetches by pip.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "simonides needs Python 3.11 or newer, but '$(PYTHON)' is '$$($(PYTHON) --version 2>&1)'."; \
	  echo "Name another interpreter: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12"; exit 1; } >&2
	@echo "Setting up $(VENV): this takes a minute or two, once." >&2
	@set -e; if [ -n '$(LOCKED)' ]; then \
	  $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'; \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock; \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .; \
	elif command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --seed --allow-existing --python '$(PYTHON)' $(VENV); \
	  uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[eval]' --group dev; \
	else \
	  $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'; \
	  $(BIN)/python -m pip install --quiet -e '.[eval]' --group dev; \
	fi
	@touch $@

demo: $(READY) ## retain a year's journal, ask it ten questions, show one trace
	@$(BIN)/simonides demo

# The tests that need the default embedder are skipped without it; in CI that would hide them.
test: $(READY) ## fetch the default embedder if it is missing, run all tests but the soak tests
	@$(BIN)/simonides models pull || { \
	  echo "The default embedder could not be fetched."; \
	  [ "$$CI" != true ] || exit 1; \
	  echo "Tests that need it will be skipped."; } >&2
	$(BIN)/pytest -n 2 --dist loadfile $(ARGS)

# The tests load the page's libraries as they are shipped; npm brings only the checker of types and axe-core.
PAGE_TOOLS := scripts/page/node_modules/.installed
$(PAGE_TOOLS): scripts/page/package-lock.json
	@command -v npm > /dev/null || { echo "Node.js 20 or newer must be installed: it brings npm." >&2; exit 1; }
	@npm ci --silent --no-audit --no-fund --prefix scripts/page && touch $@

test-ui: $(READY) $(PAGE_TOOLS) ## drive the page in Chromium, which is installed where it is missing (apt, as root)
	@command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }
	@$(BIN)/simonides models pull > /dev/null
	@# What fails is run once more, alone: on a busy machine a browser may be late.
	PYTHONPATH=. $(BIN)/pytest -m browser tests/page --force-enable-socket -n 2 $(ARGS) || \
	  PYTHONPATH=. $(BIN)/pytest -m browser tests/page --force-enable-socket --last-failed --last-failed-no-failures none $(ARGS)

screenshots: $(READY) $(PAGE_TOOLS) ## write the guide's pictures of the page anew
	PYTHONPATH=. $(BIN)/python docs/screenshots.py

vendor: $(READY) ## fetch the libraries of the page anew, by version and checksum
	$(BIN)/python scripts/vendor.py

conformance: $(READY) ## one line per requirement: passed, failed or missing
	PYTHONPATH=. $(BIN)/pytest -q -m spec -p tests.conformance.reporter $(ARGS)

check: $(READY) ## format, lint, types, import direction, code without a caller, known vulnerabilities, generated docs: changes nothing
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/audit.py
	$(BIN)/python scripts/unused.py
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/console.py --check
	$(BIN)/python scripts/vendor.py --check
	$(MAKE) --no-print-directory check-page

check-page: $(PAGE_TOOLS) # the types of the page
	npm run --silent --prefix scripts/page check

fix: $(READY) ## mend what ruff can mend, then format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

audit: $(READY) ## look the locked dependencies up among known vulnerabilities
	$(BIN)/python scripts/audit.py

# Every extra and every development tool, for each system, by version and SHA-256 of each file.
lock: $(READY) ## write requirements.lock anew
	@{ echo "# What every extra and the development tools resolve to. Made by: make lock"; \
	  $(BIN)/uv pip compile --quiet pyproject.toml --universal --python-version 3.11 --all-extras --group dev \
	    --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade; } > .lock.partial
	@mv .lock.partial requirements.lock

sbom: $(READY) ## write dist/simonides.cdx.json, the software bill of materials (CycloneDX)
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --spec-version 1.6 \
	  --output-reproducible --output-file dist/simonides.cdx.json

mutation: $(READY) ## break the code on purpose and count what no test notices; takes hours
	@$(BIN)/python -m pip install --quiet --group mutation
	$(BIN)/python bench/run_mutation.py --date "$$(date -u +%Y-%m-%d)" --resume

bench: $(READY) ## measure recall quality on DATA, intake, and what exact visibility costs, into bench/results/
	$(BIN)/python -m bench.run_quality --data '$(DATA)' --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python -m bench.run_quality --relevance --data '$(DATA)' --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python -m bench.ingest --n 20000 --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python -m bench.view_cost --n 10000 --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python -m bench.scale --n 10000 --n 100000 --n 1000000 --profile helix --profile default --data '$(DATA)' \
	  --keep "$${XDG_CACHE_HOME:-$$HOME/.cache}/simonides/scale" --against fts5-sqlite-vec --workers 2 \
	  --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python docs/plot_scale.py
	$(BIN)/python docs/plot_relevance.py
	$(BIN)/pytest bench/stages --benchmark-only --benchmark-timer=time.process_time
	$(BIN)/python bench/run_cold_start.py --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python bench/run_schemathesis.py --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python bench/soak/load.py --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python bench/soak/abuse.py --date "$$(date -u +%Y-%m-%d)"
	$(BIN)/python -m bench.lifecycle --data '$(DATA)' --date "$$(date -u +%Y-%m-%d)"
	PYTHONPATH=. $(BIN)/python -m bench.soak.year --date "$$(date -u +%Y-%m-%d)"

train: $(READY) ## make the forest of learned_order and the models of relevance anew from DATA: the same bytes
	@$(BIN)/python -m pip install --quiet --group train
	$(BIN)/python -m bench.train_order --data '$(DATA)'
	$(BIN)/python bench/fit_relevance.py --data '$(DATA)'

bench-peers: $(READY) ## ask other engines the same questions of DATA; installs each in the cache folder, once
	PYTHONPATH=. $(BIN)/python -m bench.peers.run --data '$(DATA)' --date "$$(date -u +%Y-%m-%d)"
	PYTHONPATH=. $(BIN)/python -m bench.run_evidence --data '$(DATA)' --date "$$(date -u +%Y-%m-%d)"

docs: $(READY) ## write docs/reference/ and what guide pages show of the command line
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/console.py

site: $(READY) ## build the site of docs/ into site/
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	$(BIN)/mkdocs build --strict

package: $(READY) ## build sdist and wheel; use the wheel without extras on every Python from 3.11 on the path
	$(BIN)/python scripts/check_package.py $(ARGS)

start: $(READY) ## follow README.md and docs/start.md in an empty home, with and without a network
	$(BIN)/python scripts/check_start.py $(ARGS)

container: $(READY) ## run the steps of the Dockerfile without a container, as its user; needs root on Linux
	$(BIN)/python scripts/check_container.py $(ARGS)

soak: $(READY) ## the tests that run for minutes
	$(BIN)/pytest -m soak $(ARGS)

encryption: $(ENCRYPTING)/.installed ## tests of encrypted banks in .venv-encryption, whose SQLite encrypts, and what they cost
	$(ENCRYPTING)/bin/python -m pytest tests/encryption tests/unit/backends/embedded/test_encryption.py $(ARGS)
	$(ENCRYPTING)/bin/python bench/run_encryption.py --date "$$(date -u +%Y-%m-%d)"

$(ENCRYPTING)/.installed: pyproject.toml
	$(PYTHON) -m venv $(ENCRYPTING)
	$(ENCRYPTING)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(ENCRYPTING)/bin/python -m pip install --quiet -e '.[server]' --group encryption
	$(ENCRYPTING)/bin/python -m pip uninstall --quiet --yes apsw apsw-sqlite3mc
	$(ENCRYPTING)/bin/python -m pip install --quiet --group encryption
	@touch $@

fuzz: $(READY) ## let coverage guide the fuzzing of one TARGET (all of them in turn without one), SECONDS each
	@$(BIN)/python -m pip install --quiet --group fuzz
	PYTHONPATH=. $(BIN)/python bench/run_fuzz.py $(if $(TARGET),--target $(TARGET)) --seconds $(or $(SECONDS),60)

clean: ## remove .venv, caches and build outputs
	rm -rf $(VENV) $(ENCRYPTING) dist build site .coverage .coverage.* .hypothesis .mypy_cache .ruff_cache .pytest_cache \
	  .import_linter_cache
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name what; do \
	  printf '  make %-11s  %s\n' "$$name" "$$what"; done
