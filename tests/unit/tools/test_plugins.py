"""A plugin within its bounds: what it says of itself, shows, asks for and answers is not believed
where it would lower what a person sees or is asked."""

import pytest

from tools import contract, plugins

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.acceptance(22)]

E, C, R = contract.Effect, contract.Category, contract.Reconciled
CALL = contract.Call(call_id="c", tool="t", arguments_json='{"a":1}', key="c", folder="/")
FACTS = contract.Facts(effect=E.PURE, bound=(("a", "1"),), shown=(("does", "nothing"),))


class Shifting:
    """An inspection whose facts are others at each look."""

    def __init__(self, facts: object) -> None:
        self._facts = facts
        self.looks = 0
        self.closed = 0

    @property
    def facts(self) -> contract.Facts:
        self.looks += 1
        return self._facts  # type: ignore[return-value]  # foreign code keeps no types

    def close(self) -> None:
        self.closed += 1


class Foreign:
    """A plugin's tool that does what a test wants."""

    def __init__(self, facts: object = FACTS, effect: contract.Effect = E.PURE) -> None:
        self.spec = contract.ToolSpec(
            name="t",
            version=1,
            description="d",
            parameters="{}",
            effect=effect,
            category=C.NORMAL,
        )
        self.inspection = Shifting(facts)
        self.result: object = contract.Result(text="done")
        self.found: object = R.DONE
        self.given: contract.Secret | None = None

    def command(self, arguments_json: str) -> str | None:
        return "ls"

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return text * 100

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        return self.inspection

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        assert inspection is self.inspection
        self.given = secret
        return self.result  # type: ignore[return-value]

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return self.found  # type: ignore[return-value]


def bound(foreign: Foreign) -> plugins.Plugin:
    return plugins.Plugin(foreign, foreign.spec, "plugin t of p")


async def test_no_command_is_judged_in_its_place_and_no_result_grows() -> None:
    plugin = bound(Foreign())
    assert plugin.command("{}") is None
    assert len(plugin.shorten("a" * 500, 100, False)) <= 100


async def test_a_person_sees_its_arguments_and_that_it_is_a_plugin() -> None:
    held = await bound(Foreign()).inspect(CALL)
    assert held.facts.shown == (
        ("runs", "plugin t of p, without a sandbox"),
        ("arguments", '{"a":1}'),
        ("does", "nothing"),
    )


@pytest.mark.parametrize(
    ("claimed", "found", "taken"),
    [
        (E.PURE, E.UNSAFE, E.UNSAFE),
        (E.UNSAFE, E.PURE, E.UNSAFE),
        (E.KEYED, E.PURE, E.KEYED),
        (E.KEYED, E.RECONCILABLE, E.RECONCILABLE),
    ],
)
async def test_the_worse_effect_counts(
    claimed: contract.Effect, found: contract.Effect, taken: contract.Effect
) -> None:
    foreign = Foreign(FACTS.model_copy(update={"effect": found}), claimed)
    assert (await bound(foreign).inspect(CALL)).facts.effect is taken


async def test_its_facts_are_looked_at_once() -> None:
    foreign = Foreign()
    held = await bound(foreign).inspect(CALL)
    assert held.facts is held.facts
    assert foreign.inspection.looks == 1
    held.close()
    assert foreign.inspection.closed == 1


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (FACTS.model_copy(update={"secret": "the sudo password"}), "a plugin gets none"),
        ({"effect": "pure"}, "did not say what it would do"),
        (None, "did not say what it would do"),
    ],
)
async def test_what_is_no_fit_inspection_is_refused_and_closed(facts: object, said: str) -> None:
    foreign = Foreign(facts)
    with pytest.raises(contract.ToolFault, match=said):
        await bound(foreign).inspect(CALL)
    assert foreign.inspection.closed == 1


async def test_it_gets_no_password_and_must_answer() -> None:
    foreign = Foreign()
    plugin = bound(foreign)
    held = await plugin.inspect(CALL)
    await plugin.run(CALL, held, lambda _: None, contract.Secret(b"pw"))
    assert foreign.given is None
    foreign.result = "done"
    with pytest.raises(contract.ToolFault, match="without a result"):
        await plugin.run(CALL, held, lambda _: None)
    with pytest.raises(contract.ToolFault, match="only what it has inspected"):
        await plugin.run(CALL, foreign.inspection, lambda _: None)


@pytest.mark.parametrize(
    ("said", "found"), [(R.DONE, R.DONE), ("done", R.UNKNOWN), (None, R.UNKNOWN)]
)
async def test_what_it_says_of_an_earlier_run(said: object, found: contract.Reconciled) -> None:
    foreign = Foreign()
    foreign.found = said
    assert await bound(foreign).reconcile(CALL, "") is found


@pytest.mark.spec("K-03")
@pytest.mark.parametrize("effect", [E.KEYED, E.RECONCILABLE, E.UNSAFE])
async def test_in_plan_mode_only_what_changes_nothing_runs(effect: contract.Effect) -> None:
    plan = CALL.model_copy(update={"confinement": contract.Confinement(read_only=True)})
    with pytest.raises(contract.ToolFault, match="plan mode"):
        await bound(Foreign(effect=effect)).inspect(plan)
    (await bound(Foreign()).inspect(plan)).close()
