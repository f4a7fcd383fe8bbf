"""A webhook on loopback that remembers what was posted to it, in order."""

import asyncio
import json

from dataclasses import dataclass
from typing import Any


@dataclass
class Posted:
    """One notification: its headers by lower-case name, and its body as JSON."""

    headers: dict[str, str]
    body: Any

    @property
    def state(self) -> str:
        """The state this notification tells of, if it tells of one."""
        for kind in ('statusUpdate', 'task'):
            if kind in self.body:
                return self.body[kind]['status']['state'].removeprefix('TASK_STATE_').lower()
        # In version 0.3 it is the task itself.
        return self.body.get('status', {}).get('state', '')


class Webhook:
    """Answers every request with 200 and keeps what it brought."""

    def __init__(self) -> None:
        self._posted: list[Posted] = []
        self._arrived = asyncio.Condition()

    async def __aenter__(self) -> 'Webhook':
        self._server = await asyncio.start_server(self._serve, '127.0.0.1', 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f'http://127.0.0.1:{port}/hook'
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def until(self, state: str) -> list[Posted]:
        """Everything that arrived, once a notification has told of this state."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: any(p.state == state for p in self._posted))
            return list(self._posted)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request for each connection, so that none is left open when the webhook goes."""
        head = (await reader.readuntil(b'\r\n\r\n')).decode()
        lines = (line.partition(':') for line in head.split('\r\n')[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in lines}
        body = await reader.readexactly(int(headers['content-length']))
        async with self._arrived:
            self._posted.append(Posted(headers, json.loads(body)))
            self._arrived.notify_all()
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
        await writer.drain()
        writer.close()
