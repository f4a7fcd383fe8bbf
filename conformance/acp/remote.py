"""Drives the unmodified python client of ACP by commands on standard input.

    remote.py BASE-URL

Reads one JSON object on each line, carries it out, and prints one: the run afterwards, as
{"task", "state", "said", "output", "files", "progress"}, or {"refused"}. `conformance/a2a/python/remote.py`
takes the same commands.

    {"do": "begin", "skill", "input", "until"?}   until the run is at rest, or its progress says `until`
    {"do": "answer", "task", "answer"}            until it is at rest again
    {"do": "cancel", "task"}
    {"do": "show", "task"}
    {"do": "follow", "task"}                      until it is at rest
"""

import asyncio
import json
import sys
import uuid

from acp_sdk.client import Client
from acp_sdk.models import ACPError, Message, MessageAwaitResume, MessagePart, Run, RunStatus

STATES = {
    RunStatus.CREATED: 'working',
    RunStatus.IN_PROGRESS: 'working',
    RunStatus.AWAITING: 'asks',
    RunStatus.CANCELLING: 'working',
}


async def main() -> None:
    async with Client(base_url=sys.argv[1], timeout=30) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            try:
                told = await COMMANDS[order.pop('do')](client, **order)
            except ACPError as error:
                told = {'refused': error.error.message}
            print(json.dumps(told), flush=True)


async def begin(client: Client, skill: str, input: dict, until: str | None = None) -> dict:
    return await read_stream(client, client.run_stream(part(input), agent=skill), until)


async def answer(client: Client, task: str, answer: dict) -> dict:
    resume = MessageAwaitResume(message=Message(parts=[part(answer)]))
    return await read_stream(client, client.run_resume_stream(resume, run_id=uuid.UUID(task)))


async def cancel(client: Client, task: str) -> dict:
    await client.run_cancel(run_id=uuid.UUID(task))
    return await follow(client, task)


async def show(client: Client, task: str) -> dict:
    run = await client.run_status(run_id=uuid.UUID(task))
    progress = []
    async for event in client.run_events(run_id=run.run_id):
        progress.extend(said_by(event))
    return view(run, progress)


async def follow(client: Client, task: str) -> dict:
    while (shown := await show(client, task))['state'] == 'working':
        await asyncio.sleep(0.01)
    return shown


async def read_stream(client: Client, events, until: str | None = None) -> dict:
    """The run at the end of its stream, or after its progress said `until`."""
    progress, run = [], None
    async for event in events:
        if event.type == 'error':
            raise ACPError(event.error)
        progress.extend(said_by(event))
        run = getattr(event, 'run', run)
        if until and until in progress:
            break
    return view(run, progress)


def said_by(event) -> list[str]:
    return [event.generic.model_dump()['message']] if event.type == 'generic' else []


def view(run: Run, progress: list[str]) -> dict:
    parts = [part for message in run.output for part in message.parts]
    output = [read(part) for part in parts if not part.name]
    if run.await_request:
        said = str(run.await_request.message)
    elif run.error:
        said = run.error.message
    else:
        said = progress[-1] if run.status == RunStatus.IN_PROGRESS and progress else None
    return {
        'task': str(run.run_id),
        'state': STATES.get(run.status, run.status.value),
        'said': said,
        'output': output[0] if output else None,
        'files': {part.name: part.content for part in parts if part.name},
        'progress': progress,
    }


def part(value: dict) -> MessagePart:
    return MessagePart(content_type='application/json', content=json.dumps(value))


def read(part: MessagePart):
    return json.loads(part.content) if part.content_type == 'application/json' else part.content


COMMANDS = {'begin': begin, 'answer': answer, 'cancel': cancel, 'show': show, 'follow': follow}

if __name__ == '__main__':
    asyncio.run(main())
