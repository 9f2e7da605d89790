"""Presets of providers and local servers: what an endpoint of each usually looks like.

Addresses are those that the providers document. Prices change and differ by model, so none are
given: they are entered by hand.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """The usual settings of an endpoint of one provider; ``local``: a server of one's own.

    ``name`` is stable and stored with the endpoint, ``title`` is a proper name.
    """

    name: str
    title: str
    base_url: str
    key_variable: str = ""
    currency: str = "CNY"
    max_in_flight: int = 8
    timeout_seconds: int = 300
    max_tokens: int = 4096
    max_temperature: float = 2.0
    max_completion_tokens: bool = False
    cost_in_replies: bool = False
    local: bool = False

    def initial(self) -> dict[str, Any]:
        """Return the values that the form of an endpoint is filled in with."""
        facts = asdict(self)
        del facts["name"], facts["title"], facts["local"]
        return {**facts, "preset": self.name, "name": self.title, "no_key": self.local}


PRESETS: tuple[Preset, ...] = (
    Preset("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Preset(
        "dashscope",
        "Qwen (DashScope)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
    ),
    Preset(
        "moonshot",
        "Moonshot (Kimi)",
        "https://api.moonshot.cn/v1",
        "MOONSHOT_API_KEY",
        max_temperature=1.0,
    ),
    Preset(
        "zhipu",
        "Zhipu (GLM)",
        "https://open.bigmodel.cn/api/paas/v4",
        "ZHIPU_API_KEY",
        max_temperature=1.0,
    ),
    Preset("siliconflow", "SiliconFlow", "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
    Preset(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        currency="USD",
        max_completion_tokens=True,
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        currency="USD",
        cost_in_replies=True,
    ),
    Preset("vllm", "vLLM", "http://127.0.0.1:8000/v1", "", "CNY", 32, 600, local=True),
    Preset("sglang", "SGLang", "http://127.0.0.1:30000/v1", "", "CNY", 32, 600, local=True),
    Preset("ollama", "Ollama", "http://127.0.0.1:11434/v1", "", "CNY", 1, 600, local=True),
    Preset("llama-cpp", "llama.cpp", "http://127.0.0.1:8080/v1", "", "CNY", 1, 600, local=True),
    Preset("lm-studio", "LM Studio", "http://127.0.0.1:1234/v1", "", "CNY", 1, 600, local=True),
)


def preset(name: str) -> Preset | None:
    """Return the preset *name*, None if there is none."""
    return next((one for one in PRESETS if one.name == name), None)
