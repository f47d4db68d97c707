"""The worker's loop: frames in, batches, frames out. One thread, the only one on the model.

Between two batches it takes all frames that have come, so a cancel is seen within one batch. With
nothing to compute it waits for a frame.
"""

import collections
import queue
from collections.abc import Callable

from daemon.models.worker import (
    batching,
    engine,
    generation,
    grammar,
    keeping,
    prefixes,
    prompt,
    protocol,
    reply,
    sampling,
    schedule,
    template,
    thoughts,
    vocabulary as vocabularies,
)

_RESERVE_SHARE = 8
"""A prompt must leave room for its answer: all that it may have, or this part of the context."""
_LEAST_THOUGHT_TOKENS = 32
"""Where the context leaves less for a longer thought there is none."""


class Server:
    """Serves one loaded model until the process is ended."""

    def __init__(
        self,
        load: protocol.Load,
        native: engine.Engine,
        send: Callable[[protocol.FromWorker], None],
        files: prefixes.PrefixFiles | None = None,
    ) -> None:
        self._load = load
        self._native = native
        self._send = send
        self._words = vocabularies.Vocabulary(native.vocabulary)
        self._context_tokens = min(load.context_tokens, native.cells())
        self._form, self.form_name, self.notes = choose_template(native, self._words)
        self._words.forbid(self._form.written, thoughts.marks())
        self._marks, codes = marks_of(self._words)
        if self._context_tokens > native.trained_tokens():
            self.notes.append(
                f"The context of {self._context_tokens} tokens is longer than the "
                f"{native.trained_tokens()} that the model was trained for."
            )
        self._prompter = prompt.Prompter(self._words, self._form)
        self.notes += self._prompter.notes
        self._waiting: collections.deque[generation.Generation] = collections.deque()
        self.batcher = batching.Batcher(
            native, self._words, codes, load.sequences, send, self._remember_answer
        )
        self.keeper = None
        if files is not None and native.keeps:
            self.keeper = keeping.Keeper(self.batcher.cache, files, self._tell)

    def run(self, inbox: "queue.SimpleQueue[protocol.ToWorker]") -> None:
        """Serve for ever."""
        while True:
            idle = not self.batcher.active and not self._waiting
            self._take(self._next(inbox) if idle else None, inbox)
            self._admit()
            if self.batcher.active:
                self.batcher.step()

    def settle(self, seconds: float) -> None:
        """Let what is kept for later workers be written, where nothing is being answered."""
        if self.keeper is not None and not self.batcher.active and not self._waiting:
            self.keeper.settle(seconds)

    def _next(self, inbox: "queue.SimpleQueue[protocol.ToWorker]") -> protocol.ToWorker:
        """Wait for a frame, and make use of the time."""
        while inbox.empty() and self._use_time():
            pass
        return inbox.get()

    def _use_time(self) -> bool:
        """Do one thing that a later prompt is quicker for; False where there is none left."""
        if self.keeper is not None and self.keeper.keep_idle():
            return True
        return self.batcher.cache.copy_idle()

    def _take(
        self, first: protocol.ToWorker | None, inbox: "queue.SimpleQueue[protocol.ToWorker]"
    ) -> None:
        frame = first
        while True:
            if frame is None:
                try:
                    frame = inbox.get_nowait()
                except queue.Empty:
                    return
            self._handle(frame)
            frame = None

    def _handle(self, frame: protocol.ToWorker) -> None:
        match frame:
            case protocol.Generate():
                self._begin(frame)
            case protocol.Cancel(call):
                self._cancel(call)
            case protocol.Count(call, texts):
                counts = [len(self._prompter.content(text)) for text in texts]
                self._send(protocol.Counted(call, counts))
            case protocol.Load() | protocol.Stop():
                pass

    def _begin(self, frame: protocol.Generate) -> None:
        try:
            new = self._generation(frame)
        except (template.TemplateError, grammar.SchemaError, sampling.GrammarError) as error:
            self._send(protocol.Failed(frame.call, "rejected", str(error)))
            return
        if new is None:
            return
        self._waiting.append(new)

    def _generation(self, frame: protocol.Generate) -> generation.Generation | None:
        room = min(frame.max_tokens, self._context_tokens // _RESERVE_SHARE)
        made, thinking_tokens = self._prompt(frame, room)
        tokens = made.tokens
        if len(tokens) + room > self._context_tokens:
            self._send(
                protocol.Failed(
                    frame.call,
                    "overflow",
                    f"The prompt of {len(tokens)} tokens and {room} for the answer need "
                    f"{len(tokens) + room} tokens; the context holds {self._context_tokens}.",
                )
            )
            return None
        rules = grammar.from_schema(frame.schema) if frame.schema is not None else None
        choice = sampling.Choice(
            temperature=frame.temperature,
            top_p=frame.top_p,
            top_k=frame.top_k,
            min_p=frame.min_p,
            repeat_penalty=frame.repeat_penalty,
            seed=frame.seed,
        )
        sampler = sampling.Sampler(self._native.vocabulary, self._words.size(), choice, rules)
        bounds = reply.Bounds(frame.max_tokens, thinking_tokens, rules is not None)
        said = reply.Reply(self._marks, bounds, made.inside)
        grown = len(tokens) + frame.max_tokens + thinking_tokens + reply.MARK_TOKENS
        limit = min(grown, self._context_tokens)
        prefix = self._prefix(frame, tokens, thinks=thinking_tokens > 0)
        return generation.Generation(frame.call, tokens, sampler, said, limit, prefix)

    def _prefix(
        self, frame: protocol.Generate, tokens: list[int], thinks: bool
    ) -> prefixes.Prefix | None:
        if self.keeper is None or not frame.fixed:
            return None
        text = frame.messages[0][1][: frame.fixed]
        return self.keeper.prefix(tokens, self._prompter.fixed(text, thinks))

    def _prompt(self, frame: protocol.Generate, room: int) -> tuple[prompt.Prompt, int]:
        """The prompt, and what may be thought after it: the answer's room is not for thoughts."""
        said = [(speaker, text) for speaker, text in frame.messages]
        opens = frame.schema is not None
        if frame.thinking_tokens:
            made = self._prompter.prompt(said, thinks=True, opens=opens)
            left = self._context_tokens - len(made.tokens) - room - reply.MARK_TOKENS
            if left >= min(frame.thinking_tokens, _LEAST_THOUGHT_TOKENS):
                return made, min(frame.thinking_tokens, left)
        return self._prompter.prompt(said), 0

    def _cancel(self, call: int) -> None:
        if call in self.batcher.active:
            self.batcher.active[call].cancelled = True
        for one in [one for one in self._waiting if one.call == call]:
            self._waiting.remove(one)
            one.sampler.close()
            self._send(one.done("cancelled"))

    def _admit(self) -> None:
        while self._waiting:
            reserved = [one.limit for one in self.batcher.active.values()]
            wanted = self._waiting[0].limit
            if not schedule.admits(reserved, wanted, self._load.places, self._native.cells()):
                break
            new = self._waiting.popleft()
            new.admit()
            if self.keeper is not None and new.prefix is not None:
                self.keeper.bring(new.tokens, new.prefix)
                self.keeper.want(new.prefix)
            self.batcher.admit(new)
        for ahead, one in enumerate(self._waiting, start=len(self.batcher.active)):
            if one.ahead != ahead:
                one.ahead = ahead
                self._send(protocol.Queued(one.call, ahead))

    def _tell(self, text: str) -> None:
        self._send(protocol.Noted(text))

    def _remember_answer(self, one: generation.Generation) -> None:
        self._prompter.answered(one.reply.answer, one.tokens[one.prompt_tokens :])


def marks_of(words: vocabularies.Vocabulary) -> tuple[thoughts.Marks, dict[int, str]]:
    """The marks as this vocabulary spells them, and the codes of the tokens in them.

    A user-defined token is a part only among others: one that is a mark by itself may be spoken of.
    """
    parts: dict[int, str] = {}
    for form in thoughts.FORMS:
        for mark in form.marks:
            parts |= words.parts(mark, defined=bool(form.around))
    marks = thoughts.Marks(parts.values())
    return marks, {token: marks.code(text) for token, text in parts.items()}


def choose_template(
    native: engine.Engine, words: vocabularies.Vocabulary
) -> tuple[template.Template, str, list[str]]:
    """The file's own template if it can be used, else ChatML or plain text, and why."""
    source = native.chat_template()
    notes = []
    if source is None:
        notes.append("The model file has no chat template.")
    else:
        try:
            own = template.Template(source, words.begin_text(), words.end_text())
        except template.TemplateError as error:
            notes.append(f"{error} It is not used.")
        else:
            return own, "own", notes
    if words.has_controls("<|im_start|>", "<|im_end|>"):
        return template.Template(template.CHATML), "chatml", notes
    return template.Template(template.PLAIN), "plain", notes
