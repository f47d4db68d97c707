"""A model's chat template, rendered so that contents never meet it.

The template is rendered with a marker in the place of each content; what comes out is cut at the
markers into runs of the template's own text and of contents. So a content is never seen by the
template, and its tokens are made apart from the template's. The price: a template cannot look into
contents; what it would trim is trimmed here.

A template that refuses a role, or wants user and assistant to take turns, is met half-way by an
`Adaptation`; one that loses, doubles or reorders contents is not used at all.
"""

import dataclasses
import datetime
import re
import types
from collections.abc import Mapping, Sequence

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
PLAIN = (
    "{% for message in messages %}{{ message['role'] | capitalize + ': ' + "
    "message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
_PAD = "\n "
"""Around each marker; where it does not come out again the template trims."""
_MARKER = re.compile(r"(\n )?DUCKCONTENT(\d+)END(\n )?")
_PROBE = (
    ("system", ""),
    ("user", ""),
    ("user", ""),
    ("assistant", ""),
    ("assistant", ""),
    ("tool", ""),
    ("assistant", ""),
    ("user", ""),
)
"""Also twice in a row by the same: a note before a message, a plan before its first call."""
_SPOKEN_PROBE = tuple((speaker, "x") for speaker, _ in _PROBE)
_SWITCHES = ("enable_thinking", "thinking")
"""What templates call the variable that turns a model's thinking on and off."""
_UNSWITCHED: Mapping[str, bool] = types.MappingProxyType({})


class TemplateError(Exception):
    """The template cannot render these messages; `str(error)` is one sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """Text of one origin: `own` is the template's, else it is a content."""

    text: str
    own: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Adaptation:
    """What is changed about messages so that a template takes them."""

    tool_as_user: bool = False
    system_as_user: bool = False
    merge_turns: bool = False

    def apply(self, speakers: Sequence[str]) -> list[tuple[str, list[int]]]:
        """The turns to render: each a role and the messages, by index, that it is made of."""
        turns: list[tuple[str, list[int]]] = []
        for index, speaker in enumerate(speakers):
            role = speaker
            if (speaker == "tool" and self.tool_as_user) or (
                speaker == "system" and self.system_as_user
            ):
                role = "user"
            if turns and self.merge_turns and turns[-1][0] == role:
                turns[-1][1].append(index)
            else:
                turns.append((role, [index]))
        return turns


_ADAPTATIONS = (
    Adaptation(),
    Adaptation(tool_as_user=True),
    Adaptation(tool_as_user=True, merge_turns=True),
    Adaptation(tool_as_user=True, system_as_user=True, merge_turns=True),
)


class _Generation(jinja2.ext.Extension):
    """`generation` blocks say to trainers what an assistant said; here they are what they hold."""

    tags = {"generation"}

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class Template:
    """A compiled template with the adaptation that a probe found it to need.

    `switch` is the variable that turns thinking on and off, or "" where the template has none;
    `switches_early` says that it changes more than where the assistant's turn begins. `beginning`
    is what stands there when it thinks. `written` has all that it can write itself: its source, and
    what it makes of the names of roles.

    Raises:
        TemplateError: it does not compile, or renders no conversation faithfully.
    """

    def __init__(self, source: str, begin: str = "", end: str = "") -> None:
        self.source = source
        self._tokens = {"bos_token": begin, "eos_token": end}
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, _Generation]
        )
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _strftime_now
        try:
            self._compiled = environment.from_string(source)
        except (jinja2.TemplateError, RecursionError) as error:
            raise TemplateError(f"The chat template does not compile: {error}.") from error
        self.switch, self.switches_early = "", False
        self.adaptation = self._probe()
        self._find_switch()
        self.beginning = self._beginning()
        self.written = source + self._around()

    def render(self, messages: Sequence[tuple[str, str]], thinks: bool = False) -> list[Run]:
        """The prompt for the (speaker, content) pairs, up to where the assistant's turn begins.

        Raises:
            TemplateError: the template fails, or does not keep each content exactly once.
        """
        return self._render(messages, self.adaptation, {self.switch: thinks} if self.switch else {})

    def _probe(self) -> Adaptation:
        fault = TemplateError("The chat template renders nothing.")
        for adaptation in _ADAPTATIONS:
            try:
                self._render(_PROBE, adaptation)
            except TemplateError as error:
                fault = error
            else:
                return adaptation
        raise fault

    def _find_switch(self) -> None:
        """The first variable that makes a difference, as long as the template works either way."""
        for switch in _SWITCHES:
            try:
                thinking, silent = (
                    self._render(_SPOKEN_PROBE, self.adaptation, {switch: thinks})
                    for thinks in (True, False)
                )
            except TemplateError:
                continue
            if thinking != silent:
                self.switch, self.switches_early = switch, thinking[:-1] != silent[:-1]
                return

    def _around(self) -> str:
        """What stands around the contents of a talk in which everybody speaks."""
        runs = self._render(_SPOKEN_PROBE, self.adaptation)
        return "".join(run.text if run.own else "\n" for run in runs)

    def _beginning(self) -> str:
        switched = {self.switch: True} if self.switch else _UNSWITCHED
        last = self._render(_SPOKEN_PROBE, self.adaptation, switched)[-1]
        return last.text if last.own else ""

    def _render(
        self,
        messages: Sequence[tuple[str, str]],
        adaptation: Adaptation,
        switched: Mapping[str, bool] = _UNSWITCHED,
    ) -> list[Run]:
        turns = [
            {"role": role, "content": "\n\n".join(map(_mark, indexes))}
            for role, indexes in adaptation.apply([speaker for speaker, _ in messages])
        ]
        try:
            text = self._compiled.render(
                messages=turns, add_generation_prompt=True, tools=None, **self._tokens, **switched
            )
        except (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise TemplateError(f"The chat template refuses the messages: {error}.") from error
        except (RecursionError, MemoryError, AttributeError) as error:
            raise TemplateError(f"The chat template cannot be rendered: {error}.") from error
        return _cut(text, [content for _, content in messages])


def _mark(index: int) -> str:
    return f"{_PAD}DUCKCONTENT{index}END{_PAD}"


def _cut(text: str, contents: Sequence[str]) -> list[Run]:
    runs: list[Run] = []
    at = 0
    found: list[int] = []
    for match in _MARKER.finditer(text):
        index = int(match[2])
        found.append(index)
        if found != list(range(len(found))) or index >= len(contents):
            break
        content = contents[index]
        content = content if match[1] else content.lstrip()
        content = content if match[3] else content.rstrip()
        _append(runs, text[at : match.start()], own=True)
        _append(runs, content, own=False)
        at = match.end()
    if found != list(range(len(contents))):
        raise TemplateError("The chat template loses, doubles or reorders messages.")
    _append(runs, text[at:], own=True)
    return runs


def joined(runs: Sequence[Run]) -> list[Run]:
    """The runs, with neighbours of the template's own text made one."""
    made: list[Run] = []
    for run in runs:
        _append(made, run.text, run.own)
    return made


def _append(runs: list[Run], text: str, own: bool) -> None:
    if not text:
        return
    if own and runs and runs[-1].own:
        text = runs.pop().text + text
    runs.append(Run(text, own))


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.datetime.now().strftime(form)
