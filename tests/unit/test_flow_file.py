"""A flow's file looked at by a process of its own: what it offers, and one clear sentence when it cannot be used."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from slurmtui.control import flow_file
from slurmtui.control.flow_file import inspect_flow_file, preview_script, validate_parameters
from slurmtui.errors import FlowError
from slurmtui.models.profile import Adapt, Profile
from slurmtui.sources.exec import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.models.flow_info import FlowInfo

TRAIN = '''
import enum
from typing import Literal, Optional
from prefect import flow
print("this must not disturb the answer")

class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"

@flow
def train(lr: float, epochs: int = 3, mode: Literal["fast", "good"] = "fast", size: Size = Size.SMALL,
          seed: Optional[int] = None, names: list[str] = ["a"], anything=None):
    """Train a model.

    It takes long.

    Args:
        lr: how far
            to step.
    """

@flow(name="the-other")
def other():
    pass
'''
RUNNERS = """
from prefect import flow
from prefect.task_runners import ThreadPoolTaskRunner
from prefect_dask import DaskTaskRunner
from slurmtui.flows import batch_job

@flow(task_runner=DaskTaskRunner())
def local(): ...
@flow(task_runner=DaskTaskRunner)
def bare(): ...
@flow(task_runner=DaskTaskRunner(cluster_class="dask_jobqueue.SLURMCluster", cluster_kwargs={
    "queue": "long", "cores": 2, "processes": 1, "memory": "3 GB", "job_extra_directives": ["--qos=high"]}))
def own(): ...
@flow(task_runner=DaskTaskRunner(cluster_class="dask_jobqueue.SLURMCluster", cluster_kwargs={
    "cores": 2, "memory": "3 GB", "gpus": 1}))
