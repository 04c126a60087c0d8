"""Which Prefect server is used, and with which credentials.

The first that names an address wins: ``PREFECT_API_URL`` in the environment, slurmtui's configuration, the active
profile of Prefect's own profiles file, the private server's record. Prefect merges its settings one by one, so a
password in the environment goes with an address from a profile, and the other way round; so it is here.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from slurmtui.paths import typed_path
from slurmtui.sources.prefect import server_record
from slurmtui.sources.prefect.profiles_file import PrefectProfile, active_profile

if TYPE_CHECKING:
    from slurmtui.models.config import Config


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A server and how to speak to it.

    Attributes:
        api_url: the address up to and including ``/api``, without a slash at its end.
        auth: ``user:password`` for basic authentication; ``key`` is Prefect Cloud's API key.
        origin: where the address came from, in words.
        auth_origin: where the credentials came from, or why there are none, in words.
        direct: whether it is spoken to without a proxy, whatever the environment says.
        verify: whether an https server's certificate is checked; ``certificates`` a file with more authorities.
    """

    api_url: str
    auth: str | None = None
    origin: str = ""
    auth_origin: str = "no credentials were found"
    key: str | None = None
    direct: bool = False
    verify: bool = True
    certificates: str | None = None

    def __repr__(self) -> str:
        """Without the password: this may end in a log."""
        return f"Connection({self.api_url!r}, origin={self.origin!r}, auth={'yes' if self.auth or self.key else 'no'})"

    @property
    def where(self) -> str:
        """The server in words, for a message."""
        return f"{self.api_url} ({self.origin})" if self.origin else self.api_url


def find_connection(config: Config) -> Connection | None:
    """The server to use, None when none is named anywhere and no private server is recorded."""
    profile = active_profile()
    private = private_connection()
    profile_url = profile.settings.get("PREFECT_API_URL") if profile else None
    found: tuple[str, str] | None = None
    if os.environ.get("PREFECT_API_URL"):
        found = os.environ["PREFECT_API_URL"], "PREFECT_API_URL"
    elif config.prefect.api_url:
        found = config.prefect.api_url, "configuration"
    elif profile and profile_url:
        found = profile_url, f"profile {profile.name}"
    if found is None:
        return private
    url = found[0].strip().rstrip("/")
    if private and url == private.api_url:
        auth, auth_origin = private.auth, private.auth_origin
    else:
        auth, auth_origin = _credentials(config, profile, url)
    return Connection(
        api_url=url,
        auth=auth,
        origin=found[1],
        auth_origin=auth_origin,
        key=_setting("PREFECT_API_KEY", profile)[0],
        direct=_near(url) or (private is not None and url == private.api_url),
        verify=_setting("PREFECT_API_TLS_INSECURE_SKIP_VERIFY", profile)[0] not in ("1", "true", "True"),
        certificates=_setting("PREFECT_API_SSL_CERT_FILE", profile)[0],
    )


def private_connection() -> Connection | None:
    """The private server that ``slurmtui server start`` recorded; whether it answers is not looked at."""
    record = server_record.read_record()
    if record is None:
        return None
    return Connection(
        api_url=record.api_url,
        auth=server_record.read_auth(),
        origin=f"private server on {record.host}",
        auth_origin=f"the password came from {server_record.auth_file()}",
        direct=True,
    )


def _credentials(config: Config, profile: PrefectProfile | None, url: str) -> tuple[str | None, str]:
    """``user:password`` and where it came from, in words."""
    named = config.prefect.auth_file
    own = (config.prefect.api_url or "").strip().rstrip("/") == url
    from_prefect = _setting("PREFECT_API_AUTH_STRING", profile)
    if named and own and not os.environ.get("PREFECT_API_AUTH_STRING"):
        file = typed_path(named)
        try:
            return file.read_text(encoding="utf-8").strip() or None, f"the password came from {file}"
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not text"
            return None, f"prefect.auth_file {file} cannot be read: {reason}"
    if from_prefect[0]:
        return from_prefect[0], f"the password came from {from_prefect[1]}"
    return None, "no password was found in PREFECT_API_AUTH_STRING, the configuration or Prefect's profile"


def _setting(name: str, profile: PrefectProfile | None) -> tuple[str | None, str]:
    """A setting of Prefect's and where it stands: the environment goes before the profile."""
    if os.environ.get(name):
        return os.environ[name], name
    if profile and profile.settings.get(name):
        return profile.settings[name], f"profile {profile.name}"
    return None, ""


def _near(url: str) -> bool:
    """Whether the address is this machine: a proxy could not reach its loopback, and need not reach the rest."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost") or host == socket.gethostname():
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
