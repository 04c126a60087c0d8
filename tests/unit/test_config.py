"""The configuration: what is understood, what is refused, and with which sentence."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from slurmtui.config import check_text, load_config, read_config
from slurmtui.config_fields import SECTIONS, TOP
from slurmtui.config_text import LARGEST_FILE
from slurmtui.errors import ConfigError
from slurmtui.models.config import Config
from slurmtui.models.profile import Adapt, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    Write = Callable[[str], Path]


DATA = Path(__file__).parent.parent / "data" / "config"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        file = tmp_path / "config.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def profile_of(write: Write, *lines: str) -> Profile:
    text = "profiles:\n  gpu:\n" + "".join(f"    {line}\n" for line in lines)
    return load_config(write(text)).profiles["gpu"]


def problems_of(write: Write, text: str) -> list[str]:
    file = write(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert all(problem.startswith(f"{file}") for problem in caught.value.problems)
    return [problem.removeprefix(f"{file}:") for problem in caught.value.problems]


def profile_problems(write: Write, *lines: str) -> list[str]:
    return problems_of(write, "profiles:\n  gpu:\n" + "".join(f"    {line}\n" for line in lines))


def test_no_file_at_the_usual_place_gives_the_built_in_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURMTUI_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    assert load_config() == Config()
    assert load_config().source is None


def test_a_file_that_was_named_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "no.yaml"
    with pytest.raises(ConfigError, match=r"no\.yaml: there is no such file\. `slurmtui config init`"):
        load_config(missing)
    monkeypatch.setenv("SLURMTUI_CONFIG", str(missing))
    assert load_config() == Config()
    missing.write_text("theme: paper")
    assert load_config().theme == "paper"


def test_a_whole_configuration(write: Write) -> None:
    file = write("""\
default_profile: gpu
flows: [flows, /srv/flows/train.py]
driver: slurm
driver_profile: small
theme: paper
read_only: yes
keys: {logs: L, filter: /}
prefect:
  api_url: http://login01:4200/api/
  auth_file: secret
server: {host: login01, port: 4711}
slurm: {poll_seconds: 30, floor_seconds: 5s, timeout_seconds: 2.5}
profiles:
  small: {partition: debug}
  gpu:
    partition: gpu
    account: proj42
    qos: long
    cores: 8
    processes: 2
    memory: 16 GB
    walltime: 2:00:00
    gres: gpu:a100:1
    adapt: {minimum: 1, maximum: 8}
    python: ~/env/bin/python
    prologue: |
      module load cuda
      export X="a: b"
    directives: ["#SBATCH --exclusive", --mail-type=END]
    skip_directives: --mem
    interface: ib0
    local_directory: $TMPDIR
    log_directory: logs
    tls: false
