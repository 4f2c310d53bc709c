"""Reads the facts that lie beside a result file: keys of our ``*.meta.json``, and any field of an upload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest.errors import FieldError, FieldsError
from ingest.metadata.configuration import Content, read_content, switches_of
from ingest.metadata.fields import ARCHIVE_FIELDS, FIELDS, flatten, read_field

# They belong to the request and not to the file.
_OF_THE_REQUEST = (
    "project",
    "file",
    "companion",
    "configuration_file",
    "dry_run",
    "meta",
    *ARCHIVE_FIELDS,
)
# Names of files that lay beside the result.
_NEIGHBOURS = ("output", "outputs", "vmstat", "iostat", "lscpu")
_ENVIRONMENT = ("pinning", "jdk", "runtime")
# What is true of this one run only; the rest counts as options of the workload.
_OF_THE_RUN = (
    "command",
    "contention",
    "driver_class",
    "exit_code",
    "finished_at",
    "method",
    "night",
    "sequence",
    "setting",
    "state",
    "thread_handling",
    "tool",
    "value",
    "version_full",
)


@dataclass
class Meta:
    """What a meta says. ``fields`` are clean values by the names of the fields of an upload.

    ``hardware_name`` is made of the facts of a machine, for want of a name.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    hardware_facts: dict[str, Any] = field(default_factory=dict)
    hardware_name: str = ""
    environment: dict[str, Any] = field(default_factory=dict)
    content: Content | None = None
    switches: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_meta(given: Mapping[str, Any]) -> Meta:
    """Raises FieldsError, whose fields begin with ``meta.``, for known keys that are malformed."""
    meta, errors = Meta(), []
    for name, value in given.items():
        if value is None or value == "":
            continue
        try:
            _take(meta, name, value)
        except ValueError as error:
            errors.append(FieldError(f"meta.{name[:50]}", str(error)))
    if errors:
        raise FieldsError(errors)
    _settle_versions(meta, given)
    _settle_hardware(meta)
    return meta


def _take(meta: Meta, name: str, value: Any) -> None:
    """Put one key where it belongs. Raises ValueError with a sentence."""
    if name in _SPECIAL and _SPECIAL[name](meta, value):
        return
    if name in _OF_THE_REQUEST:
        meta.warnings.append(f"'{name}' in meta means nothing there and was ignored")
    elif name in FIELDS:
        meta.fields[name], warning = read_field(name, value)
        meta.warnings += [warning.format(f"meta.{name}")] if warning else []
    elif name in _NEIGHBOURS:
        return
    elif name in _ENVIRONMENT:
        meta.environment.update(flatten({name: value}))
    elif name in _OF_THE_RUN:
        meta.facts.update(flatten({name: value}))
    else:
        meta.options.update(flatten({name: value}))


# --- keys with a meaning of their own -----------------------------------------------------------------------
# Each says whether it took the value; if not, the key is read like any other.


def _options(meta: Meta, value: Any) -> bool:
    meta.options.update(flatten(read_field("options", value)[0]))
    return True


def _hardware(meta: Meta, value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    facts = dict(value)
    if name := facts.pop("name", None):
        meta.fields["hardware"] = read_field("hardware", name)[0]
    meta.hardware_facts.update(flatten(facts))
    return True


def _environment(meta: Meta, value: Any) -> bool:
    if isinstance(value, Mapping):
        meta.environment.update(flatten(value))
    return isinstance(value, Mapping)


def _configuration(meta: Meta, value: Any) -> bool:
    return isinstance(value, Mapping) and _server_config(meta, value)


def _server_config(meta: Meta, value: Any) -> bool:
    if isinstance(value, Mapping):
        value = "".join(f"{name} = {setting}\n" for name, setting in flatten(value).items())
    if not isinstance(value, str):
        raise ValueError("must be the text of a configuration file, or a JSON object")  # noqa: TRY004 - a sender's value
    meta.content = read_content(value)
    return True


def _state(meta: Meta, value: Any) -> bool:
    switches = switches_of(value) if isinstance(value, str) else None
    meta.switches.update(switches or {})
    return bool(value == "base")


def _server(meta: Meta, value: Any) -> bool:
    if isinstance(value, Mapping):
        meta.facts.update(flatten({"server": value}))
        value = " ".join(str(value[key]) for key in ("product", "version") if value.get(key))
    if value:
        meta.fields.setdefault("counterpart", read_field("counterpart", value)[0])
    return True


def _clients(meta: Meta, value: Any) -> bool:
    """A number of clients is a thread count. A list of client programs is what was measured."""
    if isinstance(value, int | str):
        meta.fields.setdefault("threads", read_field("threads", value)[0])
        return True
    return isinstance(value, list)


def _note(meta: Meta, value: Any) -> bool:
    meta.fields.setdefault("notes", read_field("notes", value)[0])
    return True


def _exit_code(meta: Meta, value: Any) -> bool:
    ended_well = str(value) == "0"
    if not ended_well:
        meta.warnings.append(f"the tool ended with exit code {value!s:.20}")
    return ended_well


_SPECIAL: dict[str, Callable[[Meta, Any], bool]] = {
    "options": _options,
    "hardware": _hardware,
    "environment": _environment,
    "configuration": _configuration,
    "server_config": _server_config,
    "state": _state,
    "server": _server,
    "clients": _clients,
    "note": _note,
    "exit_code": _exit_code,
}


def _settle_versions(meta: Meta, given: Mapping[str, Any]) -> None:
    """Product and version are the server's: where client programs were measured, it is their counterpart."""
    if isinstance(given.get("clients"), list):
        server = " ".join(filter(None, (meta.fields.pop("product", ""), meta.fields.pop("version", ""))))
        if server:
            meta.fields.setdefault("counterpart", server)
        if workload := meta.fields.pop("workload", None):
            meta.facts["described_as"] = workload
    elif "version" not in meta.fields and "version_full" in meta.facts:
        meta.fields["version"] = str(meta.facts["version_full"])


def _settle_hardware(meta: Meta) -> None:
    facts = meta.hardware_facts
    meta.environment = {**facts, **meta.environment}
    parts = [str(facts.get("cpu_model") or "")]
    if isinstance(cores := facts.get("cores"), int):
        parts.append(f"{cores} core{'s' * (cores != 1)}")
    if isinstance(memory := facts.get("ram_kib"), int | float):
        parts.append(f"{memory / 2**20:.0f} GiB")
    meta.hardware_name = ", ".join(parts)[:100] if parts[0] else ""
