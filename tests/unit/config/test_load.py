"""Settings from all their places: what goes before what, and every fault at once."""

from pathlib import Path

import pytest

from daemon.config import layers, settings
from daemon.domain import errors, limits, messages, principals

NOTHING: dict[str, str] = {}


class Owner:
    """A person's folders of settings."""

    def __init__(self, root: Path) -> None:
        self.xdg = root / "xdg"
        self.config = root / "config"
        for folder in (self.xdg, self.config):
            folder.mkdir()

    def write(self, folder: Path, text: str, name: str = "daemon.toml") -> Path:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if name.endswith(".md") else f"version = 1\n{text}")
        return path

    def load(
        self,
        variables: dict[str, str] | None = None,
        listen: tuple[str, ...] = (),
        models: Path | None = None,
    ) -> settings.Settings:
        places = settings.Places(self.xdg, self.config, models, listen)
        return settings.load(places, variables or NOTHING)

    def faults(self, variables: dict[str, str] | None = None) -> list[str]:
        with pytest.raises(errors.ConfigFault) as caught:
            self.load(variables)
        return list(caught.value.faults)


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.mark.spec("O-06")
class TestPrecedence:
    def test_the_packaged_defaults_alone(self, tmp_path: Path) -> None:
        loaded = settings.load(settings.Places(tmp_path / "none"), NOTHING)
        assert loaded.daemon.limits == limits.Limits()
        assert loaded.models.roles[messages.Role.THINKER] == ("embedded",)
        assert loaded.system_prompt.startswith("You are DuckLM")
        assert loaded.notices == ()

    def test_each_place_goes_before_the_one_below(self, owner: Owner) -> None:
        def seen(variables: dict[str, str] | None = None, listen: tuple[str, ...] = ()) -> object:
            return owner.load(variables, listen).daemon.daemon.listen

        assert seen() == ("unix", "127.0.0.1:7411")
        owner.write(owner.xdg, '[daemon]\nlisten = ["xdg"]\n')
        assert seen() == ("xdg",)
        owner.write(owner.config, '[daemon]\nlisten = ["config"]\n')
        assert seen() == ("config",)
        variables = {"DUCKLM_DAEMON__LISTEN": '["environment"]'}
        assert seen(variables) == ("environment",)
        assert seen(variables, ("flag",)) == ("flag",)

    def test_keys_are_merged_and_lists_replaced(self, owner: Owner) -> None:
        owner.write(owner.xdg, "[limits]\ntask_rounds = 2\nrunning_tasks = 3\n")
        owner.write(owner.config, "[limits]\nrunning_tasks = 4\n")
        loaded = owner.load({"DUCKLM_LIMITS__SUBSCRIBERS": "5"}).daemon.limits
        assert loaded == limits.Limits(task_rounds=2, running_tasks=4, subscribers=5)

    def test_slots_and_roles_are_merged_by_name(self, owner: Owner) -> None:
        text = '[slots.mine]\nkind = "gguf"\npath = "/m.gguf"\n[roles]\nthinker = ["mine"]\n'
        owner.write(owner.xdg, text, "models.toml")
        loaded = owner.load().models
        assert set(loaded.slots) == {"embedded", "sentences", "mine"}
        assert loaded.roles[messages.Role.THINKER] == ("mine",)
        assert messages.Role.EMBEDDINGS in loaded.roles

    def test_a_models_file_by_any_name_goes_before_the_folders(
        self, owner: Owner, tmp_path: Path
    ) -> None:
        owner.write(owner.config, '[roles]\nthinker = ["scripted:a"]\n', "models.toml")
        given = owner.write(tmp_path, '[roles]\nthinker = ["scripted:b"]\n', "any.toml")
        assert owner.load(models=given).models.roles[messages.Role.THINKER] == ("scripted:b",)

    def test_the_prompt_of_the_nearest_folder(self, owner: Owner) -> None:
        owner.write(owner.xdg, "From XDG.\n", "prompts/system.md")
        assert owner.load().system_prompt == "From XDG."
        owner.write(owner.config, "From --config.\n", "prompts/system.md")
        assert owner.load().system_prompt == "From --config."