""")
    config = load_config(file)
    folder = file.parent
    assert config.flows == (str(folder / "flows"), "/srv/flows/train.py")
    assert (config.driver, config.driver_profile, config.theme, config.read_only) == ("slurm", "small", "paper", True)
    assert config.keys == {"logs": "L", "filter": "slash"}
    assert config.prefect.api_url == "http://login01:4200/api"
    assert config.prefect.auth_file == str(folder / "secret")
    assert (config.server.host, config.server.port) == ("login01", 4711)
    slurm = config.slurm
    assert (slurm.poll_seconds, slurm.floor_seconds, slurm.timeout_seconds) == (30, 5, 2.5)
    assert config.profiles["small"] == Profile(name="small", partition="debug")
    assert config.profiles["gpu"] == Profile(
        name="gpu", partition="gpu", account="proj42", qos="long", cores=8, processes=2, memory="16G",
        walltime="02:00:00", gres="gpu:a100:1", adapt=Adapt(minimum=1, maximum=8),
        python=os.path.expanduser("~/env/bin/python"),  # noqa: PTH111 - what a user would see
        prologue=("module load cuda", 'export X="a: b"'), directives=("--exclusive", "--mail-type=END"),
        skip_directives=("--mem",), interface="ib0", local_directory="$TMPDIR", log_directory=str(folder / "logs"),
        tls=False,
    )  # fmt: skip
    assert config.source == str(file)


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("12:00:00", "12:00:00"),  # 43200 by YAML 1.1
        ('"12:00:00"', "12:00:00"),
        ("1:00:00", "01:00:00"),  # 3600 by YAML 1.1
        ("01:00:00", "01:00:00"),
        ("0:30:00", "00:30:00"),
        ("48:00:00", "2-00:00:00"),
        ("2-00:00:00", "2-00:00:00"),
        ("1-12", "1-12:00:00"),
        ("1-12:30", "1-12:30:00"),
        ("00:90:00", "01:30:00"),
        ("2h", "02:00:00"),
        ("1h 30m", "01:30:00"),
        ("90 min", "01:30:00"),
        ("1d", "1-00:00:00"),
    ],
)
def test_walltime_is_what_was_typed(write: Write, written: str, understood: str) -> None:
    assert profile_of(write, f"walltime: {written}").walltime == understood


@pytest.mark.parametrize("written", ["43200", "30", '"30"', "1_000", "0"])
def test_a_bare_number_is_no_walltime(write: Write, written: str) -> None:
    bare = written.strip('"')
    (said,) = profile_problems(write, f"walltime: {written}")
    assert said == (
        f"3: profiles.gpu.walltime: {bare} is a number without a unit (SLURM would take it for minutes): "
        'write [D-]HH:MM:SS, such as "12:00:00" for twelve hours.'
    )


def test_two_parts_of_a_walltime_are_ambiguous(write: Write) -> None:
    assert profile_problems(write, "walltime: 1:30") == [
        '3: profiles.gpu.walltime: 1:30 can be hours or minutes: write "1:30:00" for hours or "0:1:30" for minutes.'
    ]


@pytest.mark.parametrize(
    "written", ["12:00:00.5", "unlimited", "1.5", "[1]", "2024-01-01", "-1:00:00", "0:00:00", "9999-00:00:00"]
)
def test_what_is_no_walltime_is_refused(write: Write, written: str) -> None:
    assert profile_problems(write, f"walltime: {written}")[0].startswith("3: profiles.gpu.walltime: must be ")


@pytest.mark.parametrize(
    ("written", "understood"),
    [("10G", "10G"), ("10GB", "10G"), ("10 GiB", "10G"), ("512m", "512M"), ("1.5G", "1536M"), ("2T", "2048G"),
     ("4096M", "4G"), ("9.6GB", "9831M"), ("1500K", "2M"), ('"1G"', "1G")],
)  # fmt: skip
def test_memory_is_what_slurm_writes(write: Write, written: str, understood: str) -> None:
    assert profile_of(write, f"memory: {written}").memory == understood


def test_memory_without_a_unit_is_refused(write: Write) -> None:
    assert profile_problems(write, "memory: 10") == [
        '3: profiles.gpu.memory: has no unit: write "10G" for 10 gibibytes (SLURM would take 10 for megabytes).'
    ]


@pytest.mark.parametrize("written", ["1e3", "10 X", "0G", "G", "1_000", "{}", "-1G", "99999999999999T", "10G 5M"])
def test_what_is_no_memory_is_refused(write: Write, written: str) -> None:
    assert profile_problems(write, f"memory: {written}")[0].startswith("3: profiles.gpu.memory: must be ")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("010", "must be a whole number in plain digits, not '010' (YAML reads it as octal, 8)."),
        ("1_000", "must be a whole number in plain digits, not '1_000' (write 1000)."),
        ("1:30", "must be a whole number in plain digits, not '1:30' (YAML reads it in base 60)."),
        ("0x10", "must be a whole number in plain digits, not '0x10'."),
        ("4.0", "must be a whole number in plain digits, not '4.0'."),
        ("yes", "must be a whole number in plain digits, not 'yes'."),
        ("-1", "must be a whole number in plain digits, not '-1'."),
        ("0", "must be from 1 to 100000, not 0."),
        ("9" * 5000, f"must be from 1 to 100000, not {'9' * 20}."),
        ("٣", "must be a whole number in plain digits, not '٣'."),
        ("", "has no value: write one after the colon, or remove the line."),
        ("~", "is '~', which YAML reads as nothing: write a value, or remove the line."),
        ("null", "is 'null', which YAML reads as nothing: write a value, or remove the line."),
        ("[1, 2]", "must be one value, not a list."),
        ("{a: 1}", "must be one value, not keys with values."),
        ("!py x", "has the YAML tag '!py', which means nothing here: remove it."),
    ],
)  # fmt: skip
def test_numbers_are_plain_digits(write: Write, written: str, said: str) -> None:
    assert profile_problems(write, f"cores: {written}") == [f"3: profiles.gpu.cores: {said}"]


@pytest.mark.parametrize("written", ["4", '"4"', "!!int 4"])
def test_a_number_may_stand_in_quotes(write: Write, written: str) -> None:
    assert profile_of(write, f"cores: {written}").cores == 4


@pytest.mark.parametrize("written", ["1234", "0123", "1_000", "no", "on", "3.10", "12:30", "2024-01-01", "0x1f", "1e3"])
def test_a_text_stays_as_it_was_typed(write: Write, written: str) -> None:
    assert profile_of(write, f"account: {written}").account == written


def test_a_version_stays_a_text_in_lists(write: Write) -> None:
    profile = profile_of(write, "prologue: [module load python, 3.10]", "python: 3.10")
    assert profile.prologue == ("module load python", "3.10")
    assert profile.python == "3.10"


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("yes", True), ("ON", True), ('"true"', True), ("false", False), ("no", False), ("off", False)],
)
def test_true_and_false_in_all_their_forms(write: Write, written: str, value: bool) -> None:  # noqa: FBT001
    assert profile_of(write, f"tls: {written}").tls is value


def test_tls_is_on_without_a_word(write: Write) -> None:
    assert profile_of(write, "cores: 1").tls is True


def test_what_is_neither_true_nor_false(write: Write) -> None:
    assert profile_problems(write, "tls: 1") == ["3: profiles.gpu.tls: must be true or false, not '1'."]


@pytest.mark.parametrize(
    ("key", "right"),
    [("job_extra", "directives"), ("job_extra_directives", "directives"), ("env_extra", "prologue"),
     ("job_script_prologue", "prologue"), ("header_skip", "skip_directives"), ("project", "account"),
     ("queue", "partition"), ("ncpus", "cores"), ("job_mem", "memory"), ("n_workers", "workers"),
     ("gpus", "gres"), ("security", "tls"), ("time-limit", "walltime")],
)  # fmt: skip
def test_names_of_dask_jobqueue_are_told_the_right_one(write: Write, key: str, right: str) -> None:
    (problem,) = profile_problems(write, f"{key}: x")
    assert problem.startswith(f"3: profiles.gpu.{key}: unknown key: this is `{right}` here")


def recorded_mistakes() -> list[tuple[str, list[str]]]:
    blocks = (DATA / "mistakes.txt").read_text(encoding="utf-8").split("====\n")[1:]
    pairs = (block.split("\n=>\n") for block in blocks)
    return [(text, said.splitlines()) for text, said in pairs]


@pytest.mark.parametrize(("text", "said"), recorded_mistakes())
def test_a_mistake_is_named(write: Write, text: str, said: list[str]) -> None:
    assert problems_of(write, text) == said


def test_a_profile_of_the_sandbox_may_be_named_without_profiles_of_ones_own(write: Write) -> None:
    assert load_config(write("driver_profile: batch\ndefault_profile: gpu")).default_profile == "gpu"
    assert problems_of(write, "driver_profile: bach") == [
        "1: driver_profile: there is no profile 'bach': did you mean 'batch'?"
    ]


def test_control_characters_are_named_not_shown(write: Write) -> None:
    assert problems_of(write, "theme: paper\nqos: \x1b[31m") == ["2: holds the control character U+001B: remove it."]
    (said,) = profile_problems(write, 'qos: "a\\eb"')
    assert said == "3: profiles.gpu.qos: holds a line break or a control character: 'a\\x1bb'."
    assert problems_of(write, 'theme: "\\U99999999"') == [
        "1: holds an escape (\\U…) of a character that does not exist."
    ]


def test_anchors_and_merges_are_understood(write: Write) -> None:
    config = load_config(write("profiles:\n  a: &a {cores: 4, memory: 8G}\n  b:\n    <<: *a\n    memory: 2G\n"))
    assert config.profiles["b"] == Profile(name="b", cores=4, memory="2G")


@pytest.mark.parametrize(
    "text",
    [
        "profiles: &a\n  b: *a\n",
        "profiles:\n  a: &a\n    <<: *a\n",
        "profiles:\n  a: &a\n    <<: [&b {<<: *a}, *b]\n",
        "a: &a [x]\nb: &b [" + "*a," * 50 + "]\nflows: [" + "*b," * 50 + "]\n",
        "profiles: " + "[" * 5000,
        "profiles: " + "{a: " * 900 + "}" * 900,
        "<<: 5",
    ],
)
def test_bombs_and_circles_are_refused(write: Write, text: str) -> None:
    assert problems_of(write, text)


def test_notes_tell_what_is_allowed_but_should_be_known(write: Write) -> None:
    loaded = read_config(
        write("""\
