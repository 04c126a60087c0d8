"""The configuration files of the sandbox's daemons. They are written anew by each ``up``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.sandbox.layout import Layout

# slurmd looks for cgroups though nothing here uses them, and an ordinary user, or a container, has none to give.
_CGROUP_PLUGINS = (((23, 2), "disabled"), ((22, 5), "cgroup/v1"))  # v1 touches nothing until something uses it
_KEEPS_SCRIPTS = (21, 8)


def slurm_conf(layout: Layout, version: tuple[int, ...]) -> str:
    """SLURM's configuration: eight nodes, three partitions, accounting."""
    kept = "AccountingStoreFlags=job_comment,job_script,job_env"
    if version < _KEEPS_SCRIPTS:
        kept = "AccountingStoreJobComment=YES"
    base, nodes = layout.base, layout.node_ports
    return f"""\
# Written by `slurmtui sandbox up`; changes made here are lost.
ClusterName=sandbox
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={layout.slurmctld_port}
SlurmUser={layout.user}
SlurmdUser={layout.user}
AuthType=auth/munge
AuthInfo=socket={layout.munge_socket}
CredType=cred/munge
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool/%n
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd-%n.pid
SlurmctldLogFile={base}/logs/slurmctld.log
SlurmdLogFile={base}/logs/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=info
SlurmctldSyslogDebug=quiet
SlurmdSyslogDebug=quiet
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=500
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=300
MaxJobCount=200000
MaxArraySize=100001
SchedulerParameters=bf_interval=2,sched_interval=2
GresTypes=gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={layout.slurmdbd_port}
AccountingStoragePass={layout.munge_socket}
AccountingStorageEnforce=associations
{kept}
AccountingStorageTRES=gres/gpu
NodeName=n[1-6] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{nodes["n1"]}-{nodes["n6"]}] CPUs=8 RealMemory=4000
NodeName=gpu[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{nodes["gpu1"]}-{nodes["gpu2"]}] \
CPUs=16 RealMemory=8000 Gres=gpu:a100:4
PartitionName=debug Nodes=n[1-2] MaxTime=00:30:00 DefaultTime=00:10:00 Default=YES
PartitionName=batch Nodes=n[1-6] MaxTime=2-00:00:00 DefaultTime=01:00:00
PartitionName=gpu Nodes=gpu[1-2] MaxTime=UNLIMITED DefaultTime=01:00:00
"""


def slurmdbd_conf(layout: Layout) -> str:
    """The accounting daemon's configuration. Holds the database password."""
    base = layout.base
    return f"""\
# Written by `slurmtui sandbox up`; changes made here are lost.
AuthType=auth/munge
AuthInfo=socket={layout.munge_socket}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={layout.slurmdbd_port}
SlurmUser={layout.user}
DebugLevel=info
DebugLevelSyslog=quiet
LogFile={base}/logs/slurmdbd.log
PidFile={base}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={layout.database_port}
StorageUser=slurm
StoragePass={layout.database_password}
StorageLoc=slurm_acct_db
"""


def gres_conf() -> str:
    """Four devices that every machine has stand in for the GPUs of a node, so that jobs see CUDA_VISIBLE_DEVICES."""
    return "NodeName=gpu[1-2] Name=gpu Type=a100 File=/dev/null,/dev/zero,/dev/full,/dev/urandom\n"


def texts(layout: Layout, version: str) -> Mapping[str, str]:
    """Each configuration file's name and text, for this version of SLURM."""
    known = tuple(int(part) for part in version.split(".")[:2])
    files = {
        "slurm.conf": slurm_conf(layout, known),
        "slurmdbd.conf": slurmdbd_conf(layout),
        "gres.conf": gres_conf(),
    }
    plugin = next((plugin for since, plugin in _CGROUP_PLUGINS if known >= since), None)
    if plugin:
        files["cgroup.conf"] = f"CgroupPlugin={plugin}\n"
    return files


def database_setup(layout: Layout) -> str:
    """The SQL that gives slurmdbd its database and its account; may be run again and again."""
    return f"""\
CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE USER IF NOT EXISTS slurm@'127.0.0.1' IDENTIFIED BY '{layout.database_password}';
ALTER USER slurm@'127.0.0.1' IDENTIFIED BY '{layout.database_password}';
GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';
"""
