"""Every scenario by its name, in the order in which they run."""

from scenarios import card, errors, listing, messages, parts, push, streams, tasks


def _named(module) -> dict:
    """A public coroutine function of a scenario module is a scenario; `send_task` is `send-task`."""
    return {
        name.replace('_', '-'): function
        for name, function in vars(module).items()
        if getattr(function, '__module__', '') == module.__name__ and not name.startswith('_')
    }


SCENARIOS = {
    name: function
    for module in (card, messages, parts, streams, tasks, listing, push, errors)
    for name, function in _named(module).items()
}
