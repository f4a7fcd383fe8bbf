"""Cap'n Web for clients: a session over a WebSocket, and one over an HTTP batch.

`await connect(url)` gives a Session, `Batch(url)` one that `run()` sends as one POST. `session.main` is the other
side's main object, a Ref. A Ref can be called, followed (`ref["task"]["id"]`) and passed as an argument before its
value is there; `await ref` asks for the value. Nothing is released by itself but answered calls: `release()` an
object that is not needed any more.
"""
import asyncio, base64, datetime, hashlib, http.client, json, math, os, ssl, typing, urllib.parse

T = typing.TypeVar("T")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
UNDEFINED = type("Undefined", (), {"__repr__": lambda _: "UNDEFINED", "__bool__": lambda _: False})()


class RpcError(Exception):
    """An error of the other side; `members` is what it carries besides name and message."""
    def __init__(self, name, message, members=None):
        super().__init__(f"{name}: {message}")
        self.name, self.message, self.members = name, message, members or {}
        self.code, self.reason = self.members.get("code"), self.members.get("reason")
        self.details = self.members.get("details", [])


class SessionEnded(Exception):
    """The session is over; `error` is that of the other side's abort, `close` the (code, reason) of its socket."""
    error = close = None


class Refused(Exception):
    """HTTP answered a handshake or a batch with this `status` and `headers` (names in small letters)."""
    def __init__(self, status, headers, body=b""):
        super().__init__(f"HTTP {status} {body[:200]!r}")
        self.status, self.headers = status, headers


class Target:
    """An object that is passed by reference: the other side may call its methods that do not begin with `_`."""


class Answer(asyncio.Future):
    """What is awaited of the other side; a failure that nobody waits for is no complaint."""
    pulled = False

    def fail(self, error):
        if not self.done():
            self.set_exception(error)
            self.exception()


class Pipe:
    """The reading end of a stream: `async for chunk in pipe`. A chunk is acknowledged when it is taken."""
    def __init__(self):
        self._queue, self._ended, self._cancelled = asyncio.Queue(), False, False

    def write(self, chunk):
        if self._cancelled:
            raise RuntimeError("no more")
        taken = Answer()
        self._queue.put_nowait((chunk, taken))
        return taken

    def close(self):
        self.abort(StopAsyncIteration())

    def abort(self, reason=None):
        if not self._ended:
            self._ended = True
            self._queue.put_nowait((reason if isinstance(reason, Exception) else RpcError("Error", str(reason)), None))

    def cancel(self):
        """Wants no more: what is waiting and what still comes is rejected."""
        self._cancelled = True
        while not self._queue.empty():
            _, taken = self._queue.get_nowait()
            if taken:
                taken.fail(RuntimeError("no more"))
        self._ended = False
        self.close()

    def __aiter__(self):
        return self

    async def __anext__(self):
        chunk, taken = await self._queue.get()
        if taken is None:
            self._queue.put_nowait((chunk, None))
            raise chunk
        if not taken.done():
            taken.set_result(UNDEFINED)
        return chunk


