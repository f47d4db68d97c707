"""What the models of a simulated daemon say: anything that one may say for its purpose."""

import json
import random
from collections.abc import Mapping, Sequence

from daemon.domain import directives, messages
from tests.unit.decide import scenes

_STEPS = "abcde"
_MOST_AFTER = 2
_Object = dict[str, object]


def reply(purpose: messages.Purpose, dice: random.Random) -> messages.ModelResult:
    """A finished generation, perhaps cut, perhaps nothing but thoughts."""
    text = _text(purpose, dice)
    reasoning = "hm" if dice.random() < 0.1 else ""
    if reasoning and dice.random() < 0.5:
        text = ""
    cut = dice.random() < 0.1
    return messages.ModelResult(
        text=text[:-1] if cut else text,
        finish_reason="length" if cut else "stop",
        slot="main",
        reasoning=reasoning,
    )


def _text(purpose: messages.Purpose, dice: random.Random) -> str:
    match purpose:
        case messages.Purpose.THINK:
            return dice.choice((*[_directive(dice)] * 3, "words", ""))
        case messages.Purpose.COMPILE:
            return dice.choice((_directive(dice), _directive(dice), '{"kind":"respond"}', "{}"))
        case messages.Purpose.CRITICIZE:
            return dice.choice((_criticism(dice), _criticism(dice), "fine"))
        case _:
            return dice.choice(("text", "text", ""))


def _directive(dice: random.Random) -> str:
    kind = dice.choice(("tool", "plan", "plan", "plan", "coder", "respond", "fail", "bad"))
    made: Mapping[str, _Object] = {
        "tool": _tool(dice),
        "plan": {"kind": "plan", "steps": _steps(dice)},
        "coder": {"kind": "coder", "instruction": "mend", "files": _files(dice)},
        "respond": {"kind": "respond", "text": dice.choice(("so", ""))},
        "fail": {"kind": "fail", "reason": "cannot"},
        "bad": {"kind": "tool"},
    }
    return json.dumps(made[kind])


def _tool(dice: random.Random) -> _Object:
    tool = dice.choice((*_offered(), "no_such"))
    return {"kind": "tool", "tool": tool, "arguments": {"n": dice.randrange(3)}}


def _offered() -> Sequence[str]:
    return [name for name in scenes.TOOLS if name != "apply_edits"]


def _files(dice: random.Random) -> list[str]:
    return [f"{number}.py" for number in range(dice.randrange(3))]


def _steps(dice: random.Random) -> list[_Object]:
    """Mostly a plan that can be followed: each step may need earlier ones."""
    names = _STEPS[: dice.randint(1, len(_STEPS))]
    steps: list[_Object] = []
    for at, name in enumerate(names):
        needs = [earlier for earlier in names[:at] if dice.random() < 0.4][:_MOST_AFTER]
        if dice.random() < 0.02:
            needs = [names[-1]]
        kind = dice.choice(("tool", "tool", "tool", "coder", "respond"))
        step: _Object = {"id": name, "goal": f"goal {name}", "kind": kind, "after": needs}
        if kind == "tool":
            step |= {"tool": dice.choice(_offered()), "arguments": {"step": name}}
        elif kind == "coder":
            step |= {"arguments": {"files": _files(dice)}}
        steps.append(step)
    return steps


def _criticism(dice: random.Random) -> str:
    follows = dice.choice((*directives.Recovery, directives.Recovery.CONTINUE))
    scores = {name: dice.randint(0, 10) for name in ("correctness", "usefulness", "safety")}
    return json.dumps({**scores, "follows": follows, "note": dice.choice(("", "why"))})
