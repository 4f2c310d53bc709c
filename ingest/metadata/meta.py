"""Reads the facts that lie beside a result file: keys of our ``*.meta.json``, and any field of an upload."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest.errors import FieldError, FieldsError
from ingest.formats.configuration import Content, read_content, switches_of
from ingest.metadata.fields import ARCHIVE_FIELDS, FIELDS, OF_THE_REQUEST, read_field
from ingest.metadata.values import flatten

# They belong to the request and not to the file.
_OF_THE_REQUEST = (*OF_THE_REQUEST, "meta", *ARCHIVE_FIELDS)
# Names of files that lay beside the result.
_NEIGHBOURS = ("output", "outputs", "vmstat", "iostat", "lscpu")
_ENVIRONMENT = ("pinning", "jdk", "runtime")
# Fields that hold for this one run only; the rest counts as options of the workload.
_OF_THE_RUN = (
    "command",
    "contention",
    "driver_class",
    "exit_code",
    "finished_at",
    "method",
    "night",
    "role",
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
    """The words of a meta. ``fields`` are clean values by the names of the fields of an upload.

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
    """Sort what a meta says. Raises FieldsError, with fields like ``meta.threads``, for malformed keys."""
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
    if _take_special(meta, name, value):
        return
    if name in _OF_THE_REQUEST:
        meta.warnings.append(f"'{name}' in meta means nothing there and was ignored")
    elif name in FIELDS:
        meta.fields[name], warning = read_field(name, value)
        meta.warnings += [warning.format(f"meta.{name}")] if warning else []
    elif name in _ENVIRONMENT:
        meta.environment.update(flatten({name: value}))
    elif name in _OF_THE_RUN:
        meta.facts.update(flatten({name: value}))
    elif name not in _NEIGHBOURS:
        meta.options.update(flatten({name: value}))


def _take_special(meta: Meta, name: str, value: Any) -> bool:
    """Take a key that has a meaning of its own; return whether nothing of it is left to be read."""
    match name, value:
        case "options", _:
            meta.options.update(flatten(read_field("options", value)[0]))
        case "hardware", Mapping():
            facts = dict(value)
            if machine := facts.pop("name", None):
                meta.fields["hardware"] = read_field("hardware", machine)[0]
            meta.hardware_facts.update(flatten(facts))
        case "environment", Mapping():
            meta.environment.update(flatten(value))
        case (("configuration" | "server_config"), Mapping()):
            lines = (f"{setting} = {said}\n" for setting, said in flatten(value).items())
            meta.content = read_content("".join(lines))
        case "server_config", str():
            meta.content = read_content(value)
        case "server_config", _:
            raise ValueError("must be the text of a configuration file, or a JSON object")
        case "state", str():
            meta.switches.update(switches_of(value) or {})
            return value == "base"
        case "server", _:
            if isinstance(value, Mapping):
                meta.facts.update(flatten({"server": value}))
                value = " ".join(str(value[key]) for key in ("product", "version") if value.get(key))
            if value:
                meta.fields.setdefault("counterpart", read_field("counterpart", value)[0])
        case "clients", int() | str():
            meta.fields.setdefault("threads", read_field("threads", value)[0])
        case "clients", list():
            pass  # the programs that were measured
        case "note", _:
            meta.fields.setdefault("notes", read_field("notes", value)[0])
        case "exit_code", _:
            if str(value) == "0":
                return True
            meta.warnings.append(f"the tool ended with exit code {value!s:.20}")
            return False
        case _:
            return False
    return True


def _settle_versions(meta: Meta, given: Mapping[str, Any]) -> None:
    """Take product and version for the counterpart where client programs were measured."""
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
