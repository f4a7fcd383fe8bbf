"""Tasks: reading and cancelling them."""

import uuid

from a2a.types import CancelTaskRequest
from probe import Probe, check, check_fails, check_state, request


async def get_unknown(probe: Probe) -> None:
    await check_fails(probe.get(str(uuid.uuid4())), 'TaskNotFoundError')


async def cancel_working(probe: Probe) -> None:
    task = await probe.start_held()
    cancelled = await _cancel(probe, task.id)
    check(cancelled.id, task.id, 'the cancelled task')
    check_state(cancelled, 'CANCELED')
    check_state(await probe.get(task.id), 'CANCELED')


async def cancel_input_required(probe: Probe) -> None:
    task = await probe.send_for_task(request(prefix='tck-input-required'))
    check_state(await _cancel(probe, task.id), 'CANCELED')


async def cancel_finished(probe: Probe) -> None:
    task = await probe.send_for_task(request('task'))
    await check_fails(_cancel(probe, task.id), 'TaskNotCancelableError')
    check_state(await probe.get(task.id), 'COMPLETED')


async def cancel_unknown(probe: Probe) -> None:
    await check_fails(_cancel(probe, str(uuid.uuid4())), 'TaskNotFoundError')


async def _cancel(probe: Probe, task_id: str):
    return await probe.calling.cancel_task(CancelTaskRequest(id=task_id))
