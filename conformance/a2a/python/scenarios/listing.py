"""ListTasks: every filter, pages, order, and what is left out."""

import uuid

from a2a.types import ListTasksRequest, ListTasksResponse, Task, TaskState
from probe import Probe, check, check_fails, check_that, request


async def list_by_context(probe: Probe) -> None:
    context, tasks = await _some_tasks(probe, 3)
    listed = await _list(probe, context_id=context)
    _check_newest_first(listed.tasks, tasks)
    check((listed.total_size, listed.next_page_token), (3, ''), 'the size and the next page')
    nothing = await _list(probe, context_id=f'nobody-{uuid.uuid4()}')
    check((len(nothing.tasks), nothing.total_size), (0, 0), 'tasks of an unknown context')


async def list_by_state(probe: Probe) -> None:
    context, (finished,) = await _some_tasks(probe, 1)
    asked = await probe.send_for_task(request(prefix='tck-input-required', context_id=context))
    for state, expected in (
        (TaskState.TASK_STATE_COMPLETED, [finished]),
        (TaskState.TASK_STATE_INPUT_REQUIRED, [asked.id]),
        (TaskState.TASK_STATE_FAILED, []),
    ):
        listed = await _list(probe, context_id=context, status=state)
        check([task.id for task in listed.tasks], expected, TaskState.Name(state))


async def list_by_time(probe: Probe) -> None:
    context, tasks = await _some_tasks(probe, 3)
    second = (await probe.get(tasks[1])).status.timestamp
    listed = await _list(probe, context_id=context, status_timestamp_after=second)
    listed_ids = {task.id for task in listed.tasks}
    check_that(listed_ids >= set(tasks[1:]), 'a task is missing that is as new as the second')
    oldest = min(map(_nanoseconds, listed.tasks))
    check_that(oldest >= second.ToNanoseconds(), 'a task is too old')


async def list_pages(probe: Probe) -> None:
    context, tasks = await _some_tasks(probe, 5)
    seen, token, pages = [], '', 0
    while True:
        page = await _list(probe, context_id=context, page_size=2, page_token=token)
        check(page.total_size, 5, 'the total size')
        check_that(len(page.tasks) <= 2, f'a page of 2 has {len(page.tasks)} tasks')
        seen += page.tasks
        pages += 1
        token = page.next_page_token
        if not token or pages > 5:
            break
    check(pages, 3, 'the pages')
    _check_newest_first(seen, tasks)


async def list_artifacts(probe: Probe) -> None:
    context, _ = await _some_tasks(probe, 1)
    plain = await _list(probe, context_id=context)
    check(len(plain.tasks[0].artifacts), 0, 'artifacts when none are asked for')
    full = await _list(probe, context_id=context, include_artifacts=True)
    check(len(full.tasks[0].artifacts), 1, 'artifacts when they are asked for')


async def list_history_length(probe: Probe) -> None:
    context, _ = await _some_tasks(probe, 1)
    none = await _list(probe, context_id=context, history_length=0)
    check(len(none.tasks[0].history), 0, 'messages of length 0')
    one = await _list(probe, context_id=context, history_length=1)
    check(len(one.tasks[0].history), 1, 'messages of length 1')


async def list_bad_page_size(probe: Probe) -> None:
    for size in (0, -1, 101):
        await check_fails(_list(probe, page_size=size), 'InvalidParamsError')


async def list_bad_page_token(probe: Probe) -> None:
    await check_fails(_list(probe, page_token='no such page'), 'InvalidParamsError')


async def _some_tasks(probe: Probe, count: int) -> tuple[str, list[str]]:
    """Finished tasks in a context of their own, oldest first."""
    context = f'list-{uuid.uuid4()}'
    tasks = [await probe.send_for_task(request(f'task {i}', context_id=context)) for i in range(count)]
    return context, [task.id for task in tasks]


def _check_newest_first(listed: list[Task], tasks: list[str]) -> None:
    """These very tasks; those of one instant may stand in any order."""
    check(sorted(task.id for task in listed), sorted(tasks), 'the tasks')
    stamps = [_nanoseconds(task) for task in listed]
    check(stamps, sorted(stamps, reverse=True), 'the order of their times')


def _nanoseconds(task: Task) -> int:
    return task.status.timestamp.ToNanoseconds()


async def _list(probe: Probe, **fields: object) -> ListTasksResponse:
    return await probe.calling.list_tasks(ListTasksRequest(**fields))
