"""What the probe job runs on a compute node: nothing but the standard library, in a Python that may be another.

``probe_job.py FOLDER`` reads ``ask.json`` and ``credentials`` in FOLDER and leaves ``answer.json``; with ``--facts
PATH…`` it prints what this place has, and asks nobody. It is copied, never imported.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import socket
import sys
import time
import urllib.error
import urllib.request

PACKAGES = ("prefect", "prefect-dask", "distributed", "dask-jobqueue", "prefect-slurmtui")
SECONDS = 10


def place(paths: list[str]) -> dict[str, object]:
    """This host, this Python, its packages, and which of the paths are here."""
    from importlib import metadata  # noqa: PLC0415 - too old a Python is to be told, not to fail at the top

    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # noqa: PERF203 - five packages
            versions[name] = ""
    return {
        "node": os.environ.get("SLURMD_NODENAME") or socket.gethostname(),
        "python": sys.executable,
        "python_version": platform.python_version(),
        "versions": versions,
        "seen": {path: os.path.exists(path) for path in paths},  # noqa: PTH110 - nothing but what every Python has
    }


def ask(api_url: str, auth: str) -> dict[str, object]:
    """Ask the server for its version with the password, without any proxy: a driver is told to use none either."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    began = time.time()
    found: dict[str, object] = {"status": None, "version": "", "said": ""}
    try:
        request = urllib.request.Request(api_url.rstrip("/") + "/admin/version")  # noqa: S310 - as configured
        if auth:
            request.add_header("Authorization", "Basic " + base64.b64encode(auth.encode()).decode())
        with opener.open(request, timeout=SECONDS) as answer:
            found["status"] = answer.status
            found["version"] = str(json.loads(answer.read(1000)))
    except urllib.error.HTTPError as error:
        found["status"] = error.code
        found["said"] = f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        found["said"] = str(getattr(error, "reason", error) or type(error).__name__)
    found["seconds"] = time.time() - began
    return found


def main(folder: str) -> None:
    """Leave the answer, whole or not at all."""
    with open(os.path.join(folder, "ask.json")) as stream:  # noqa: PTH118, PTH123 - as above
        wanted = json.load(stream)
    with open(os.path.join(folder, "credentials")) as stream:  # noqa: PTH118, PTH123 - as above
        auth = stream.read().strip()
    answer = ask(wanted["api_url"], auth)
    answer["place"] = place(wanted["paths"])
    answer["proxy"] = os.environ.get("http_proxy") or os.environ.get("HTTP_PROXY") or ""
    aside = os.path.join(folder, ".answer.json")  # noqa: PTH118 - as above
    with open(aside, "w") as stream:  # noqa: PTH123 - as above
        json.dump(answer, stream)
    os.rename(aside, os.path.join(folder, "answer.json"))  # noqa: PTH104, PTH118 - as above


if __name__ == "__main__":
    if sys.argv[1] == "--facts":
        print(json.dumps(place(sys.argv[2:])))  # noqa: T201 - its answer
    else:
        main(sys.argv[1])
