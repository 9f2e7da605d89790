"""What a program said instead of a model's answer, and answers that only sound like it."""

from __future__ import annotations

import time

import pytest

from evaluations.reading.rules.scoring.error_texts import is_error_text

TRACEBACK = """Traceback (most recent call last):
  File "run.py", line 12, in <module>
    answer = reply["choices"][0]
KeyError: 'choices'
"""
PAGE = """<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx/1.18.0</center>
</body>
</html>
<!-- a padding to disable MSIE and Chrome friendly error page -->
"""
ERRORS = [
    "Internal Server Error",
    " internal server error.\n",
    "500 Internal Server Error",
    "HTTP 503 Service Unavailable",
    "HTTP/1.1 429 Too Many Requests",
    "HTTP Error 404: Not Found",
    "502 Bad Gateway",
    "504 Gateway Time-out",
    "Error code: 500",
    "Error: 502 Bad Gateway",
    "429 Client Error: Too Many Requests for url: https://api.example.com/v1/chat/completions",
    "Request failed with status code 500",
    "IndexError: list index out of range",
    "IndexError",
    "KeyError: 'choices'",
    "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "openai.error.RateLimitError: Rate limit reached for gpt-4 in organization org-x",
    "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('x'))",
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 23.70 GiB total)",
    "CUDA out of memory. Tried to allocate 1.50 GiB",
    "ReadTimeout(ReadTimeoutError(\"HTTPSConnectionPool(host='x', port=443): Read timed out.\"))",
    TRACEBACK,
    "Rate limit reached for default-gpt-3.5-turbo in organization org-x on tokens per min."
    " Limit: 90000 / min. Please try again in 1ms.\nContact us at help@example.com.",
    "You exceeded your current quota, please check your plan and billing details.",
    "This model's maximum context length is 4097 tokens. However, you requested 5103 tokens.",
    "The server is overloaded or not ready yet.",
    "The server had an error while processing your request. Sorry about that!",
    "That model is currently overloaded with other requests. You can retry your request.",
    "Error: Connection timed out",
    "Error: something went wrong, please try again",
    "Error: list index out of range",
    "Incorrect API key provided: sk-xxx.",
    "upstream request timeout",
    "单次输入限长为 1000 字符。Input no more than 1000 characters",
    "单次输入超长，请减少字数并重试。Input max length exceeded, please reduce length and try again",
    "上一次请求还未结束，请稍后再试。User requesting, please wait and try again",
    "未知错误，请刷新或等待一分钟后再试。Unknown error, please refresh or wait a minute",
    "服务器内部错误",
    "系统繁忙，请稍后再试",
    "请求过于频繁，请稍后再试。",
    '{"error": {"message": "The server had an error", "type": "server_error"}}',
    '{"code": 500, "message": "Internal Server Error"}',
    '{"detail": "Internal Server Error"}',
    PAGE,
    "<!DOCTYPE html>\n<html lang='en'><title>Error 500 (Server Error)!!1</title></html>",
]
ANSWERS = [
    "",
    "  \n",
    "A",
    "【答案】B <eoa>",
    "The page showed “Internal Server Error”, so Tom went to the library. 21. A 22. C",
    "【解析】Internal Server Error 是服务器内部错误。【答案】C <eoa>",
    "Internal Server Error means that the server failed, so the answer is B.",
    "Passage one. Internal Server Error\n\nWhen a website breaks, users see this message.",
    "Internal Server Error\n【答案】A",
    "502 people visited the gateway.",
    "404",
    "500",
    "Not found",
    "Forbidden",
    "Error: 'go' should be 'goes'",
    "Error: a → an",
    "error",
    "Errors: 1. he → him  2. an → a",
    "TypeError: the answer is B",
    "IndexError: list index out of range\nSo the program stops, and B is right.",
    f"The program prints:\n{TRACEBACK}",
    f"{TRACEBACK}\nso the answer is C",
    "Out of memory he wrote down the poem.",
    "The server is a waiter, so choose D.",
    "系统误差和偶然误差的区别：系统误差不可避免",
    "服务器错误的处理方法有三种：重启、扩容、降级",
    "网络安全法的意义：请求保护个人信息",
    "未知错误",
    "请求出兵援助赵国",
    "输入过长的信号会使放大器失真，故选 A",
    '{"answer": "A", "error": ""}',
    '{"answer": "A", "error": "none"}',
    "{a_n} is increasing, code 500",
    "<eoa> A",
    "<html><title>Photosynthesis</title><p>B</p></html>",
    "x" * 9_000,
]


@pytest.mark.parametrize("text", ERRORS)
def test_what_a_program_said_is_no_answer(text: str) -> None:
    assert is_error_text(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_what_a_model_said_is_an_answer(text: str) -> None:
    assert not is_error_text(text)


def test_long_texts_take_no_time() -> None:
    started = time.process_time()
    for piece in ("error: ", "<h1>", "a.", "Error", "status ", "{", "<title>5", "A_"):
        is_error_text(piece * (8_000 // len(piece)))
        is_error_text("<html>" + piece * (7_900 // len(piece)))
        is_error_text(piece * (690 // len(piece)))
    assert time.process_time() - started < 0.3