class Ref(typing.Generic[T]):
    """Something that the other side exports, or will: an object, or the promise of a value of type T."""
    def __init__(self, session, id, path=(), answer=None):
        self.session, self.id, self.path, self._answer = session, id, tuple(path), answer

    def __getitem__(self, name):
        return Ref(self.session, self.id, (*self.path, name), self._answer)

    def call(self, *args) -> "Ref":
        """Calls what this stands for, without waiting for it; gives the Ref of the result."""
        here = self.here()
        if here is not self:
            return here.call(*args)
        return self.session._push(["pipeline", self.id, list(self.path), [self.session.encode(a) for a in args]])

    def method(self, name, *args) -> "Ref":
        return self[name].call(*args)

    def pull(self) -> "asyncio.Future[T]":
        """Asks for the value and gives its future. A batch has to ask before it runs."""
        if self.path or self._answer is None:
            return self.session._push(self.session.encode(self)).pull()
        if not self._answer.pulled and not self._answer.done():
            self._answer.pulled = True
            self.session._send(["pull", self.id])
        return self._answer

    def __await__(self) -> typing.Generator[typing.Any, None, T]:
        return asyncio.shield(self.pull()).__await__()

    def here(self):
        """The value if it is here already, else this Ref. Raises what the call failed with."""
        if self._answer is None or not self._answer.done():
            return self
        value = self._answer.result()
        for name in self.path:
            value = value.get(name, UNDEFINED) if isinstance(value, dict) else value[name]
        return value

    def release(self):
        """Lets go of an object, or of a call whose value was not asked for."""
        failed = self._answer is not None and self._answer.done() and self._answer.exception()
        here = None if failed else self.here()
        if isinstance(here, Ref):
            self.session._release(here.id)