class TestEnvironment:
    @pytest.mark.parametrize(
        ("name", "value", "section", "key", "found"),
        [
            ("DUCKLM_LIMITS__RUNNING_TASKS", "2", "limits", "running_tasks", 2),
            ("DUCKLM_TOOLS__TESTING", "true", "tools", "testing", True),
            ("DUCKLM_LOG__LEVEL", "debug", "log", "level", "debug"),
            ("DUCKLM_LOG__LEVEL", '"debug"', "log", "level", "debug"),
            ("DUCKLM_DAEMON__LISTEN", '["unix"]', "daemon", "listen", ["unix"]),
            ("DUCKLM_TOOLS__FOLDER", "/tmp/a b", "tools", "folder", "/tmp/a b"),
            ("DUCKLM_TOOLS__FOLDER", "", "tools", "folder", ""),
        ],
    )
    def test_a_value_is_toml_or_text(
        self, name: str, value: str, section: str, key: str, found: object
    ) -> None:
        layer = layers.environment({name: value}, frozenset((section,)))
        assert layer.table == {section: {key: found}}

    def test_other_variables_are_left_alone(self) -> None:
        variables = {
            "HOME": "/root",
            "DUCKLM_STATE": "/s",
            "DUCKLM_TOKEN": "t",
            "OTHER_LIMITS__X": "1",
            "DUCKLM_SLOTS__X": "1",
        }
        assert layers.environment(variables, frozenset(("limits",))).table == {}


@pytest.mark.spec("D-02")
class TestFaults:
    def test_all_faults_of_all_places_come_at_once(self, owner: Owner) -> None:
        xdg = owner.write(owner.xdg, '[limits]\ntask_rounds = 0\nfrobs = 1\n[log]\nlevel = "x"\n')
        config = owner.write(owner.config, "[tools]\ntesting = 1\n[what]\nx = 1\n")
        models = owner.write(owner.config, '[roles]\nthinker = ["none"]\n', "models.toml")
        faults = owner.faults({"DUCKLM_LIMITS__SUBSCRIBERS": "many"})
        expected = [
            (str(xdg), "limits.task_rounds", "greater than or equal to 1"),
            (str(xdg), "limits.frobs", "there is no such setting"),
            (str(xdg), "log.level", "'debug', 'info', 'warning' or 'error'"),
            (str(config), "tools.testing", "valid boolean"),
            (str(config), "what", "there is no such setting"),
            ("the environment", "limits.subscribers", "valid integer"),
            (str(models), "roles.thinker", "there is no slot none"),
        ]
        assert len(faults) == len(expected)
        for source, key, reason in expected:
            assert [one for one in faults if one.startswith(f"{source}: {key}: ") and reason in one]

    def test_a_key_that_two_files_set_is_blamed_on_the_one_that_counts(self, owner: Owner) -> None:
        owner.write(owner.xdg, "[limits]\ntask_rounds = 1\n")
        config = owner.write(owner.config, "[limits]\ntask_rounds = -1\n")
        (fault,) = owner.faults()
        assert fault.startswith(f"{config}: limits.task_rounds: ")

    def test_what_is_no_toml_and_what_cannot_be_read(self, owner: Owner) -> None:
        broken = owner.write(owner.xdg, "[limits\n")
        (owner.config / "daemon.toml").mkdir()
        (owner.config / "models.toml").write_bytes(b"\xff\xfe")
        toml, folder, encoding = owner.faults()
        assert toml.startswith(f"{broken}: it is not valid TOML: ")
        assert folder.startswith(f"{owner.config / 'daemon.toml'}: it cannot be read: ")
        assert encoding.startswith(f"{owner.config / 'models.toml'}: it cannot be read: ")

    def test_a_date_is_blamed_on_its_file_and_key(self, owner: Owner) -> None:
        path = owner.write(owner.xdg, "[log]\nlevel = 2020-01-01\n")
        assert owner.faults() == [f"{path}: log.level: write a date or a time as text"]

    def test_a_models_file_that_is_not_there(self, owner: Owner, tmp_path: Path) -> None:
        with pytest.raises(errors.ConfigFault, match="there is no such file"):
            owner.load(models=tmp_path / "absent.toml")

    @pytest.mark.parametrize(
        ("text", "key", "reason"),
        [
            ("[roles]\nthinker = []\n", "roles.thinker", "name at least one slot"),
            ('[roles]\nsinger = ["embedded"]\n', "roles.singer", "'thinker'"),
            ('[slots.x]\nkind = "gguf"\npath = ""\n', "slots.x.path", "at least 1"),
            ('[slots.x]\nkind = "oracle"\n', "slots.x", "does not match any"),
            ('[slots.x]\nkind = "gguf"\n', "slots.x.path", "Field required"),
            (
                '[slots.x]\nkind = "gguf"\npath = "a"\ncolour = 1\n',
                "slots.x.colour",
                "there is no such setting",
            ),
        ],
    )
    def test_of_models(self, owner: Owner, text: str, key: str, reason: str) -> None:
        path = owner.write(owner.xdg, text, "models.toml")
        (fault,) = owner.faults()
        assert fault.startswith(f"{path}: {key}: ")
        assert reason in fault