driver_profile: a
profiles:
  a:
    nodes: 2
    tls: off
    adapt: {maximum: 4}
    directives: [--mem=0]
""")
    )
    notes = [note.split(": ", 2)[1:] for note in loaded.notes]
    assert [key for key, _ in notes] == [
        "driver_profile", "profiles.a.nodes", "profiles.a.tls", "profiles.a.adapt", "profiles.a.directives"
    ]  # fmt: skip
    assert notes[1][1].startswith("is for batch jobs")


def test_lines_tell_where_a_value_came_from(write: Write) -> None:
    loaded = read_config(write("theme: paper\nprofiles:\n  a:\n    memory: 2G\n"))
    assert loaded.lines == {"theme": 1, "profiles": 2, "profiles.a": 3, "profiles.a.memory": 4}


class TestFilesThatAreNoConfiguration:
    def test_empty(self, write: Write) -> None:
        assert problems_of(write, " \n")[0].startswith(" is empty: remove it, or write a new one with")

    def test_only_comments_is_the_built_in_configuration(self, write: Write) -> None:
        file = write("# theme: paper\n")
        assert load_config(file) == Config(source=str(file))

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=rf"^{tmp_path}: is a directory: name the file in it"):
            load_config(tmp_path)

    def test_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ConfigError, match="cannot be read: it is no file but a pipe"):
            load_config(tmp_path / "pipe")

    def test_endless_device(self) -> None:
        with pytest.raises(ConfigError, match="cannot be read: it is no file but a pipe, socket or device"):
            load_config("/dev/zero")

    def test_a_gigabyte_is_not_read(self, tmp_path: Path) -> None:
        file = tmp_path / "big.yaml"
        with file.open("wb") as stream:
            stream.truncate(1 << 30)
        with pytest.raises(ConfigError, match=r"1,024\.0 MiB is too large for a configuration \(256 KiB at most\)"):
            load_config(file)
        file.write_bytes(b"#" * (LARGEST_FILE + 1))
        with pytest.raises(ConfigError, match=r"0\.3 MiB is too large"):
            load_config(file)

    def test_binary(self, tmp_path: Path) -> None:
        file = tmp_path / "c.yaml"
        file.write_bytes(b"theme: paper\n\x7fELF\x00\x00")
        with pytest.raises(ConfigError, match=rf"^{file}:2: is not text: it holds NUL bytes\.$"):
            load_config(file)
        file.write_bytes("theme: paper\n# für\n".encode("latin-1"))
        with pytest.raises(ConfigError, match=r":2: is not text in UTF-8 \(byte 0xfc\): save it as UTF-8\."):
            load_config(file)

    def test_a_mark_of_windows_at_the_start_does_not_hurt(self, tmp_path: Path) -> None:
        file = tmp_path / "c.yaml"
        file.write_bytes(b"\xef\xbb\xbftheme: paper\r\n")
        assert load_config(file).theme == "paper"

    def test_of_somebody_else(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        file = write("theme: paper")

        def refuse(*_: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("slurmtui.config_text.os.open", refuse)
        with pytest.raises(ConfigError, match=rf"may not be read by you \(it belongs to {file.owner()}\): see `ls -l"):
            load_config(file)


def test_every_key_is_declared_and_every_declaration_is_a_key() -> None:
    for section in SECTIONS:
        keys = {field.name for field in msgspec.structs.fields(section.struct)} - {"name", "source"}
        assert {field.key for field in section.fields} == keys, section.path


def test_what_stands_out_in_logs_is_read_and_checked(write: Write) -> None:
    text = (
        "logs:\n  highlights:\n  - pattern: 'loss=[0-9.]+'\n    style: bold accent\n  - {pattern: ^epoch, line: true}"
    )
    first, second = load_config(write(text)).logs.highlights
    assert (first.style, first.line) == ("bold accent", False)
    assert first.compiled().matches("step 1 loss=0.5")
    assert (second.style, second.line) == ("match", True)
    with pytest.raises(ConfigError) as caught:
        load_config(write("logs:\n  highlights:\n  - {pattern: 'a(b', style: bolt}\n  - {line: true}\n"))
    said = str(caught.value)
    assert "is no regular expression" in said
    assert "there is no style 'bolt'" in said
    assert "bold" in said
    assert "has no pattern" in said


def test_every_example_of_the_reference_is_right(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/tmp")
    for section in SECTIONS:
        for field in (field for field in section.fields if field.example):
            line = f"{field.key}: {field.example}"
            names = "profiles: {gpu: {cores: 8}, small: {}}\n" if section is TOP else ""
            if section.path == "profiles.NAME.adapt":
                text = f"profiles: {{a: {{adapt: {{maximum: 8, {line}}}}}}}" if field.key == "minimum" else "{}"
            elif section.path in {"profiles.NAME.retry", "profiles.NAME.shared"}:
                text = f"profiles: {{a: {{{section.path.rpartition('.')[2]}: {{{line}}}}}}}"
            elif section.path == "logs.highlights":
                pattern = "" if field.key == "pattern" else "    pattern: x\n"
                text = f"logs:\n  highlights:\n  -\n{pattern}    {line}"
            elif section.path == "profiles.NAME":
                text = "profiles:\n  a:\n    " + line + ("\n    cores: 8" if field.key == "processes" else "")
            else:
                text = names + (f"{section.path}:\n  {line}" if section.path else line)
            load_config(write(text))


yaml_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.dates(),
    st.sampled_from(["12:00:00", "10G", "gpu:1", "--mem=0", "~", "ctrl+x", "*a", "!x", "%", "\t", "\x85", "\ud800"]),
)  # fmt: skip
keys = st.one_of(
    st.sampled_from([field.key for section in SECTIONS for field in section.fields] + ["gpu", "<<", "", "on"]),
    st.text(max_size=8),
)
trees = st.recursive(
    yaml_scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
quick = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def outcome(text: str, folder: Path) -> Config | tuple[str, ...]:
    """The configuration, or what is wrong with it; any other exception is the test's failure."""
    try:
        return check_text(text, folder / "c.yaml").config
    except ConfigError as error:
        return error.problems


def is_right(found: Config | tuple[str, ...]) -> bool:
    if isinstance(found, Config):
        return True
    return bool(found) and all(problem.isprintable() for problem in found) and len(set(found)) == len(found)


@quick
@given(text=st.text(max_size=200))
@example(text="&a [*a]: *a")
@example(text="%YAML 9.9\n---\na")
@example(text="profiles: {x: {walltime: 1:1:1:1}}")
@example(text="\ufeff: \ufeff")
def test_any_text_is_a_configuration_or_a_config_error(text: str, tmp_path: Path) -> None:
    assert is_right(outcome(text, tmp_path))


@quick
@given(data=st.binary(max_size=100))
def test_any_bytes_are_a_configuration_or_a_config_error(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(data)
    with contextlib.suppress(ConfigError):
        assert isinstance(load_config(file), Config)


@quick
@given(tree=st.dictionaries(keys, trees, max_size=5))
def test_any_tree_is_a_configuration_or_a_config_error(tree: object, tmp_path: Path) -> None:
    assert is_right(outcome(yaml.safe_dump(tree, allow_unicode=True), tmp_path))
