"""A TCP proxy on loopback that cuts, resets, delays, throttles or falls silent on purpose."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import threading
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
PIECE = 16384


class Proxy:
    """Passes bytes to *port*: ``with Proxy(port) as proxy`` listens on ``proxy.port``.

    It connects to *port* of *target*, and listens on *listen* (0: a free port) of *host*.

    ``delay`` is in seconds before each piece, ``bytes_per_second`` bounds each direction,
    ``silent`` holds back everything without closing, ``refusing`` closes new connections.
    All may be changed while it runs. ``forget`` makes the present connections silent for ever.
    """

    def __init__(self, port: int, *, target: str = HOST, host: str = HOST, listen: int = 0) -> None:
        self.target, self.target_host = port, target
        self.host, self.port = host, listen
        self.delay = 0.0
        self.bytes_per_second = 0
        self.silent = False
        self.refusing = False
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._forgotten: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = self._wait(self._listen())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        self.reset()
        self._wait(self._end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def cut(self) -> None:
        """Close every connection politely."""
        self._wait(self._close(abort=False))

    def reset(self) -> None:
        """Reset every connection, as a crashing machine does."""
        self._wait(self._close(abort=True))

    def forget(self) -> None:
        """Pass nothing more on the present connections, as a router that has lost its table."""
        self._forgotten |= self._writers

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _wait(self, work):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(
            self._connected, self.host, self.port, backlog=256
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def _end_tasks(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _close(self, *, abort: bool) -> None:
        for writer in list(self._writers):
            if abort:
                end = writer.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            else:
                writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.refusing:
            writer.transport.abort()
            return
        try:
            onward, back = await asyncio.open_connection(self.target_host, self.target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._writers |= ends
        try:
            await asyncio.gather(self._pass(reader, back), self._pass(onward, writer))
        except asyncio.CancelledError:
            # Only __exit__ cancels; asyncio's callback would print a trace for it.
            pass
        finally:
            self._writers -= ends
            for end in ends:
                end.close()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await source.read(PIECE):
                while self.silent or sink in self._forgotten:
                    await asyncio.sleep(0.05)
                if self.delay:
                    await asyncio.sleep(self.delay)
                if self.bytes_per_second:
                    await asyncio.sleep(len(piece) / self.bytes_per_second)
                sink.write(piece)
                await sink.drain()
        sink.close()


def main() -> None:
    """Listen on ports of this loopback and pass to the same ports of another host: HOST PORT..."""
    target, *ports = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        for port in map(int, ports):
            stack.enter_context(Proxy(port, target=target, listen=port))
        threading.Event().wait()


if __name__ == "__main__":
    main()
