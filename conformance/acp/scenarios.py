"""The scenarios of the ACP suite. A scenario that returns has passed."""

import asyncio
import json
import uuid

import httpx
from acp_sdk.client import Client
from acp_sdk.models import (
    ACPError,
    Message,
    MessageAwaitResume,
    MessagePart,
    Run,
    RunStatus,
)

SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__.replace('_', '-')] = function
    return function


def equal(found, expected, what: str) -> None:
    if found != expected:
        raise AssertionError(f'{what}: {found!r} instead of {expected!r}')


def holds(condition, what: str) -> None:
    if not condition:
        raise AssertionError(what)


async def refused(work, code: str) -> str:
    """Checks that a call fails with this code, and returns the error message."""
    try:
        found = await work
    except ACPError as error:
        equal(error.error.code, code, 'the code of the error')
        holds(error.error.message, 'the error has no message')
        return error.error.message
    raise AssertionError(f'expected an error, got {found!r}')


async def until(client: Client, run: Run, status: RunStatus) -> Run:
    """Polls until the run has this status."""
    while run.status != status:
        holds(not run.status.is_terminal, f'the run ended as {run.status}')
        await asyncio.sleep(0.02)
        run = await client.run_status(run_id=run.run_id)
    return run


def answer(text: str) -> MessageAwaitResume:
    return MessageAwaitResume(message=Message(parts=[MessagePart(content=text)]))


async def events_of(stream) -> list:
    return [event async for event in stream]


def kinds(events: list) -> list[str]:
    return [event.type for event in events]


def said(run: Run) -> str:
    return ''.join(str(message) for message in run.output)


@scenario
async def ping(client: Client) -> None:
    await client.ping()


@scenario
async def agents_are_listed(client: Client) -> None:
    names = [agent.name async for agent in client.agents()]
    for name in ['echo', 'approve', 'slow', 'boom']:
        holds(name in names, f'no {name} among {names}')
    equal(len(set(names)), len(names), 'different names')


@scenario
async def agents_come_in_pages(client: Client) -> None:
    async def page(query: str) -> list[str]:
        response = await client.client.get(f'{base(client)}/agents?{query}')
        return [agent['name'] for agent in response.json()['agents']]

    names = [agent.name async for agent in client.agents()]
    equal(await page('limit=2&offset=1'), names[1:3], 'a page')
    equal(await page('limit=1000'), names, 'one page')


@scenario
async def a_manifest_is_complete(client: Client) -> None:
    manifest = await client.agent(name='echo')
    equal(manifest.name, 'echo', 'the name')
    holds(manifest.description, 'no description')
    holds('text/plain' in manifest.input_content_types, 'text/plain is not an input type')
    holds(manifest.output_content_types, 'no output types')
    holds(manifest.metadata.tags, 'no tags')
    holds(manifest.metadata.annotations.beeai_ui.display_name, 'no display name')


@scenario
async def an_agent_that_is_not_there(client: Client) -> None:
    await refused(client.agent(name='no-such-agent'), 'not_found')
    await refused(client.run_sync('hello', agent='no-such-agent'), 'not_found')
    await refused(events_of(client.run_stream('hello', agent='no-such-agent')), 'not_found')


@scenario
async def a_run_that_is_waited_for(client: Client) -> None:
    run = await client.run_sync('hello', agent='echo')
    equal(run.status, RunStatus.COMPLETED, 'the status')
    equal(run.agent_name, 'echo', 'the agent')
    equal(run.output[-1].role, 'agent/echo', 'the role')
    holds('hello' in said(run), f'output was {said(run)!r}')
    holds(run.session_id, 'no session')
    holds(run.created_at <= run.finished_at, 'it ended before it began')
    equal(await client.run_status(run_id=run.run_id), run, 'the run, asked for again')


@scenario
async def input_as_json(client: Client) -> None:
    manifest = await client.agent(name='echo')
    annotations = manifest.metadata.annotations.model_dump()
    field = annotations['urn:monas:acp:skill:1']['input_schema']['required'][0]
    part = MessagePart(content_type='application/json', content=json.dumps({field: 'hello'}))
    run = await client.run_sync(part, agent='echo')
    holds('hello' in said(run), f'output was {said(run)!r}')


@scenario
async def input_in_several_parts(client: Client) -> None:
    run = await client.run_sync(['one', 'two'], agent='echo')
    holds('one' in said(run) and 'two' in said(run), f'output was {said(run)!r}')


@scenario
async def input_that_is_none(client: Client) -> None:
    part = MessagePart(content_type='application/json', content='{"no-such-field": 7}')
    await refused(client.run_sync(part, agent='echo'), 'invalid_input')
    await refused(client.run_async(part, agent='echo'), 'invalid_input')
    await refused(events_of(client.run_stream(part, agent='echo')), 'invalid_input')