@pytest.mark.spec("O-01")
class TestOwner:
    def test_users_of_each_platform(self, owner: Owner) -> None:
        assert owner.load().daemon.owner == principals.Owners()
        owner.write(owner.xdg, '[owner]\ntelegram = [42, "43"]\nmatrix = ["@me:example.org"]\n')
        found = owner.load().daemon.owner
        assert found.is_owner(principals.Principal("telegram:any:42"))
        assert found.is_owner(principals.Principal("telegram:any:43"))
        assert found.is_owner(principals.Principal("matrix:any:@me:example.org"))
        named = owner.load({"DUCKLM_OWNER__TELEGRAM": "[7]"}).daemon.owner
        assert named.telegram == {"7"}

    @pytest.mark.parametrize(
        ("text", "key", "reason"),
        [
            ('telegram = ["@me"]', "owner.telegram", "a Telegram user is a number"),
            ("telegram = [-100]", "owner.telegram", "a Telegram user is a number"),
            ("telegram = [true]", "owner.telegram", "valid string"),
            ('matrix = ["me"]', "owner.matrix", "a Matrix user looks like @name:server"),
            ("matrix = [42]", "owner.matrix", "valid string"),
            ('signal = ["x"]', "owner.signal", "there is no such setting"),
        ],
    )
    def test_who_can_be_nobody(self, owner: Owner, text: str, key: str, reason: str) -> None:
        path = owner.write(owner.xdg, f"[owner]\n{text}\n")
        (fault,) = owner.faults()
        assert fault.startswith(f"{path}: {key}")
        assert reason in fault


class TestPaths:
    def test_a_path_starts_at_its_file_or_at_home(
        self, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", "/home/duck")
        text = "\n".join(
            f'[slots.{name}]\nkind = "gguf"\npath = "{path}"\n{more}'
            for name, path, more in (
                ("near", "m.gguf", ""),
                ("home", "~/m.gguf", ""),
                ("far", "/m.gguf", ""),
                ("packed", "m.gguf", 'package = "p"\n'),
            )
        )
        owner.write(owner.xdg, text, "models.toml")
        slots = owner.load().models.slots
        assert slots["near"].path == str(owner.xdg / "m.gguf")
        assert slots["home"].path == "/home/duck/m.gguf"
        assert slots["far"].path == "/m.gguf"
        assert slots["packed"].path == "m.gguf"
