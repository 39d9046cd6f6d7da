# `make demo` and `make test` need Python 3.11 or later with venv, and make. PYTHON=... chooses the Python.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports; compiling all that is installed would take half as long as installing it.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes --no-compile

# Many processes start here, and each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-integration test-processes test-sqlite test-sqlite-some test-long test-load test-faults bench flows mutants lint docs tutorial architecture translations venv lock clean

demo: $(VENV)/.run-installed
	@$(BIN)/python manage.py demo $(ARGS)

# Several processes, each with a PostgreSQL and a Redis of its own; a file's tests stay together.
PYTEST := $(BIN)/python -m pytest -n auto --dist=loadfile --no-loadscope-reorder

# Three tests of four, in a quarter of the time that all take.
test: venv
	@$(PYTEST) -m "not processes and not integration and not slow_faults" $(ARGS)

# Over HTTP with boto3, with transactions that are committed, and what takes long by what it does.
test-integration: venv
	@$(PYTEST) -m "integration and not slow_faults" $(ARGS)

# gunicorn, Celery, beat, Chromium and whole commands: pages, rehearsals, the demo, load, the core of the crash tests.
test-processes: venv
	@$(PYTEST) -m "processes and not slow_faults" $(ARGS)

# Both on what `make demo` runs on: SQLite and the filesystem broker.
test-sqlite: venv
	@ASSENT_TEST_DATABASE=sqlite $(PYTEST) -m "not slow_faults" $(ARGS)

# What the gate leaves out where it has passed on the very files that are here, and the record of that (docs/adr/0028).
test-long: venv
	@$(BIN)/python -m tests.passed --run

# Races, load and a search for words, which end in the database: there are two of them.
test-sqlite-some: venv
	@$(MAKE) --no-print-directory test-sqlite ARGS="-q tests/load tests/marketplace/*/test_*races.py \
		tests/surveys/results/test_sqlite_plans.py tests/surveys/pages/results/test_texts.py"

# Kill every process at every failpoint, and take away what it stands on; `make test-processes` has only the core of it.
test-faults: venv
	@FAULTS_REPORT=$${ASSENT_DATA_DIR:-var}/faults.txt \
		$(BIN)/python -m pytest -q -p no:randomly -m "slow_faults or not slow_faults" tests/faults $(ARGS)

# 32 annotators for three minutes on PostgreSQL and Redis, then 8 on SQLite; a report of each.
test-load: venv
	@LOAD_ANNOTATORS=$${LOAD_ANNOTATORS:-32} LOAD_SECONDS=$${LOAD_SECONDS:-180} $(BIN)/python -m pytest -q -p no:randomly tests/load $(ARGS)
	@ASSENT_TEST_DATABASE=sqlite LOAD_ANNOTATORS=8 LOAD_SECONDS=$${LOAD_SECONDS:-180} \
		$(BIN)/python -m pytest -q -p no:randomly tests/load $(ARGS)

# The benchmarks that have a limit, beside Turkle in an environment of its own; FULL=1 for 10,000 and 100,000 HITs.
bench: venv $(VENV)/peer/.installed
	@$(BIN)/python -m benchmarks

$(VENV)/peer/.installed: benchmarks/peer.txt | $(VENV)/.created
	@$(PYTHON) -m venv $(VENV)/peer
	@$(VENV)/peer/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

# Which files and how many functions the longest ways through the code cross; docs/architecture.md has them.
flows: venv
	@$(BIN)/python -m pytest -q -n 0 -p no:randomly tests/flows.py $(ARGS)

# Change the core in 200 places, one at a time, and list what no test notices: ARGS="--n 50 --seed 3 --only quota".
mutants: $(VENV)/.mutants-installed
	@$(BIN)/python -m tests.mutants $(ARGS)

venv: $(VENV)/.test-installed

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python docs/draw_architecture.py --check

# The documentation as a site in var/docs, every link of it checked; needs nothing from elsewhere.
docs: venv
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict && echo "var/docs/index.html"

# Take the pictures of docs/tutorial.md and docs/builder.md again; a test fails where they are out of date.
tutorial: venv
	@WRITE_TUTORIAL=1 $(BIN)/python -m pytest -q -n 0 tests/browser/test_tutorial.py tests/browser/test_builder.py $(ARGS)

# Draw docs/architecture.svg from the code.
architecture: venv
	$(BIN)/python docs/draw_architecture.py

# Take the texts of workers' pages into the catalogues and compile them; lists what is not translated: docs/translating.md.
translations: venv
	@$(BIN)/python locale/update.py

# What runs.
$(VENV)/.run-installed: requirements.txt | $(VENV)/.created
	@echo "Installing what runs (about 300 MB, once) ..."
	@$(PIP) -r $<
	@touch $@

# What tests and checks; the project's own folder joins the path so that pytest finds its plugin.
$(VENV)/.test-installed: requirements-dev.txt | $(VENV)/.created
	@echo "Installing what runs and tests (about 600 MB, once) ..."
	@$(PIP) -r $<
	@$(BIN)/python -c 'import pathlib, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "assent.pth").write_text("$(CURDIR)\n")'
	@touch $@

$(VENV)/.mutants-installed: requirements-mutants.txt $(VENV)/.test-installed
	@$(PIP) -r $<
	@touch $@

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "Assent needs Python 3.11 or later. Debian, Ubuntu: apt-get install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Assent needs Python 3.11 or later; $(PYTHON) is not. Try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) lacks venv. Debian, Ubuntu: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# After a change in requirements*.in: pin again, with hashes. Needs uv (pip install uv).
lock:
	for name in requirements requirements-dev requirements-metrics requirements-mutants; do \
		uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-emit-index-url --no-emit-find-links --no-header $$name.in -o $$name.txt || exit 1; done

clean:
	rm -rf $(VENV) var
