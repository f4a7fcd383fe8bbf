"""Push: the four operations, and a real webhook that is told what happens."""

import uuid

from a2a.types import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    SendMessageConfiguration,
    TaskPushNotificationConfig,
)
from probe import Probe, check, check_fails, check_that, request
from webhook import Posted, Webhook


async def push_configs(probe: Probe) -> None:
    client = probe.calling
    task = await probe.start_held()
    first = await client.create_task_push_notification_config(_config(task.id, id='first'))
    check((first.id, first.task_id, first.token), ('first', task.id, 'a token'), 'what was created')
    second = await client.create_task_push_notification_config(_config(task.id))
    check_that(second.id not in ('', 'first'), f'the id made for a config: {second.id!r}')

    got = await client.get_task_push_notification_config(
        GetTaskPushNotificationConfigRequest(task_id=task.id, id='first')
    )
    check(got, first, 'the config that was read')
    check(got.authentication.scheme, 'Bearer', 'its scheme')
    check(sorted(await _ids(probe, task.id)), sorted(['first', second.id]), 'the configs listed')

    gone = DeleteTaskPushNotificationConfigRequest(task_id=task.id, id='first')
    await client.delete_task_push_notification_config(gone)
    await client.delete_task_push_notification_config(gone)
    check(await _ids(probe, task.id), [second.id], 'the configs left')
    await client.cancel_task(CancelTaskRequest(id=task.id))


async def push_config_unknown(probe: Probe) -> None:
    task = await probe.send_for_task(request('task'))
    for task_id in (task.id, str(uuid.uuid4())):
        wanted = GetTaskPushNotificationConfigRequest(task_id=task_id, id='nobody')
        await check_fails(
            probe.calling.get_task_push_notification_config(wanted), 'TaskNotFoundError'
        )


async def push_config_for_unknown_task(probe: Probe) -> None:
    await check_fails(
        probe.calling.create_task_push_notification_config(_config(str(uuid.uuid4()))),
        'TaskNotFoundError',
    )


async def push_from_the_start(probe: Probe) -> None:
    async with Webhook() as webhook:
        config = _config('', url=webhook.url)
        task = await probe.send_for_task(
            request(
                prefix='tck-stream-ordering-001',
                configuration=SendMessageConfiguration(task_push_notification_config=config),
            )
        )
        posted = await webhook.until('completed')
    _check_posted(posted, task.id)
    updates = [_told(notification) for notification in posted if 'task' not in notification.body]
    check(updates, ['working', 'artifact', 'completed'], 'the updates, in order')


async def push_later(probe: Probe) -> None:
    async with Webhook() as webhook:
        task = await probe.start_held()
        await probe.calling.create_task_push_notification_config(_config(task.id, url=webhook.url))
        await probe.calling.cancel_task(CancelTaskRequest(id=task.id))
        posted = await webhook.until('canceled')
    _check_posted(posted, task.id)


def _check_posted(posted: list[Posted], task_id: str) -> None:
    for notification in posted:
        (kind,) = notification.body
        told = notification.body[kind]
        check(told.get('id') or told.get('taskId'), task_id, 'the task of a notification')
        headers = notification.headers
        check(headers.get('x-a2a-notification-token'), 'a token', 'the token')
        check(headers.get('authorization'), 'Bearer secret', 'the credentials')
        check(headers.get('content-type'), 'application/a2a+json', 'the media type')


def _told(notification: Posted) -> str:
    return notification.state or ('artifact' if 'artifactUpdate' in notification.body else '?')


async def _ids(probe: Probe, task_id: str) -> list[str]:
    listed = await probe.calling.list_task_push_notification_configs(
        ListTaskPushNotificationConfigsRequest(task_id=task_id)
    )
    return [config.id for config in listed.configs]


def _config(task_id: str, **fields: str) -> TaskPushNotificationConfig:
    return TaskPushNotificationConfig(
        task_id=task_id,
        url=fields.pop('url', 'http://127.0.0.1:9/nobody'),
        token='a token',
        authentication=AuthenticationInfo(scheme='Bearer', credentials='secret'),
        **fields,
    )