@scenario
async def a_stream_in_order(client: Client) -> None:
    events = await events_of(client.run_stream('hello', agent='echo'))
    found = kinds(events)
    without = [kind for kind in found if kind != 'generic']
    expected = [
        'run.created',
        'run.in-progress',
        'message.created',
        'message.part',
        'message.completed',
        'run.completed',
    ]
    equal(without, expected, 'the events')
    equal(found[:2], expected[:2], 'the first events')
    run = events[-1].run
    holds('hello' in said(run), f'output was {said(run)!r}')
    equal(await client.run_status(run_id=run.run_id), run, 'the run, asked for later')


@scenario
async def the_log_is_what_was_streamed(client: Client) -> None:
    events = await events_of(client.run_stream('hello', agent='echo'))
    log = await events_of(client.run_events(run_id=events[0].run.run_id))
    equal(log, events, 'the log')


@scenario
async def a_run_that_is_polled(client: Client) -> None:
    run = await client.run_async('hello', agent='echo')
    run = await until(client, run, RunStatus.COMPLETED)
    holds('hello' in said(run), f'output was {said(run)!r}')


@scenario
async def every_reply_names_its_run(client: Client) -> None:
    part = {'role': 'user', 'parts': [{'content': 'hello'}]}
    for mode, status in [('sync', 200), ('async', 202), ('stream', 200)]:
        body = {'agent_name': 'echo', 'input': [part], 'mode': mode}
        response = await client.client.post(f'{base(client)}/runs', json=body)
        equal(response.status_code, status, f'the status of {mode}')
        run = await client.run_status(run_id=uuid.UUID(response.headers['Run-ID']))
        equal(run.agent_name, 'echo', 'the agent')


@scenario
async def a_run_that_waits_and_is_resumed(client: Client) -> None:
    run = await client.run_sync('go', agent='approve')
    equal(run.status, RunStatus.AWAITING, 'the status')
    equal(run.await_request.type, 'message', 'what it waits for')
    holds(str(run.await_request.message), 'no question')
    run = await client.run_resume_sync(answer('yes'), run_id=run.run_id)
    equal(run.status, RunStatus.COMPLETED, 'the status')
    holds('yes' in said(run), f'output was {said(run)!r}')


@scenario
async def a_stream_that_waits_and_is_resumed(client: Client) -> None:
    first = await events_of(client.run_stream('go', agent='approve'))
    equal(kinds(first)[-1], 'run.awaiting', 'the last event')
    run_id = first[-1].run.run_id
    second = await events_of(client.run_resume_stream(answer('yes'), run_id=run_id))
    equal(kinds(second)[0], 'run.in-progress', 'the first new event')
    equal(kinds(second)[-1], 'run.completed', 'the last event')
    log = await events_of(client.run_events(run_id=run_id))
    equal(log, first + second, 'the log')


@scenario
async def a_run_that_waits_and_is_polled(client: Client) -> None:
    run = await client.run_async('go', agent='approve')
    run = await until(client, run, RunStatus.AWAITING)
    run = await client.run_resume_async(answer('yes'), run_id=run.run_id)
    run = await until(client, run, RunStatus.COMPLETED)
    equal(run.await_request, None, 'what it waits for')


@scenario
async def what_does_not_wait_is_not_resumed(client: Client) -> None:
    run = await client.run_sync('hello', agent='echo')
    await refused(client.run_resume_sync(answer('yes'), run_id=run.run_id), 'server_error')
    work = events_of(client.run_resume_stream(answer('yes'), run_id=run.run_id))
    await refused(work, 'server_error')
    await refused(client.run_resume_sync(answer('yes'), run_id=uuid.uuid4()), 'not_found')


@scenario
async def cancelling(client: Client) -> None:
    run = await client.run_async('go', agent='slow')
    run = await until(client, run, RunStatus.IN_PROGRESS)
    run = await client.run_cancel(run_id=run.run_id)
    equal(run.status, RunStatus.CANCELLING, 'the status at once')
    run = await until(client, run, RunStatus.CANCELLED)
    holds(run.finished_at, 'finished_at is missing')
    log = await events_of(client.run_events(run_id=run.run_id))
    equal(kinds(log)[-1], 'run.cancelled', 'the last event')


@scenario
async def cancelling_what_waits(client: Client) -> None:
    run = await client.run_sync('go', agent='approve')
    run = await client.run_cancel(run_id=run.run_id)
    run = await until(client, run, RunStatus.CANCELLED)
    await refused(client.run_resume_sync(answer('yes'), run_id=run.run_id), 'server_error')


@scenario
async def cancelling_what_is_followed(client: Client) -> None:
    found = []
    async for event in client.run_stream('go', agent='slow'):
        found.append(event.type)
        if event.type == 'run.in-progress':
            await client.run_cancel(run_id=event.run.run_id)
    equal(found[-1], 'run.cancelled', 'the last event')


