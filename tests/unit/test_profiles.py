"""Which profile is meant, and whether it fits the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from slurmtui.config import check_text
from slurmtui.config_template import template
from slurmtui.errors import UsageError
from slurmtui.models.cluster import Partition
from slurmtui.models.config import Config
from slurmtui.models.profile import Profile
from slurmtui.models.values import Special
from slurmtui.profile_limits import Finding, compare, split_gres
from slurmtui.profiles import pick_profile, sandbox_profiles

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = {"gpu": Profile(name="gpu")}
TWO = {**ONE, "cpu": Profile(name="cpu")}
DEBUG = Partition(
    name="debug", default=True, state="up", max_time=1800, nodes=2, cpus_per_node=8, memory_per_node=4000.0
)
BATCH = Partition(name="batch", state="up", max_time=172_800, nodes=6, cpus_per_node=8, memory_per_node=4000.0)
GPU = Partition(
    name="gpu", state="up", max_time=Special.UNLIMITED, nodes=2, cpus_per_node=16, memory_per_node=8000.0,
    gres=("gpu:a100:4",),
)  # fmt: skip
OLD = Partition(name="old", state="drain", max_time=Special.UNKNOWN, nodes=1, cpus_per_node=4)
FILE = Path("/c.yaml")
CLUSTER = (DEBUG, BATCH, GPU, OLD)


def test_the_profile_that_is_named() -> None:
    assert pick_profile(Config(profiles=TWO, default_profile="gpu"), "cpu").name == "cpu"


def test_the_default_profile_and_the_only_one() -> None:
    assert pick_profile(Config(profiles=TWO, default_profile="gpu")).name == "gpu"
    assert pick_profile(Config(profiles=ONE)).name == "gpu"


@pytest.mark.parametrize(
    ("config", "name", "said"),
    [
        (Config(profiles=TWO, source="/c.yaml"), "gpo", "There is no profile 'gpo' in /c.yaml: did you mean 'gpu'?"),
        (Config(profiles=TWO, source="/c.yaml"), "x", "There is no profile 'x' in /c.yaml: there is: gpu, cpu."),
        (Config(profiles=TWO, source="/c.yaml"), None, "Name a profile (gpu, cpu), or set default_profile in /c.yaml."),
        (Config(), "gpu",
         "the built-in configuration has no profiles: what a job asks SLURM for. `slurmtui config init` writes some."),
    ],
)  # fmt: skip
def test_the_profile_that_is_meant_must_be_clear(config: Config, name: str | None, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        pick_profile(config, name)
    assert str(caught.value) == said


def test_the_profiles_of_the_sandbox_fit_the_sandbox() -> None:
    profiles = sandbox_profiles()
    assert list(profiles) == ["debug", "batch", "gpu"]
    for name, profile in profiles.items():
        assert (profile.name, profile.tls, profile.workers, profile.memory) == (name, True, 2, "1G")
        assert compare(profile, CLUSTER, ()) == []


def test_what_fits_is_not_complained_about() -> None:
    profile = Profile(name="p", partition="gpu", account="a", cores=16, memory="7G", walltime="30-00:00:00",
                      gres="gpu:a100:4", nodes=2)  # fmt: skip
    assert compare(profile, CLUSTER, ("a", "b")) == []
    assert compare(Profile(name="p"), CLUSTER, ()) == []
    assert compare(Profile(name="p", partition="debug,batch", walltime="02:00:00"), CLUSTER, ()) == []


@pytest.mark.parametrize(
    ("profile", "key", "said"),
    [
        (Profile(name="p", partition="debgu", walltime="9:00:00"), "partition",
         "this cluster has no partition 'debgu': did you mean 'debug'?"),
        (Profile(name="p", account="c"), "account", "you have no account 'c': there is: a, b."),
        (Profile(name="p", walltime="00:30:01"), "walltime", "00:30:01 is more than debug allows: 00:30:00."),
        (Profile(name="p", partition="debug,batch", walltime="2-00:00:01"), "walltime",
         "2-00:00:01 is more than debug/batch allows: 2-00:00:00."),
        (Profile(name="p", cores=9), "cores", "9 cores are more than any node of debug has: 8."),
        (Profile(name="p", memory="4G"), "memory", "4G is more than any node of debug has: 4000M."),
        (Profile(name="p", nodes=3), "nodes", "3 nodes are more than debug has: 2."),
        (Profile(name="p", gres="gpu:1"), "gres", "no node of debug has gpu:1; there is: none."),
        (Profile(name="p", partition="gpu", gres="gpu:v100:1"), "gres",
         "no node of gpu has gpu:v100:1; there is: gpu:a100:4."),
        (Profile(name="p", partition="gpu", gres="gpu:5"), "gres", "gpu:5 is more than a node of gpu has: 4."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(profile: Profile, key: str, said: str) -> None:
    assert compare(profile, CLUSTER, ("a", "b")) == [Finding(key, said)]


def test_a_partition_that_is_not_up_is_a_note() -> None:
    assert compare(Profile(name="p", partition="old"), CLUSTER, ()) == [
        Finding("partition", "old is drain, not up: jobs would wait.", wrong=False)
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [("gpu", ("gpu", "", 1)), ("gpu:8", ("gpu", "", 8)), ("gpu:a100:4(S:0-1)", ("gpu", "a100", 4)),
     ("gpu:a100", ("gpu", "a100", 1)), ("gpu:nvidia_h200_4g.71gb:2", ("gpu", "nvidia_h200_4g.71gb", 2))],
)  # fmt: skip
def test_generic_resources_are_taken_apart(text: str, parts: tuple[str, str, int]) -> None:
    assert split_gres(text) == parts


class TestTemplate:
    """The file that ``config init`` writes."""

    def config(self, partitions: Sequence[Partition], accounts: Sequence[str], reason: str = "") -> Config:
        loaded = check_text(template(partitions, accounts, reason), FILE)
        assert loaded.notes == ()
        return loaded.config

    def test_a_profile_for_each_partition_that_fits_it(self) -> None:
        config = self.config(CLUSTER, ("research",))
        assert list(config.profiles) == ["debug", "batch", "gpu"]
        assert config.default_profile == "debug"
        for profile in config.profiles.values():
            assert compare(profile, CLUSTER, ("research",)) == []
            assert profile.account == "research"
        assert config.profiles["gpu"].gres == "gpu:a100:1"

    def test_of_several_accounts_none_is_chosen(self) -> None:
        assert all(profile.account is None for profile in self.config(CLUSTER, ("a", "b")).profiles.values())
        assert "# account: a" in template(CLUSTER, ("a", "b"))
        assert "or b; without it your default one" in template(CLUSTER, ("a", "b"))

    def test_without_an_answer_it_is_a_template_that_says_why(self) -> None:
        text = template((), (), "slurm_load_partitions: Unable to contact\nslurm controller \x1b[31m")
        assert "(slurm_load_partitions: Unable to contact slurm controller ␛[31m): fill these in by hand" in text
        assert self.config((), (), "x") == Config(source="/c.yaml")

    def test_every_line_of_it_is_right_when_it_is_taken_out_of_its_comment(self) -> None:
        text = template((), (), "x").replace("~/.prefect-password      # user:password, readable by you alone", "~/x")
        keys = [line for line in text.splitlines() if line.startswith("#   ") or line[-1:] == ":" or "theme:" in line]
        taken_out = "\n".join(line.removeprefix("# ") for line in keys if ". " not in line)
        config = check_text(taken_out, FILE).config
        assert config.theme == "midnight"
        assert config.profiles["small"].walltime == "00:30:00"
        assert config.prefect.api_url == "http://login01:4200/api"

    @pytest.mark.parametrize(
        "name", ["no", "a b", "12:00", "größer", "x:y", '"', "-", "#", "*", "{", "\x1b[2J", "A" * 90, "010", "~", "[x]"]
    )
    def test_odd_names_of_partitions_and_accounts(self, name: str) -> None:
        odd = msgspec.structs.replace(GPU, name=name)
        config = self.config((DEBUG, odd, odd), (name,))
        named = {profile.partition for profile in config.profiles.values()}
        assert named == ({"debug"} if " " in name or "\x1b" in name or name == "-" else {"debug", name})
        assert {profile.account for profile in config.profiles.values()} <= {name, None}

    def test_many_partitions(self) -> None:
        many = [msgspec.structs.replace(DEBUG, name=f"part{number}") for number in range(40)]
        text = template(many, ())
        assert len(check_text(text, FILE).config.profiles) == 12
        assert "# Further partitions: part12, part13" in text
