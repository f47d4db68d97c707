"""The testing tools: one of each effect class, counted by their journal, and closed schemas."""

import json
import os
from pathlib import Path

import pydantic
import pytest

from tools import contract, registry, testing

TOOLS = {tool.spec.effect: tool for tool in testing.every_class()}
E = contract.Effect


def call(tool: contract.Tool, key: str = "key-1", **arguments: object) -> contract.Call:
    return contract.Call(
        call_id="call-1",
        tool=tool.spec.name,
        arguments_json=json.dumps(arguments),
        key=key,
        folder="/",
    )


async def run(tool: contract.Tool, one: contract.Call) -> contract.Result:
    inspection = await tool.inspect(one)
    pieces: list[str] = []
    result = await tool.run(one, inspection, pieces.append)
    inspection.close()
    assert "".join(pieces) == result.text
    return result


@pytest.mark.parametrize("effect", contract.Effect)
def test_there_is_one_of_each_class_that_asks_nobody(effect: contract.Effect) -> None:
    spec = TOOLS[effect].spec
    assert (spec.name, spec.category) == (f"testing_{effect.value}", contract.Category.READ_ONLY)


@pytest.mark.parametrize("effect", [E.PURE, E.RECONCILABLE, E.UNSAFE])
async def test_a_run_is_noted_in_the_journal(effect: contract.Effect, tmp_path: Path) -> None:
    journal, file = tmp_path / "journal", tmp_path / "file"
    one = call(TOOLS[effect], journal=str(journal), file=str(file), text="ä")
    await run(TOOLS[effect], one)
    await run(TOOLS[effect], one)
    assert journal.read_text() == "call-1\ncall-1\n"
    if effect is E.RECONCILABLE:
        assert file.read_text() == "ä"


async def test_a_key_is_kept_once(tmp_path: Path) -> None:
    tool, journal = TOOLS[E.KEYED], str(tmp_path / "journal")
    for key in ("a", "a", "b"):
        await run(tool, call(tool, key, journal=journal))
    assert sorted(os.listdir(tmp_path)) == ["journal.a", "journal.b"]


@pytest.mark.parametrize("effect", [E.PURE, E.KEYED, E.UNSAFE])
async def test_without_a_journal_nothing_is_written(
    effect: contract.Effect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await run(TOOLS[effect], call(TOOLS[effect]))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("effect", contract.Effect)
async def test_inspecting_does_nothing(effect: contract.Effect, tmp_path: Path) -> None:
    tool = TOOLS[effect]
    one = call(tool, journal=str(tmp_path / "journal"), file=str(tmp_path / "file"))
    inspection = await tool.inspect(one)
    assert inspection.facts.effect is effect
    assert os.listdir(tmp_path) == []


def put(file: Path, text: str | None) -> None:
    """Make a file hold a text, or not be there."""
    file.unlink(missing_ok=True)
    if text is not None:
        file.write_text(text)


class TestReconciling:
    tool = TOOLS[E.RECONCILABLE]

    async def found(self, file: Path, now: str | None) -> contract.Reconciled:
        """Inspect over what is there; then the file is as `now`; then look."""
        one = call(self.tool, journal="", file=str(file), text="after")
        intent = (await self.tool.inspect(one)).facts.intent
        put(file, now)
        return await self.tool.reconcile(one, intent)

    @pytest.mark.parametrize(
        ("now", "found"),
        [
            ("after", contract.Reconciled.DONE),
            ("before", contract.Reconciled.NOT_DONE),
            ("other", contract.Reconciled.UNKNOWN),
            (None, contract.Reconciled.UNKNOWN),
        ],
    )
    async def test_a_file_that_was_there(
        self, tmp_path: Path, now: str | None, found: contract.Reconciled
    ) -> None:
        file = tmp_path / "file"
        file.write_text("before")
        assert await self.found(file, now) is found

    @pytest.mark.parametrize(
        ("now", "found"),
        [
            (None, contract.Reconciled.NOT_DONE),
            ("after", contract.Reconciled.DONE),
            ("other", contract.Reconciled.UNKNOWN),
        ],
    )
    async def test_a_file_that_was_not_there(
        self, tmp_path: Path, now: str | None, found: contract.Reconciled
    ) -> None:
        assert await self.found(tmp_path / "file", now) is found

    async def test_it_needs_a_file(self) -> None:
        with pytest.raises(contract.ToolFault, match="needs the argument file"):
            await self.tool.inspect(call(self.tool, journal=""))


ALL = registry.build(registry.Switches(shell=True, shell_seconds=7, testing=True))


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("tool", ALL.values(), ids=ALL)
class TestSchemas:
    async def test_unknown_arguments_are_refused(self, tool: contract.Tool) -> None:
        one = call(tool, journal="", file="/f", command="ls", mood="glad")
        with pytest.raises(contract.ToolFault, match=f"{tool.spec.name}: "):
            await tool.inspect(one)

    @pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"journal": 1}', '{"command": 1}'])
    async def test_what_is_no_object_of_theirs_is_refused(
        self, tool: contract.Tool, text: str
    ) -> None:
        one = call(tool).model_copy(update={"arguments_json": text})
        with pytest.raises(contract.ToolFault):
            await tool.inspect(one)

    def test_the_catalogue_says_that_they_are_closed(self, tool: contract.Tool) -> None:
        parameters = json.loads(tool.spec.parameters)
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= set(parameters["properties"])


class TestRegistry:
    def test_what_is_turned_off_is_not_offered(self) -> None:
        assert registry.build(registry.Switches()) == {}
        assert set(registry.build(registry.Switches(shell=True))) == {"shell_exec"}
        assert set(registry.build(registry.Switches(testing=True))) == {
            tool.spec.name for tool in TOOLS.values()
        }

    def test_the_products_own_names_are_reserved(self) -> None:
        everything = registry.Switches(
            shell=True, files=True, web_fetch=True, web_search=True, searxng_url="http://a.test/"
        )
        assert set(registry.build(everything)) <= registry.NAMES

    def test_tools_are_found_by_their_name(self) -> None:
        assert all(tool.spec.name == name for name, tool in ALL.items())

    @pytest.mark.spec("L-03")
    def test_the_shell_has_the_deadline_that_is_set(self) -> None:
        assert ALL["shell_exec"].spec.deadline_seconds == 7


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(
    "value",
    [contract.ToolSpec, contract.Call, contract.Facts, contract.Result],
    ids=lambda one: one.__name__,
)
def test_the_contract_is_closed(value: type[pydantic.BaseModel]) -> None:
    config = value.model_config
    assert (config["extra"], config["frozen"], config["strict"]) == ("forbid", True, True)