def wrong(): ...
@flow(task_runner=DaskTaskRunner(address="tcp://127.0.0.1:1"))
def elsewhere(): ...
@flow(task_runner=ThreadPoolTaskRunner())
def threads(): ...
@flow
def default(): ...
"""


async def inspected(folder: Path, code: str) -> dict[str, FlowInfo]:
    """The flows of a file with that code."""
    file = folder / "flows.py"
    file.write_text(code)
    return {flow.function: flow for flow in await inspect_flow_file(Runner(), sys.executable, file)}


async def test_flows_and_their_parameters(tmp_path: Path) -> None:
    flows = await inspected(tmp_path, TRAIN)
    assert list(flows) == ["train", "other"]
    assert flows["other"].name == "the-other"
    train = flows["train"]
    assert train.entrypoint == f"{tmp_path / 'flows.py'}:train"
    assert train.description == "Train a model."
    assert train.default_runner
    assert train.warnings == ()
    facts = {one.name: one for one in train.parameters}
    assert list(facts) == ["lr", "epochs", "mode", "size", "seed", "names", "anything"]
    assert facts["lr"].type == "number"
    assert facts["lr"].required
    assert facts["lr"].help == "how far to step."
    assert (facts["epochs"].type, facts["epochs"].default, facts["epochs"].required) == ("integer", 3, False)
    assert (facts["mode"].type, facts["mode"].choices) == ("string", ("fast", "good"))
    assert (facts["size"].choices, facts["size"].default) == (("small", "large"), "small")
    assert (facts["seed"].type, facts["seed"].default) == ("integer", None)
    assert (facts["names"].type, facts["names"].default) == ("array", ["a"])
    assert facts["anything"].type == "any"


async def test_task_runners_and_what_to_beware_of(tmp_path: Path) -> None:
    flows = await inspected(tmp_path, RUNNERS)
    assert {name for name, flow in flows.items() if flow.default_runner} == {"default"}
    assert "login node" in flows["local"].warnings[0]
    assert "login node" in flows["bare"].warnings[0]
    assert flows["own"].warnings == ()
    assert flows["own"].task_runner == "DaskTaskRunner on SLURMCluster"
    assert flows["elsewhere"].task_runner == "DaskTaskRunner at tcp://127.0.0.1:1"
    assert flows["threads"].warnings == (), "batch jobs are waited for in threads: nothing to beware of"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_module_here\n", "does not import: ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("x = 1\ndef broken(:\n", "SyntaxError: invalid syntax"),
        ("x = 1\n", "has no flow"),
        ("raise ValueError('a\\nb \\x1b[31m')\n", "ValueError: a"),
        ("import sys\nsys.exit(3)\n", "it ends Python: SystemExit: 3"),
        ("from prefect import flow\n@flow\ndef f(): ...\nf()\n", 'put the call under `if __name__ == "__main__":`'),
    ],
    ids=["import", "syntax", "no flow", "control characters", "exit", "runs itself"],
)
async def test_a_file_that_cannot_be_used(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(FlowError) as refusal:
        await inspected(tmp_path, code)
    said = str(refusal.value)
    assert words in said
    assert str(tmp_path / "flows.py") in said
    assert said.isprintable(), "one sentence, without control characters"


async def test_the_line_at_fault_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match=r"flows\.py:2\)"):
        await inspected(tmp_path, "import os\nos.listdir('/no/such/folder')\n")


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing.py", "does not exist"), (".", "is a folder"), ("text.txt", "is not a Python file")],
)
async def test_what_is_no_python_file_is_refused_without_starting_anything(
    tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "text.txt").touch()
    runner = Runner()
    with pytest.raises(FlowError, match=words):
        await inspect_flow_file(runner, sys.executable, tmp_path / name)
    assert runner.log.count == 0


async def test_one_flow_by_name(tmp_path: Path) -> None:
    await inspected(tmp_path, TRAIN)
    file = tmp_path / "flows.py"
    found = await inspect_flow_file(Runner(), sys.executable, file, "the-other")
    assert [flow.function for flow in found] == ["other"]
    with pytest.raises(FlowError, match=r"has no flow 'tran'\. It has: train, other"):
        await inspect_flow_file(Runner(), sys.executable, file, "tran")


async def test_a_file_that_never_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "temporary"
    left.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(left))
    monkeypatch.setenv("TMPDIR", str(left))
    monkeypatch.setattr(flow_file, "LOOK_SECONDS", 3.0)
    with pytest.raises(FlowError, match="takes more than 3 s to import"):
        await inspected(tmp_path, "import time\ntime.sleep(60)\n")
    assert list(left.iterdir()) == []


async def test_a_python_without_slurmtui_is_named(tmp_path: Path) -> None:
    file = tmp_path / "flows.py"
    file.write_text("x = 1\n")
    with pytest.raises(FlowError, match=r"could not be looked at with .*false"):
        await inspect_flow_file(Runner(), "/bin/false", file)


async def test_a_cluster_made_at_import_submits_nothing(tmp_path: Path) -> None:
    made = tmp_path / "submitted"
    code = (
        "import subprocess\nfrom prefect import flow\n"
        f"done = subprocess.run(['sbatch', '--wrap', 'touch {made}'], capture_output=True, text=True)\n"
        "assert done.returncode == 1 and 'only looked at' in done.stderr\n@flow\ndef f(): ...\n"
    )
    assert list(await inspected(tmp_path, code)) == ["f"]


async def test_parameters_as_the_flow_reads_them(tmp_path: Path) -> None:
    train = (await inspected(tmp_path, TRAIN))["train"].entrypoint
    given = {"lr": "0.1", "epochs": "7", "size": "large", "names": ["x"], "seed": None}
    found = await validate_parameters(Runner(), sys.executable, train, given)
    assert found == {"lr": 0.1, "epochs": 7, "size": "large", "names": ["x"], "seed": None}


async def test_every_problem_with_parameters_at_once(tmp_path: Path) -> None:
    train = (await inspected(tmp_path, TRAIN))["train"].entrypoint
    given = {"epoch": 3, "epochs": "many", "mode": "best", "size": "huge", "names": "x"}
    with pytest.raises(FlowError) as refusal:
        await validate_parameters(Runner(), sys.executable, train, given)
    assert str(refusal.value).splitlines() == [
        "epoch: flow 'train' has no such parameter; did you mean 'epochs'?",
        "lr: no value was given, and flow 'train' has no default for it.",
        "epochs: 'many' is not a whole number.",
        "mode: 'best' is not one of 'fast', 'good'.",
        "size: 'huge' is not one of 'small', 'large'.",
        "names: 'x' is not a list.",
    ]


async def test_the_script_of_a_profile(tmp_path: Path) -> None:
    default = (await inspected(tmp_path, RUNNERS))["default"].entrypoint
    profile = Profile(
        name="gpu", partition="gpu", account="lab", qos="high", cores=4, processes=2, memory="1500M",
        walltime="02:00:00", gres="gpu:1", adapt=Adapt(maximum=4), python="/a b/python", prologue=("module load cuda",),
        directives=("--constraint=a100",), skip_directives=("-n 1",),
    )  # fmt: skip
    script = await preview_script(Runner(), sys.executable, default, profile)
    for line in ("-p gpu", "-A lab", "--cpus-per-task=4", "--mem=1500M", "-t 02:00:00", "--qos=high", "--gres=gpu:1",
                 "--constraint=a100"):  # fmt: skip
        assert f"\n#SBATCH {line}\n" in script
    assert "-n 1\n" not in script
    assert "\nmodule load cuda\n'/a b/python' -m distributed.cli.dask_worker tcp://" in script
    assert "--memory-limit 750.00MiB --nworkers 2" in script
    assert "--tls-key <run folder>/tls/" in script


async def test_the_script_of_a_flows_own_task_runner(tmp_path: Path) -> None:
    flows = await inspected(tmp_path, RUNNERS)

    async def script(name: str) -> str:
        return await preview_script(Runner(), sys.executable, flows[name].entrypoint, Profile(name="p", partition="no"))

    own = await script("own")
    assert "#SBATCH -p long\n" in own
    assert "#SBATCH --qos=high\n" in own
    assert await script("threads") == ""
    assert await script("elsewhere") == ""
    with pytest.raises(
        FlowError, match=r"SLURMCluster refuses what the task runner says: Got unexpected keyword .*gpus"
    ):
        await script("wrong")
