"""Any answer as plain text, for those who read no structure: lines, and tables in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

# Six digits tell no more than whole numbers from here on.
_MAX_SHORT: Final = 1e6


def text_of(answer: Mapping[str, Any]) -> str:
    """Write ``name: value`` for what is single, and a table for a list of objects; null is left out."""
    return "\n\n".join(_blocks(answer, ""))


def _blocks(part: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield the lines of an object, and then what does not stand on a line; ``path`` leads to it."""
    lines, below = [path] if path else [], []
    for name, value in part.items():
        if _has_objects(value):
            below.append((f"{path} {name}".strip(), value))
        elif isinstance(value, Mapping):
            lines.append(f"{name}: {_in_line(_flat(value))}")
        elif text := _plain(value):
            lines.append(f"{name}: {text}")
    yield "\n".join(lines)
    for name, value in below:
        if isinstance(value, Mapping):
            yield from _blocks(value, name)
        elif any(map(_has_objects, value)):
            for number, one in enumerate(value, 1):
                yield from _blocks(one, f"{name} {number}")
        else:
            yield _table(name, [_flat(one) for one in value])


def _has_objects(value: Any) -> bool:
    """Tell whether there is a list of objects within, which a line cannot hold."""
    if isinstance(value, Mapping):
        return any(map(_has_objects, value.values()))
    return isinstance(value, list) and any(isinstance(one, Mapping) for one in value)


def _flat(part: Mapping[str, Any]) -> dict[str, str]:
    """Write the values of an object on one line each; those of objects within are ``outer.inner``."""
    flat: dict[str, str] = {}
    for name, value in part.items():
        if isinstance(value, Mapping):
            flat |= {f"{_plain(name)}.{inner}": text for inner, text in _flat(value).items()}
        else:
            flat[_plain(name)] = _plain(value)
    return flat


def _table(title: str, rows: Sequence[Mapping[str, str]]) -> str:
    """Write rows below each other; in the first line what is the same in all of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = {name: {row.get(name, "") for row in rows} for name in names}
    shared = [name for name in names if len(rows) > 1 and len(values[name]) == 1]
    of_all = _in_line({name: text for name in shared for text in values[name]})
    head = [name for name in names if name not in shared and values[name] != {""}]
    lines = [head, ["---"] * len(head), *([row.get(name, "") for name in head] for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{title}{of_all and f' (all: {of_all})'}:\n{table}"


def _in_line(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in values.items() if text)


def _plain(value: Any) -> str:
    """Write a value on one line; stored names may hold anything."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.6g}" if abs(value) < _MAX_SHORT else f"{value:.0f}"
        # Rounding makes nothing certain that is nearly so.
        return repr(value) if float(text).is_integer() and not value.is_integer() else text
    if isinstance(value, list):
        return "; ".join(map(_plain, value))
    return " ".join(str(value).replace("|", "\\|").split())
