"""What every scenario needs: clients of 0.3 for one binding, messages, and checks."""

import uuid

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import httpx

from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, Task, TaskIdParams, TaskState, TextPart

BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC']


class Probe:
    """The official client three times for one binding: as it waits, as it polls, and as it streams."""

    def __init__(self, base: str, binding: str) -> None:
        self.base = base
        self.binding = binding

    async def __aenter__(self) -> 'Probe':
        self.http = httpx.AsyncClient(timeout=30)
        self.card = await A2ACardResolver(self.http, self.base).get_agent_card()
        offered = self.card.additional_interfaces or []
        self.offered = any(it.transport == self.binding for it in offered)
        if self.offered:
            self.waiting = self.client(streaming=False)
            self.polling = self.client(streaming=False, polling=True)
            self.streaming = self.client(streaming=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    def client(self, **config: Any) -> Client:
        factory = ClientFactory(
            ClientConfig(
                httpx_client=self.http,
                supported_transports=[self.binding],
                grpc_channel_factory=grpc.aio.insecure_channel,
                **config,
            )
        )
        return factory.create(self.card)

    async def send(self, message: Message, client: Client | None = None) -> Task | Message:
        answers = [answer async for answer in (client or self.waiting).send_message(message)]
        check(len(answers), 1, 'answers to one message')
        return answers[0][0] if isinstance(answers[0], tuple) else answers[0]

    async def send_for_task(self, message: Message) -> Task:
        task = await self.send(message)
        check(task.kind, 'task', 'the kind of answer')
        return task

    async def start_held(self) -> Task:
        """A task that is at work and stays so."""
        return await self.send(message(prefix='tck-cancel'), self.polling)

    def stream(self, message: Message) -> AsyncIterator[Any]:
        return self.streaming.send_message(message)

    async def cancel(self, task_id: str) -> Task:
        return await self.waiting.cancel_task(TaskIdParams(id=task_id))


def message(text: str = 'go', prefix: str = 'probe', parts: list | None = None, **fields: Any) -> Message:
    """A message of the user whose id begins with `prefix` and is new."""
    return Message(
        role=Role.user,
        message_id=f'{prefix}-{uuid.uuid4()}',
        parts=[Part(root=part) for part in parts or [TextPart(text=text)]],
        **fields,
    )


def text_of(parts: list) -> str:
    return ''.join(getattr(part.root, 'text', '') for part in parts)


def told(event: Any) -> str:
    """An event in a word or two, such as `working` or `artifact: chunk-1`."""
    if not isinstance(event, tuple):
        return event.kind
    task, update = event
    if update is None:
        return 'task'
    if update.kind == 'artifact-update':
        return f'artifact: {text_of(update.artifact.parts)}'
    return update.status.state.value


def check(found: Any, expected: Any, what: str) -> None:
    if found != expected:
        raise AssertionError(f'{what}: expected {expected!r}, found {found!r}')


def check_state(task: Task, state: TaskState) -> None:
    check(task.status.state, state, 'the state')


async def check_fails(call: Awaitable[Any], *words: str) -> None:
    """The call must fail and say one of these, which differ by binding."""
    try:
        answer = await call
    except Exception as error:
        said = f'{type(error).__name__} {error}'
        check(any(word in said for word in words), True, f'{said} says one of {words}')
        return
    raise AssertionError(f'expected a failure, got {answer!r}')
