"""Redis as a broker: how long it is waited for, and whether it may delete messages."""

from __future__ import annotations

from contextlib import closing

SECONDS = 5.0
# Options of the transport. A broker that takes connections and says nothing, or a router that has
# forgotten them, must hold up neither a page nor the worker: they connect anew after these seconds.
OPTIONS: dict[str, object] = {
    "visibility_timeout": 900,
    "socket_connect_timeout": 5,
    "socket_timeout": 10,
    "socket_keepalive": True,
}


def eviction(url: str) -> str:
    """Return the ``maxmemory-policy`` of the Redis at *url* if it may delete messages, else "".

    Also "" for another kind of broker, and where the server does not answer or tell.
    """
    if not url.startswith(("redis://", "rediss://")):
        return ""
    import redis  # the settings read this module, and most brokers are none of Redis

    options = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
    try:
        with closing(redis.Redis.from_url(url, decode_responses=True, **options)) as client:
            policy = str(client.config_get("maxmemory-policy").get("maxmemory-policy", ""))
    except (redis.RedisError, OSError, ValueError):
        return ""
    return "" if policy == "noeviction" else policy
