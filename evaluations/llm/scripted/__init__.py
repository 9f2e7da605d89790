"""A scripted model behind an OpenAI-compatible HTTP server on loopback.

For the demo, tests and benchmarks: it speaks the protocol over real sockets, keeps a ledger of what
a provider would have billed, and produces faults on request. It reads no answer key.

    python -m evaluations.llm.scripted --port 8099 [--latency 0.05] [--ledger FILE] [--faults FILE]

    with ScriptedServer() as server:
        ...  # server.base_url, server.ledger, server.requests
"""

from evaluations.llm.scripted.endpoint import MODEL_NAME, ScriptedEndpoint
from evaluations.llm.scripted.faults import Fault, named_fault, script_from
from evaluations.llm.scripted.http import Received
from evaluations.llm.scripted.threaded import ScriptedServer

__all__ = [
    "MODEL_NAME",
    "Fault",
    "Received",
    "ScriptedEndpoint",
    "ScriptedServer",
    "named_fault",
    "script_from",
]
