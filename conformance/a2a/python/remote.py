"""The unmodified official python client, told what to do line by line.

    remote.py BASE-URL

Reads one JSON object a line, does what it says, and prints one: how the task stands then. What the lines are
stands in `conformance/acp/remote.py`, which understands the same ones.
"""

import asyncio
import json
import sys
import uuid

from collections.abc import AsyncIterator

from a2a.client.errors import A2AClientError
from a2a.types import CancelTaskRequest, SendMessageRequest, StreamResponse, Task
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict, ParseDict

from probe import Probe

EXTENSION = 'urn:monas:a2a:ext:skill:1'

STATES = {
    'SUBMITTED': 'working',
    'WORKING': 'working',
    'INPUT_REQUIRED': 'asks',
    'CANCELED': 'cancelled',
}


async def main() -> None:
    async with Probe(sys.argv[1], 'JSONRPC', '') as probe:
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            try:
                told = await ORDERS[order.pop('do')](probe, **order)
            except (A2AError, A2AClientError) as error:
                told = {'refused': str(error)}
            print(json.dumps(told), flush=True)


async def begin(probe: Probe, skill: str, input: dict, until: str | None = None) -> dict:
    message = {'metadata': {f'{EXTENSION}/skill': skill}, 'parts': [{'data': input}]}
    return await hear(probe, probe.stream(request(message)), until)


async def answer(probe: Probe, task: str, answer: dict) -> dict:
    found = await probe.get(task)
    message = {'taskId': task, 'contextId': found.context_id, 'parts': [{'data': answer}]}
    return await hear(probe, probe.stream(request(message)))


async def cancel(probe: Probe, task: str) -> dict:
    return view(await probe.calling.cancel_task(CancelTaskRequest(id=task)), [])


async def show(probe: Probe, task: str) -> dict:
    return view(await probe.get(task), [])


async def follow(probe: Probe, task: str) -> dict:
    if (shown := await show(probe, task))['state'] != 'working':
        return shown
    return await hear(probe, probe.subscribe(task))


def request(message: dict) -> SendMessageRequest:
    message |= {'messageId': str(uuid.uuid4()), 'role': 'ROLE_USER', 'extensions': [EXTENSION]}
    return ParseDict({'message': message}, SendMessageRequest())


async def hear(probe: Probe, events: AsyncIterator[StreamResponse], until: str | None = None) -> dict:
    """How the task stands when its stream ends, or once this was said."""
    progress, task = [], ''
    async for event in events:
        kind = event.WhichOneof('payload')
        if kind == 'task':
            task = event.task.id
        if kind in ('task', 'status_update'):
            message = getattr(event, kind).status.message
            if f'{EXTENSION}/progress' in message.metadata:
                progress.append(text(message))
        if until and until in progress:
            break
    return view(await probe.get(task), progress)


def view(task: Task, progress: list[str]) -> dict:
    shown = MessageToDict(task)
    state = shown['status']['state'].removeprefix('TASK_STATE_')
    made = {one.artifact_id: one.parts[0] for one in task.artifacts}
    output = made.pop('output', None)
    return {
        'task': task.id,
        'state': STATES.get(state, state.lower()),
        'said': text(task.status.message) or None,
        'output': None if output is None else plain(MessageToDict(output)),
        'files': {name: part.text for name, part in made.items()},
        'progress': progress,
    }


def plain(part: dict):
    return part.get('data', part.get('text'))


def text(message) -> str:
    return '\n'.join(part.text for part in message.parts if part.text)


ORDERS = {'begin': begin, 'answer': answer, 'cancel': cancel, 'show': show, 'follow': follow}

if __name__ == '__main__':
    asyncio.run(main())
