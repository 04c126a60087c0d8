"""Which server is used, from where its password comes, and that the password shows nowhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.models.config import Config, PrefectConfig
from slurmtui.models.server import ServerRecord
from slurmtui.sources.prefect import profiles_file, server_record
from slurmtui.sources.prefect.connection import find_connection

if TYPE_CHECKING:
    from pathlib import Path

PROFILES = """
active = "hpc"

[profiles.ephemeral]

[profiles.hpc]
PREFECT_API_URL = "http://login01:4321/api/"
PREFECT_API_AUTH_STRING = "me:pro\\"file"   # a comment
PREFECT_LOGGING_LEVEL = 'DEBUG'

[profiles."a name"]
PREFECT_API_URL = 'http://other:1/api'
"""


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of Prefect's, and folders of the test's own."""
    for name in ("API_URL", "API_AUTH_STRING", "API_KEY", "PROFILE", "PROFILES_PATH"):
        monkeypatch.delenv(f"PREFECT_{name}", raising=False)
    monkeypatch.delenv("PREFECT_API_TLS_INSECURE_SKIP_VERIFY", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))


def write_profiles(tmp_path: Path, text: str = PROFILES) -> None:
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "profiles.toml").write_text(text)


def write_private_server(auth: str = "slurmtui:private") -> None:
    record = ServerRecord(host="login01", pid=1, pid_started=0, api_url="http://10.0.0.1:12000/api", port=12000)
    server_record.record_file().parent.mkdir(parents=True)
    server_record.record_file().write_bytes(msgspec.json.encode(record))
    server_record.auth_file().write_text(auth + "\n")


def configured(url: str = "http://conf:4200/api", auth_file: Path | None = None) -> Config:
    return Config(prefect=PrefectConfig(api_url=url, auth_file=str(auth_file) if auth_file else None))


def test_nothing_named_is_no_connection() -> None:
    assert find_connection(Config()) is None


def test_the_environment_goes_before_configuration_profile_and_private_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_private_server()
    found = find_connection(Config())
    assert found is not None
    assert (found.origin, found.auth) == ("private server on login01", "slurmtui:private")

    write_profiles(tmp_path)
    found = find_connection(Config())
    assert found is not None
    assert (found.origin, found.api_url, found.auth) == ("profile hpc", "http://login01:4321/api", 'me:pro"file')

    found = find_connection(configured())
    assert found is not None
    assert (found.origin, found.api_url) == ("configuration", "http://conf:4200/api")

    monkeypatch.setenv("PREFECT_API_URL", "http://env:1/api")
    found = find_connection(configured())
    assert found is not None
    assert (found.origin, found.api_url) == ("PREFECT_API_URL", "http://env:1/api")


def test_a_password_in_the_environment_goes_with_an_address_from_a_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_profiles(tmp_path)
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "me:environment")
    found = find_connection(Config())
    assert found is not None
    assert found.auth == "me:environment"
    assert "PREFECT_API_AUTH_STRING" in found.auth_origin


def test_the_file_of_the_configuration_holds_the_password_of_its_server_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text("me:file\n")
    found = find_connection(configured(auth_file=file))
    assert found is not None
    assert found.auth == "me:file"
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere:1/api")
    found = find_connection(configured(auth_file=file))
    assert found is not None
    assert found.auth is None


def test_a_password_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    found = find_connection(configured(auth_file=tmp_path / "missing"))
    assert found is not None
    assert found.auth is None
    assert str(tmp_path / "missing") in found.auth_origin
    assert "No such file" in found.auth_origin


def test_the_private_server_s_address_in_the_environment_finds_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    write_private_server()
    monkeypatch.setenv("PREFECT_API_URL", "http://10.0.0.1:12000/api/")
    found = find_connection(Config())
    assert found is not None
    assert found.auth == "slurmtui:private"
    assert found.direct


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("http://127.0.0.1:4200/api", True),
        ("http://localhost:4200/api", True),
        ("http://[::1]:4200/api", True),
        ("http://login01:4200/api", False),
        ("https://prefect.example.org/api", False),
    ],
)
def test_loopback_is_never_asked_through_a_proxy(url: str, direct: bool) -> None:  # noqa: FBT001
    found = find_connection(configured(url))
    assert found is not None
    assert found.direct is direct


def test_a_damaged_record_is_no_connection() -> None:
    write_private_server()
    server_record.record_file().write_text('{"host": "login01", "pid"')
    assert find_connection(Config()) is None


@pytest.mark.parametrize("text", ["active = [", "", 'active = "nobody"', "active = 3", "profiles = 3\nactive = 'x'"])
def test_odd_profiles_name_no_server(tmp_path: Path, text: str) -> None:
    write_profiles(tmp_path, text)
    assert find_connection(Config()) is None


def test_the_profile_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_profiles(tmp_path)
    monkeypatch.setenv("PREFECT_PROFILE", "a name")
    found = find_connection(Config())
    assert found is not None
    assert (found.api_url, found.auth, found.origin) == ("http://other:1/api", None, "profile a name")


def test_a_connection_does_not_show_its_password() -> None:
    write_private_server("slurmtui:very-secret")
    assert "very-secret" not in repr(find_connection(Config()))


def test_the_plain_reader_reads_what_prefect_writes() -> None:
    document = profiles_file.read_plain(PROFILES)
    assert document["active"] == "hpc"
    assert document["profiles"]["hpc"]["PREFECT_API_AUTH_STRING"] == 'me:pro"file'
    assert document["profiles"]["hpc"]["PREFECT_LOGGING_LEVEL"] == "DEBUG"
    assert document["profiles"]["a name"] == {"PREFECT_API_URL": "http://other:1/api"}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="compares with tomllib")
@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=30))
def test_the_plain_reader_agrees_with_toml_about_strings(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\x7f", "")
    text = f'active = "x"\n[profiles.x]\nPREFECT_API_AUTH_STRING = "{quoted}"\n'
    expected = profiles_file.parse(text)
    # Line separators beyond newline end a line for the plain reader; Prefect writes them escaped.
    if len(text.splitlines()) == 3:
        assert profiles_file.read_plain(text) == expected


@given(st.text(max_size=200))
def test_the_plain_reader_takes_any_text(text: str) -> None:
    assert isinstance(profiles_file.read_plain(text)["profiles"], dict)
