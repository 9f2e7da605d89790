"""The hosts of well-known providers of models, by the variable that usually holds the key."""

from __future__ import annotations

PROVIDERS = {
    "ANTHROPIC_API_KEY": ["api.anthropic.com"],
    "ARK_API_KEY": ["ark.cn-beijing.volces.com"],
    "DASHSCOPE_API_KEY": ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
    "DEEPSEEK_API_KEY": ["api.deepseek.com"],
    "GEMINI_API_KEY": ["generativelanguage.googleapis.com"],
    "GROQ_API_KEY": ["api.groq.com"],
    "MISTRAL_API_KEY": ["api.mistral.ai"],
    "MOONSHOT_API_KEY": ["api.moonshot.cn", "api.moonshot.ai"],
    "OPENAI_API_KEY": ["api.openai.com"],
    "OPENROUTER_API_KEY": ["openrouter.ai"],
    "SILICONFLOW_API_KEY": ["api.siliconflow.cn"],
    "TOGETHER_API_KEY": ["api.together.xyz"],
    "XAI_API_KEY": ["api.x.ai"],
    "ZHIPUAI_API_KEY": ["open.bigmodel.cn"],
}
