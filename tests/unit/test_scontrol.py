"""``scontrol show job`` taken apart although names and comments stand in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.scontrol import parse_show_job

TEMPLATE = """JobId=13 JobName={name}
   UserId=alice(2001) GroupId=alice(2001) MCS_label=N/A
   JobState=PENDING Reason=ReqNodeNotAvail, UnavailableNodes:n[1-2] Dependency=afterok:11(unfulfilled)
   NodeList=
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=1,mem=50M,node=1,billing=1
   Command={command}
   SubmitLine=sbatch -J {name} --comment={comment} {command}
   WorkDir=/home/alice
   Comment={comment}
   StdErr=/home/alice/my logs/x=y.err
   StdIn=/dev/null
   StdOut=/home/alice/slurm-13.out
   Power=
"""


def shown(name: str = "train", command: str = "/home/alice/job.sh -a B=2", comment: str = "c") -> dict[str, str]:
    text = TEMPLATE.format(name=name, command=command, comment=comment)
    return dict(
        parse_show_job(text, {"JobName": name, "Command": command, "WorkDir": "/home/alice", "Comment": comment})
    )


def test_values_with_spaces_and_equals_signs() -> None:
    fields = shown()
    assert fields["Reason"] == "ReqNodeNotAvail, UnavailableNodes:n[1-2]"
    assert fields["Dependency"] == "afterok:11(unfulfilled)"
    assert fields["TRES"] == "cpu=1,mem=50M,node=1,billing=1"
    assert fields["CPUs/Task"] == "1"
    assert fields["ReqB:S:C:T"] == "0:0:*:*"
    assert fields["Command"] == "/home/alice/job.sh -a B=2"
    assert fields["StdErr"] == "/home/alice/my logs/x=y.err"
    assert fields["NodeList"] == ""


def test_forged_lines_in_names_and_comments_stay_names_and_comments() -> None:
    name = "f\n   UserId=root(0)\n   StdOut=/etc/passwd JobState=FAILED"
    comment = "c\n   StdOut=/etc/shadow\n   Command=rm\n   WorkDir=/home/alice\n   Comment=x"
    fields = shown(name=name, comment=comment)
    assert fields["JobName"] == name
    assert fields["Comment"] == comment
    assert fields["SubmitLine"] == f"sbatch -J {name} --comment={comment} /home/alice/job.sh -a B=2"
    assert fields["UserId"] == "alice(2001)"
    assert fields["JobState"] == "PENDING"
    assert fields["StdOut"] == "/home/alice/slurm-13.out"


def test_a_comment_that_repeats_the_name_does_not_take_its_place() -> None:
    comment = "c\n   JobName=n\n   UserId=root(0)"
    fields = shown(name="n", comment=comment)
    assert (fields["JobName"], fields["Comment"], fields["UserId"]) == ("n", comment, "alice(2001)")


@given(st.text(min_size=1).map(lambda text: text.rstrip(" \0")).filter(bool))
def test_no_name_changes_another_field(name: str) -> None:
    name = name.replace("\0", "")
    fields = shown(name=name, comment=name)
    assert fields["UserId"] == "alice(2001)"
    assert fields["StdOut"] == "/home/alice/slurm-13.out"
    if name:
        assert fields["JobName"] == name


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    parse_show_job(text, {"JobName": text, "Comment": "x"})
