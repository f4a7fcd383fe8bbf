"""What every scenario needs: clients for one binding, messages, and checks that say what differed."""

import uuid

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import httpx

from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.types import (
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)

BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC']


class Mismatch(Exception):
    """The server did something else than the scenario expects."""


class Probe:
    """The official client, twice for one binding: as it sends and waits, and as it streams."""

    def __init__(self, base: str, binding: str, held: str) -> None:
        self.base = base
        self.binding = binding
        # The prefix of message ids that make a task work until it is cancelled.
        self.held = held

    async def __aenter__(self) -> 'Probe':
        self.http = httpx.AsyncClient(timeout=30)
        self.card = await A2ACardResolver(self.http, self.base).get_agent_card()
        self.calling = self.client(streaming=False)
        self.streaming = self.client(streaming=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.calling.close()
        await self.streaming.close()
        await self.http.aclose()

    def client(self, **config: Any) -> Client:
        return ClientFactory(
            ClientConfig(
                httpx_client=self.http,
                supported_protocol_bindings=[self.binding],
                grpc_channel_factory=grpc.aio.insecure_channel,
                **config,
            )
        ).create(self.card)

    async def send(self, request: SendMessageRequest, **parameters: str) -> StreamResponse:
        """What one SendMessage gives: a task or a message."""
        context = service_parameters(parameters)
        answers = [answer async for answer in self.calling.send_message(request, context=context)]
        check(len(answers), 1, 'answers to one SendMessage')
        return answers[0]

    async def send_for_task(self, request: SendMessageRequest, **parameters: str) -> Task:
        answer = await self.send(request, **parameters)
        check(answer.WhichOneof('payload'), 'task', 'the kind of answer')
        return answer.task

    def stream(self, request: SendMessageRequest, **parameters: str) -> AsyncIterator[StreamResponse]:
        return self.streaming.send_message(request, context=service_parameters(parameters))

    def subscribe(self, task_id: str, **parameters: str) -> AsyncIterator[StreamResponse]:
        return self.streaming.subscribe(
            SubscribeToTaskRequest(id=task_id), context=service_parameters(parameters)
        )

    async def get(self, task_id: str, **fields: Any) -> Task:
        return await self.calling.get_task(GetTaskRequest(id=task_id, **fields))

    async def start_held(self) -> Task:
        """A task that is at work and stays so."""
        return await self.send_for_task(
            request(prefix=self.held, configuration=SendMessageConfiguration(return_immediately=True))
        )


def only_over(*bindings: str):
    """Marks a scenario that the client cannot express over the other bindings."""

    def mark(scenario):
        scenario.bindings = bindings
        return scenario

    return mark


def request(
    text: str = 'go',
    prefix: str = 'probe',
    parts: list[Part] | None = None,
    configuration: SendMessageConfiguration | None = None,
    **message: Any,
) -> SendMessageRequest:
    """A request with one user message whose id begins with `prefix` and is new."""
    return SendMessageRequest(
        message=Message(
            role=Role.ROLE_USER,
            message_id=f'{prefix}-{uuid.uuid4()}',
            parts=[Part(text=text)] if parts is None else parts,
            **message,
        ),
        configuration=configuration,
    )


def service_parameters(parameters: dict[str, str]) -> ClientCallContext:
    """`a2a_version='9.9'` travels as the header or metadata A2A-Version."""
    named = {name.replace('_', '-'): value for name, value in parameters.items()}
    return ClientCallContext(service_parameters=named)


def check(actual: Any, expected: Any, what: str) -> None:
    if actual != expected:
        raise Mismatch(f'{what}: expected {expected!r}, got {actual!r}')


def check_that(holds: bool, what: str) -> None:
    if not holds:
        raise Mismatch(what)


def check_state(task: Task, state: str) -> None:
    check(TaskState.Name(task.status.state), f'TASK_STATE_{state}', 'the state of the task')


async def check_fails(call: Awaitable[Any], error: str) -> None:
    """The call must raise the SDK's own error class of this name."""
    try:
        result = await call
    except Exception as raised:
        check(type(raised).__name__, error, f'the error raised ({raised})')
    else:
        raise Mismatch(f'expected {error}, got an answer: {result!r}')


async def collect(stream: AsyncIterator[StreamResponse]) -> list[StreamResponse]:
    return [event async for event in stream]


def told(event: StreamResponse) -> str:
    """An event in a word or two, such as `working` or `artifact: chunk-1`."""
    match event.WhichOneof('payload'):
        case 'status_update':
            return TaskState.Name(event.status_update.status.state).removeprefix('TASK_STATE_').lower()
        case 'artifact_update':
            return f'artifact: {text_of(event.artifact_update.artifact.parts)}'
        case kind:
            return str(kind)


def text_of(parts: Any) -> str:
    return ''.join(part.text for part in parts)