@scenario
async def cancelling_what_has_ended(client: Client) -> None:
    run = await client.run_sync('hello', agent='echo')
    await refused(client.run_cancel(run_id=run.run_id), 'server_error')
    await refused(client.run_cancel(run_id=uuid.uuid4()), 'not_found')


@scenario
async def a_run_that_fails(client: Client) -> None:
    run = await client.run_sync('hello', agent='boom')
    equal(run.status, RunStatus.FAILED, 'the status')
    holds(run.error.message, 'no error message')
    events = await events_of(client.run_stream('hello', agent='boom'))
    equal(kinds(events)[-1], 'run.failed', 'the last event')
    equal(events[-1].run.error, run.error, 'the error')


@scenario
async def a_run_that_is_not_there(client: Client) -> None:
    await refused(client.run_status(run_id=uuid.uuid4()), 'not_found')
    await refused(events_of(client.run_events(run_id=uuid.uuid4())), 'not_found')


@scenario
async def a_session_and_its_history(client: Client) -> None:
    async with client.session() as session:
        one = await session.run_sync('one', agent='echo')
        two = await session.run_sync('two', agent='echo')
        equal(one.session_id, two.session_id, 'the session')
        found = await session.refresh_session()
        equal(found.id, one.session_id, 'the session')
        messages = [message async for message in found.load_history()]
    roles = [message.role for message in messages]
    equal(roles, ['user', 'agent/echo', 'user', 'agent/echo'], 'the roles')
    texts = [str(message) for message in messages]
    equal(texts[::2], ['one', 'two'], 'what was asked')
    holds('one' in texts[1] and 'two' in texts[3], f'messages were {texts}')


@scenario
async def a_session_under_both_addresses(client: Client) -> None:
    run = await client.run_sync('hello', agent='echo')
    found = [
        (await client.client.get(f'{base(client)}/{path}/{run.session_id}')).json()
        for path in ['session', 'sessions']
    ]
    equal(found[0], found[1], 'the session')
    equal(len(found[0]['history']), 2, 'how much was said')


@scenario
async def what_is_no_request(client: Client) -> None:
    async def check(verb: str, path: str, status: int, **body) -> None:
        response = await client.client.request(verb, f'{base(client)}{path}', **body)
        equal(response.status_code, status, f'the status of {verb} {path} {body}')
        error = response.json()
        holds(error['code'] in ('invalid_input', 'not_found'), f'the code of {error}')
        holds(error['message'], 'the error has no message')

    await check('POST', '/runs', 422, json={'agent_name': 'echo'})
    await check('POST', '/runs', 422, json={'agent_name': 'echo', 'input': []})
    await check('POST', '/runs', 422, json=[])
    await check('POST', '/runs', 400, content='{')
    await check('POST', '/ping', 405)
    await check('GET', '/no/such/path', 404)
    await check('GET', '/sessions/' + str(uuid.uuid4()), 404)
    await check('GET', '/resources/' + str(uuid.uuid4()), 404)


@scenario
async def a_body_may_say_what_it_is(client: Client) -> None:
    headers = {'content-type': 'application/json'}
    async with Client(base_url=client.client.base_url, headers=headers, timeout=30) as typed:
        run = await typed.run_sync('hello', agent='echo')
    equal(run.status, RunStatus.COMPLETED, 'the status')


@scenario
async def many_at_once(client: Client) -> None:
    texts = [f'number {number}' for number in range(50)]
    runs = await asyncio.gather(*(client.run_sync(text, agent='echo') for text in texts))
    for run, text in zip(runs, texts):
        holds(text in said(run), f'{text}: {said(run)!r}')
    equal(len({run.run_id for run in runs}), 50, 'different runs')


async def begin(client: Client) -> str:
    run = await client.run_sync('go', agent='approve')
    equal(run.status, RunStatus.AWAITING, 'the status')
    return str(run.run_id)


async def finish(client: Client, run_id: str) -> None:
    run = await client.run_status(run_id=uuid.UUID(run_id))
    equal(run.status, RunStatus.AWAITING, 'the status')
    run = await client.run_resume_sync(answer('yes'), run_id=run.run_id)
    equal(run.status, RunStatus.COMPLETED, 'the status')
    holds('yes' in said(run), f'output was {said(run)!r}')
    log = kinds(await events_of(client.run_events(run_id=run.run_id)))
    waits = log.index('run.awaiting')
    equal(log[waits + 1], 'run.in-progress', 'what follows')
    equal(log[-1], 'run.completed', 'the last event')
    response = await client.client.get(f'{base(client)}/sessions/{run.session_id}')
    urls = response.json()['history']
    async with httpx.AsyncClient() as plain:
        texts = [(await plain.get(url)).json()['parts'][0]['content'] for url in urls]
    equal(texts[0], 'go', 'what was asked')
    holds('yes' in texts[-1], f'messages were {texts}')


def base(client: Client) -> str:
    return str(client.client.base_url).rstrip('/')
