"""Parameters checked against a flow, and each problem in one sentence."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

from prefect.exceptions import ParameterTypeError, SignatureMismatchError
from pydantic import ValidationError

from slurmtui.models.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prefect.flows import Flow

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "an object ({…})",
    "path_type": "a path",
}
_SHOWN = 60


def check(flow: Flow[..., Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The parameters as the flow will see them (as JSON values), and what is wrong with them."""
    problems = [*_unknown(flow, given), *_missing(flow, given)]
    known = {name: value for name, value in given.items() if name in inspect.signature(flow.fn).parameters}
    if _takes_any(flow):
        known = dict(given)
    try:
        cast = flow.validate_parameters(known)
    except ParameterTypeError as error:
        cause = error.__context__
        if not isinstance(cause, ValidationError):
            return {}, [*problems, " ".join(str(error).split())]
        wrong = [_sentence(fault) for fault in cause.errors() if not _said_before(fault)]
        return {}, [*problems, *dict.fromkeys(wrong)]
    except (SignatureMismatchError, TypeError):
        if problems:
            return {}, problems  # a parameter is missing, which has been said
        raise
    return {name: _as_json(value, cast.get(name)) for name, value in given.items()}, problems


def _as_json(given: Any, cast: Any) -> Any:
    """The value to hand to Prefect: as cast where that is plain, else as given (Prefect casts it at the start)."""
    plain = type(cast) in {bool, int, str} or (type(cast) is float and math.isfinite(cast))
    return cast if plain else given


def _takes_any(flow: Flow[..., Any]) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(flow.fn).parameters.values())


def _unknown(flow: Flow[..., Any], given: Mapping[str, Any]) -> list[str]:
    known = list(inspect.signature(flow.fn).parameters)
    if _takes_any(flow):
        return []
    return [
        f"{name}: flow {flow.name!r} has no such parameter; {did_you_mean(name, known)}"
        for name in given
        if name not in known
    ]


def _missing(flow: Flow[..., Any], given: Mapping[str, Any]) -> list[str]:
    return [
        f"{one.name}: no value was given, and flow {flow.name!r} has no default for it."
        for one in inspect.signature(flow.fn).parameters.values()
        if one.default is one.empty and one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL} and one.name not in given
    ]


def _said_before(fault: Any) -> bool:
    """Whether it is about a parameter that was not given at all."""
    return fault["type"] in {"missing", "missing_argument"} and len(fault["loc"]) == 1


def _sentence(fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    kind = fault["type"]
    if kind == "missing":
        return f"{place}: is missing."
    if kind in {"literal_error", "enum"}:
        expected = "one of " + (fault.get("ctx") or {}).get("expected", "").replace(" or ", ", ")
    else:
        expected = _EXPECTED.get(kind, "")
    shown = repr(fault.get("input"))
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    if expected:
        return f"{place}: {shown} is not {expected}."
    return f"{place}: {shown}: {fault['msg']}."