class Session:
    """The tables of both sides. A transport gives `_send(message)` and feeds `_receive(message)`."""
    def __init__(self):
        self.exports = {0: [Target(), 1]}   # id -> [object or future, how often it was passed]
        self.imports = {0: [None, 1]}       # id -> [Answer or None, how often it came]
        self.main, self.ended, self.log = Ref(self, 0), None, None
        self._sent = self._received = self._passed = 0
        self._tasks = set()

    def _push(self, expression):
        if self.ended:
            raise self.ended
        self._sent += 1
        self.imports[self._sent] = [Answer(), 1]
        self._send(["push", expression])
        return Ref(self, self._sent, (), self.imports[self._sent][0])

    def _release(self, id):
        _, count = self.imports.pop(id, (None, 0))
        if count and not self.ended:
            self._send(["release", id, count])

    def _export(self, target):
        """The id of an object of ours: the same one as long as the other side holds it."""
        for id, entry in self.exports.items():
            if id < 0 and entry[0] is target:
                entry[1] += 1
                return id
        self._passed -= 1
        self.exports[self._passed] = [target, 1]
        return self._passed

    def _import(self, id, answer=None):
        entry = self.imports.setdefault(id, [answer, 0])
        entry[1] += 1
        return Ref(self, id, (), entry[0])

    def encode(self, value):
        """The expression of a value. Targets and functions are exported by it."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if value is UNDEFINED:
            return ["undefined"]
        if isinstance(value, int):
            return value if abs(value) < 2 ** 53 else ["bigint", str(value)]
        if isinstance(value, float):
            return value if math.isfinite(value) else [str(value)]
        if isinstance(value, dict):
            return {k: self.encode(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [[self.encode(v) for v in value]]
        if isinstance(value, bytes):
            return ["bytes", base64.b64encode(value).decode()]
        if isinstance(value, datetime.datetime):
            return ["date", (value - EPOCH) / datetime.timedelta(milliseconds=1)]
        if isinstance(value, Exception):
            return ["error", getattr(value, "name", "Error"), getattr(value, "message", str(value))]
        if isinstance(value, Ref):
            here = value.here()
            return ["pipeline", value.id, list(value.path)] if here is value else self.encode(here)
        if isinstance(value, Target) or callable(value):
            return ["export", self._export(value)]
        raise TypeError(f"{type(value).__name__} cannot be passed")

    def decode(self, expression):
        """The value of an expression. Calls in it are made; what comes of one may be something to wait for."""
        if isinstance(expression, dict):
            return {k: self.decode(v) for k, v in expression.items()}
        if not isinstance(expression, list):
            return expression
        if expression and isinstance(expression[0], list):
            return [self.decode(v) for v in expression[0]]
        return self._special(*expression)

    def _special(self, word, *rest):
        constants = {"undefined": UNDEFINED, "inf": math.inf, "-inf": -math.inf, "nan": math.nan}
        if word in constants:
            return constants[word]
        return {"bigint": int, "date": lambda ms: EPOCH + datetime.timedelta(milliseconds=ms),
                "bytes": lambda text: base64.b64decode(text + "=" * (-len(text) % 4)),
                "error": lambda name, text, stack=None, more=None: RpcError(name, text, self.decode(more)),
                "export": self._import, "writable": self._import, "promise": lambda id: self._import(id, Answer()),
                "readable": lambda id: self.exports[id][0],
                "pipeline": self._evaluate, "import": self._evaluate}[word](*rest)

    def _evaluate(self, id, path=(), args=None):
        target = self.exports[id][0]
        if isinstance(target, asyncio.Future):
            target = target.result()
        for name in path:
            named = isinstance(target, (Target, Pipe)) and not name.startswith("_")
            target = getattr(target, name, None) if named else None
        if args is None:
            return target
        if not callable(target):
            raise RpcError("TypeError", f"'{'.'.join(path)}' is not a function.")
        return target(*[self.decode(a) for a in args])

    def _take(self, expression):
        """Evaluates a push of the other side into the next positive export, and gives its id."""
        self._received += 1
        try:
            value = self.decode(expression)
        except Exception as error:
            value = Answer()
            value.fail(error)
        if asyncio.iscoroutine(value):
            value = asyncio.ensure_future(value)
        self.exports[self._received] = [value, 1]
        return self._received

    async def _answer(self, id):
        value = self.exports[id][0]
        try:
            if isinstance(value, asyncio.Future):
                value = await value
            message = ["resolve", id, self.encode(UNDEFINED if value is None else value)]
        except Exception as error:
            message = ["reject", id, self.encode(error)]
        if not self.ended:
            self._send(message)

    def _start_answer(self, id, forget=False):
        task = asyncio.ensure_future(self._answer(id))
        self._tasks.add(task)
        task.add_done_callback(lambda _: (self._tasks.discard(task), forget and self.exports.pop(id, None)))

    def _receive(self, message):
        """One message of the other side. Raises if it is none, which has to end the session."""
        if self.log:
            self.log("<", message)
        word, *rest = message
        if word == "push":
            self._take(*rest)
        elif word == "stream":
            self._start_answer(self._take(*rest), forget=True)
        elif word == "pipe":
            self._received += 1
            self.exports[self._received] = [Pipe(), 1]
        elif word == "pull":
            self._start_answer(*rest)
        elif word in ("resolve", "reject"):
            self._settle(word, *rest)
        elif word == "release":
            self._let_go(*rest)
        elif word == "abort":
            error = self.decode(*rest)
            self._end(SessionEnded(f"aborted: {error}"), error)
        else:
            raise ValueError(f"unknown message {word!r}")

    def _settle(self, word, id, expression):
        value, answer = self.decode(expression), self.imports.get(id, (None,))[0]
        if answer is not None and not answer.done():
            answer.set_result(value) if word == "resolve" else answer.fail(value)
        self._release(id)

    def _let_go(self, id, count):
        entry = self.exports[id]
        entry[1] -= count
        if entry[1] <= 0:
            del self.exports[id]
            if isinstance(entry[0], Pipe):
                entry[0].abort("the stream was released before its end")

    def _end(self, ended, error=None):
        if self.ended:
            return
        self.ended, ended.error = ended, error
        for answer, _ in self.imports.values():
            if answer is not None:
                answer.fail(ended)
        for target, _ in self.exports.values():
            if isinstance(target, Pipe):
                target.abort(ended)
        for task in self._tasks:
            task.cancel()


class Batch(Session):
    """A session in one POST: call, `pull()` what is wanted, `await run()`, then await the futures."""
    def __init__(self, url, headers=None):
        super().__init__()
        self.url, self.headers, self.lines = url, headers or {}, []

    def _send(self, message):
        self.lines.append(json.dumps(message))

    async def run(self):
        """Sends what was collected. Raises Refused for any status but 200. Pulls without an answer fail."""
        status, headers, body = await asyncio.to_thread(post, self.url, "\n".join(self.lines).encode(), self.headers)
        for line in body.decode().split("\n") if status == 200 else ():
            if line.strip():
                self._receive(json.loads(line))
        self._end(SessionEnded("the batch is over"))
        if status != 200:
            raise Refused(status, headers, body)


def post(url, body, headers):
    at = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if at.scheme in ("https", "wss") else http.client.HTTPConnection
    connection = kind(at.netloc, timeout=90)
    try:
        connection.request("POST", at.path or "/", body, headers)
        reply = connection.getresponse()
        return reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read()
    finally:
        connection.close()


class WebSocketSession(Session):
    """A session over a WebSocket (RFC 6455). `await close()` ends it; `await finished()` waits for its end."""
    def __init__(self, reader, writer):
        super().__init__()
        self.reader, self.writer, self.close_frame = reader, writer, None
        self._reading = asyncio.ensure_future(self._read())

    def _send(self, message):
        if self.log:
            self.log(">", message)
        self.send_frame(1, json.dumps(message).encode())

    def send_frame(self, opcode, payload):
        n, mask = len(payload), os.urandom(4)
        size = bytes([0x80 | n]) if n < 126 else (
            b"\xfe" + n.to_bytes(2, "big") if n < 65536 else b"\xff" + n.to_bytes(8, "big"))
        pad = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(n, "big")
        if not self.writer.is_closing():
            self.writer.write(bytes([0x80 | opcode]) + size + mask + masked)

    async def _read_frame(self):
        first, second = await self.reader.readexactly(2)
        n = second & 0x7F
        if n > 125:
            n = int.from_bytes(await self.reader.readexactly(2 if n == 126 else 8), "big")
        return first & 0x80, first & 0x0F, await self.reader.readexactly(n)

    async def _read_message(self):
        """The next text; None when the other side closes. Pings are answered."""
        text = b""
        while True:
            final, opcode, payload = await self._read_frame()
            if opcode == 8:
                self.close_frame = (int.from_bytes(payload[:2], "big"), payload[2:].decode())
                return self.send_frame(8, payload[:2])
            if opcode == 9:
                self.send_frame(10, payload)
            elif opcode in (0, 1):
                text += payload
                if final:
                    return text

    async def _read(self):
        why = "the connection was lost"
        try:
            while (text := await self._read_message()) is not None:
                self._receive(json.loads(text))
            why = f"closed: {self.close_frame}"
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:
            why = f"what came is no message: {error!r}"
            self._send(["abort", self.encode(error)])
        self._end(SessionEnded(why))
        self.ended.close = self.close_frame
        self.writer.close()

    async def finished(self) -> SessionEnded:
        await asyncio.shield(self._reading)
        return self.ended

    async def close(self):
        self.send_frame(8, (1000).to_bytes(2, "big"))
        await asyncio.wait([self._reading], timeout=5)
        self._reading.cancel()
        self._end(SessionEnded("closed here"))
        self.writer.close()


async def connect(url, headers=None) -> WebSocketSession:
    """Opens a WebSocket; `http` and `ws` stand for each other. Raises Refused if it is not granted."""
    at = urllib.parse.urlsplit(url)
    secure = at.scheme in ("https", "wss")
    context = ssl.create_default_context() if secure else None
    reader, writer = await asyncio.open_connection(at.hostname, at.port or (443 if secure else 80), ssl=context)
    key = base64.b64encode(os.urandom(16)).decode()
    fields = {"Host": at.netloc, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": key, **(headers or {})}
    lines = [f"GET {at.path or '/'} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
    writer.write("\r\n".join(lines).encode())
    first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    got = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in rest)}
    accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    status = int(first.split()[1])
    if status != 101 or got.get("sec-websocket-accept") != base64.b64encode(accept).decode():
        writer.close()
        raise Refused(status, got)
    return WebSocketSession(reader, writer)
