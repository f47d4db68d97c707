"""The order of a plan's steps: what they need of each other, and which may begin."""

from collections.abc import Mapping, Sequence

from daemon.domain import directives, world

_STATUS = world.StepStatus


def fault(steps: Sequence[directives.PlanStep]) -> str:
    """What is wrong with a plan, in a clause; empty when its steps can be put in an order."""
    names = [step.id for step in steps]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return f"two steps have the id {twice}"
    for step in steps:
        unknown = next((name for name in step.after if name not in names), None)
        if unknown is not None:
            return f"step {step.id} comes after {unknown}, which is no step"
        if step.kind == "tool" and (step.tool is None or step.arguments is None):
            return f"step {step.id} is of kind tool and needs tool and arguments"
        if step.kind != "tool" and step.tool is not None:
            return f"step {step.id} is of kind {step.kind} and can have no tool"
    path = cycle({step.id: step.after for step in steps})
    return f"the steps wait for each other: {' → '.join(path)}" if path else ""


def cycle(after: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A circle among steps, from a step back to itself; empty when there is none."""
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        found = _walk(after, start, path, done)
        if found:
            return found
    return ()


def _walk(
    after: Mapping[str, Sequence[str]], name: str, path: list[str], done: set[str]
) -> tuple[str, ...]:
    if name in path:
        return (*path[path.index(name) :], name)
    if name in done:
        return ()
    path.append(name)
    for before in after.get(name, ()):
        found = _walk(after, before, path, done)
        if found:
            return found
    path.pop()
    done.add(name)
    return ()


def lost(plan: Sequence[world.Step]) -> tuple[world.Step, ...]:
    """The steps that can never begin, because one that they need has failed or was left out."""
    ends = {step.step_id: step.status for step in plan}
    gone = (_STATUS.FAILED, _STATUS.SKIPPED)
    return tuple(
        step
        for step in plan
        if step.status is _STATUS.WAITING and any(ends[name] in gone for name in step.planned.after)
    )


def startable(plan: Sequence[world.Step], parallel_steps: int) -> tuple[world.Step, ...]:
    """The steps to begin now, in the order of the plan.

    So many at once, and of those that a model carries out one: they may change the same files.
    """
    done = {step.step_id for step in plan if step.status is _STATUS.DONE}
    under_way = [step for step in plan if step.status in (_STATUS.RUNNING, _STATUS.TRIED)]
    room = parallel_steps - len(under_way)
    by_model = any(step.planned.kind != "tool" for step in under_way)
    found: list[world.Step] = []
    for step in plan:
        ready = step.status is _STATUS.WAITING and done.issuperset(step.planned.after)
        if len(found) >= room or not ready:
            continue
        if step.planned.kind != "tool":
            if by_model:
                continue
            by_model = True
        found.append(step)
    return tuple(found)


def last_words(plan: Sequence[world.Step]) -> world.Step | None:
    """The step whose text is the plan's answer: one that responds, is done, and that no other
    step needs."""
    needed = {name for step in plan for name in step.planned.after}
    ends = [
        step
        for step in plan
        if step.planned.kind == "respond"
        and step.status is _STATUS.DONE
        and step.step_id not in needed
    ]
    return ends[-1] if len(ends) == 1 else None
