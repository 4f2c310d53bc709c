"""Secrets are masked before anything is stored as a field, diffed, charted or mailed.

Too much is masked rather than too little: a masked setting costs a look into the raw file.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ingest.budget import check_budget
from ingest.masking.token_shapes import MIN_LENGTH, PASSWORD_HASHES, TOKEN, WEBHOOK

MASK = "***"

# Fields whose texts identify what was measured. Masked, two of them would become one.
IDENTITIES = frozenset(
    {
        *("product", "version", "build", "commit", "hardware", "workload", "configuration"),
        *("counterpart", "server", "branch", "base_branch", "session", "metric", "metrics", "map", "pattern"),
        "defaults",
    }
)
_SECRET_WORDS = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "secret",
    "token",
    "credential",
    "auth",
)
_SECRET_LAST_PARTS = frozenset(
    {"pw", "credentials", "secrets", "passwords", "authorization", "cookie", "signature"}
)
# Words that end in ``pass`` and mean no password, such as ``bypass`` and ``second_pass``.
_HARMLESS_WORDS = re.compile(r"(?:by|com|encom|sur|tres|over|under|one|two|single|multi|first|second)pass")
# ``password_encryption`` is a setting, but ``password_hash`` is nearly a password.
_SAYS_THE_SAME = frozenset({"hash", "value", "string", "text", "base64", "b64", "plain", "plaintext"})
_HARMLESS = frozenset(
    {
        "validate_password",
        "old_passwords",
        "log_raw_password",
        "skip_password",
        # Which plugin or method: ON, mysql_native_password, scram-sha-256.
        "default_auth",
        "require_auth",
        "secure_auth",
        "skip_auth",
    }
)
# The values of ``initdb --auth`` and pg_hba.conf.
_AUTH_METHODS = frozenset(
    {"trust", "reject", "md5", "scram-sha-256", "peer", "ident", "gss", "sspi", "ldap", "pam", "cert", "none"}
)
# Keys of a database, unlike an API key.
_KEY_THAT_ORDERS = re.compile(
    r"primary|foreign|unique|partition|sort|shard|index|secondary|composite|covering|distribution|dist|row|group"
    r"|join|order|cluster|clustering|range|duplicate|surrogate|natural|sequence|random|hot|cold|max|min|read"
)
_HARMLESS_KEY = re.compile(rf"(?:{_KEY_THAT_ORDERS.pattern}|mon|don|tur|hoc|joc|whis|lac|dic)keys?")
# The password of SNMP, unlike the Community Server of MySQL.
_COMMUNITY = re.compile(r"(?:snmp|ro|rw|read|write|get|set|trap)?community6?")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


_MAX_REMEMBERED_LENGTH = 100
# In longer texts, each pattern costs enough to look at the budget before it.
_MIN_COSTLY_LENGTH = 20_000


def names_a_secret(name: str) -> bool:
    """Return whether the value of an option, setting or variable of this name is to be masked.

    ``mysql-password``, ``-Djavax.net.ssl.keyStorePassword``, ``PGPASSWORD``, ``api_key``, ``wsrep_sst_auth``:
    yes; ``password_encryption``, ``key_buffer_size``, ``primary_key``: no.
    """
    # All runs of a file have the same names; a long one would only fill the memory.
    return _remembered(name) if len(name) <= _MAX_REMEMBERED_LENGTH else _names_a_secret(name)


def _names_a_secret(name: str) -> bool:
    parts = [part.lower() for part in _PARTS.findall(name.lstrip("-").removeprefix("D"))]
    if "_".join(parts) in _HARMLESS:
        return False
    while parts and (parts[-1].isdigit() or (len(parts) > 1 and parts[-1] in _SAYS_THE_SAME)):
        parts.pop()
    if not parts:
        return False
    last = parts[-1]
    if last in {"key", "keys"}:
        return len(parts) == 1 or _KEY_THAT_ORDERS.fullmatch(parts[-2]) is None
    if last.endswith(("key", "keys")):
        return _HARMLESS_KEY.fullmatch(last) is None
    last_two = "".join(parts[-2:])
    if _HARMLESS_WORDS.fullmatch(last_two):
        return False
    if _COMMUNITY.fullmatch(last_two):
        return True
    return "".join(parts).endswith(_SECRET_WORDS) or last in _SECRET_LAST_PARTS


_remembered = lru_cache(maxsize=1000)(_names_a_secret)


def mask_text(text: str) -> str:
    """Replace every secret in a text: in options, settings, URLs, JVM arguments, SQL."""
    if len(text) >= MIN_LENGTH:
        text = TOKEN.sub(MASK, text)
    if _PLAIN_WORD.fullmatch(text):
        return _mask_named_values(_USER_AND_ORACLE_PASSWORD.sub(rf"\1{MASK}", text)) if "=" in text else text
    text = _WORD_WITH_URL.sub(_without_user_info, text)
    if "@" in text:
        text = _ORACLE_LOGIN.sub(rf"\1{MASK}@", text)
    for pattern, replacement in _WHOLE_PATTERNS:
        if len(text) >= _MIN_COSTLY_LENGTH:
            check_budget()
        text = pattern.sub(replacement, text)
    text = _COMMAND_WITH_SECRETS.sub(_without_secret_options, text)
    if _CLIENT_COMMAND.search(text):
        text = _SHORT_PASSWORD_OPTION.sub(rf"\1{MASK}", text)
    for pattern in _SAID_IN_WORDS:
        text = pattern.sub(_without_value, text)
    return _mask_named_values(text)


def mask_identity(name: str) -> str:
    """Mask who signs in by a URL within a name that identifies, and nothing else.

    ``intKey=5`` and ``intKey=6`` are two workloads. What has the shape of a token is refused where names come
    in (``token_shapes.token_in``).
    """
    return _WORD_WITH_URL.sub(_without_sign_in, name) if "://" in name else name


def mask_said(said: Mapping[str, Any], *, named: Collection[str] = ()) -> dict[str, Any]:
    """Mask what a sender says, by the names of fields: all but the names that identify, and ``named``."""
    masked: dict[str, Any] = {}
    for field, value in said.items():
        if field == "meta" and isinstance(value, Mapping):
            masked[field] = mask_said(value)
        elif field in {"hardware", "server"} and isinstance(value, Mapping):
            masked[field] = mask_said(value, named=("name",))
        elif field in IDENTITIES or field in named:
            masked[field] = value
        else:
            masked |= mask_settings({field: value})
    return masked


def mask_path_map(path_map: Mapping[str, Any]) -> dict[str, Any]:
    """Mask the fields that parts of paths mean; the parts themselves are names."""
    masked = {name: mask_said(parts) for name, parts in path_map.items() if name == "fields"}
    for name in path_map.keys() - masked.keys():
        parts = path_map[name].items()
        masked[name] = {text: mask_said(one) if isinstance(one, Mapping) else one for text, one in parts}
    return masked


def mask_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping with masked values, nested ones included."""
    return {mask_text(name): _mask_setting(name, value) for name, value in settings.items()}


def mask_value(value: Any) -> Any:
    """Mask a value as JSON holds it throughout."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return mask_settings(value)
    if isinstance(value, list | tuple):
        return _mask_list(value)
    return value


def _mask_list(items: Sequence[Any]) -> list[Any]:
    """Mask each item as mask_value does, and the parts of a command line as mask_text does."""
    is_client = _CLIENT_COMMAND.search(" ".join(item for item in items if isinstance(item, str))) is not None
    programs = [found for item in items if isinstance(item, str) and (found := _PROGRAM.fullmatch(item))]
    secret_option = _SECRET_OPTIONS[programs[0].lastgroup or ""] if programs else None
    masked: list[Any] = []
    for before, item in zip(("", *items), items, strict=False):
        if isinstance(item, str) and _wants_a_secret(before) and not item.startswith("-"):
            masked.append(MASK)
        elif isinstance(item, str) and is_client and _SHORT_PASSWORD_OPTION.fullmatch(item):
            masked.append(f"-p{MASK}")
        elif secret_option and isinstance(item, str) and secret_option.match(f"{before} {item}"):
            masked.append(MASK)
        elif (
            isinstance(item, str)
            and isinstance(before, str)
            and before in _USER_OPTIONS
            and (user := _USER_AND_PASSWORD.fullmatch(item))
        ):
            masked.append(f"{user[1]}{MASK}")
        else:
            masked.append(mask_value(item))
    return masked


def _wants_a_secret(option: Any) -> bool:
    """Return whether an option is like ``--password``, whose value is the next word."""
    is_bare = isinstance(option, str) and option.startswith("-") and "=" not in option
    return is_bare and names_a_secret(option)


def _mask_setting(name: str, value: Any) -> Any:
    if names_a_secret(name) and value not in (None, "", True, False) and not _is_a_method(name, value):
        return MASK
    if isinstance(value, str) and (user := _USER_AND_ORACLE_PASSWORD.search(f"{name}={value}")):
        return user[1].partition("=")[2] + MASK
    return mask_value(value)


def _is_a_method(name: str, value: Any) -> bool:
    """Return whether a value such as that of ``auth=trust`` says how to sign in, and is no secret."""
    return isinstance(value, str) and value.lower() in _AUTH_METHODS and name.lower().endswith("auth")


_QUOTED = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.|\'\')*\''

# Most names and keys are one. The only secrets in it are tokens of our own and values behind their names.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./=-]*")
_WORD_WITH_URL = re.compile(r"[^\s\"]+")


# ``user:password``, but not the numbers of a user and a group.
_USER_AND_PASSWORD = re.compile(r"\A(?!\d+:\d+\Z)([^\s:]+:).+", re.DOTALL)
_USER_OPTIONS = frozenset({"-u", "-U", "--user", "--proxy-user"})


# ``user=scott/tiger``, as Oracle's programs want it; no path
_USER_AND_ORACLE_PASSWORD = re.compile(
    r"(?<![A-Za-z0-9])((?:user|User|USER)(?:_?id|_?name|ID|_?NAME)?[\"']?[ \t]?=[ \t]?[\"']?"
    r"[A-Za-z_][\w$#]{0,127}/)[^\s/\"'@;&,]{1,200}+(?!/)"
)
# ``scott/tiger@host`` of Oracle; behind other @ stands a number, a version or a commit
_ORACLE_LOGIN = re.compile(
    r"(?<![^\s\"'=:(,])((?:[A-Za-z_][\w$#.-]{0,127}|\"[^\"\n]{1,127}\")/)"
    r"(?:\"[^\"\n]{1,200}\"|[^\s/\"'()]{1,200})@(?=[\w/(\[])"
    r"(?!\d(?!\d{0,2}(?:\.\d{1,3}){3})|v\d+(?:\.\d+){0,3}(?!\w)|sha\d+:|[0-9a-f]{7,40}(?!\w)|(?:main|master|latest|HEAD)\b)"
)


def _without_user_info(word: re.Match[str]) -> str:
    """Mask what stands before the last @: passwords that hold one are not always quoted."""
    scheme, separator, rest = word[0].partition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{MASK}@{host}" if at else word[0]


def _without_sign_in(word: re.Match[str]) -> str:
    scheme, separator, rest = _without_user_info(word).partition("://")
    return scheme + separator + _mask_named_values(rest)


# Masked wherever they stand, whatever they are called.
_WHOLE_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
        ),
        rf"\1{MASK}\2",
    ),
    # user:password@tcp(host)/db, as Go's drivers write it
    (re.compile(r"(?<![^\s\"'=])[^\s\"'=:@]+:[^\s\"']{0,500}@(?=\w*\()"), f"{MASK}@"),
    (re.compile(r"\b((?:Bearer|bearer|BEARER)\s+)[^\s\"',]+"), rf"\1{MASK}"),
    (re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?)[^\"'\n]+"), rf"\1{MASK}"),
    (
        re.compile(
            r"(?i)\b((?:identified\s++(?:(?:with|via)\s++\S++\s++)?(?:by|as|using)\s++|password\s++|password\s*+\()"
            rf"(?:password\s*+)?\(?\s*+)(?:{_QUOTED})"
        ),
        rf"\1'{MASK}'",
    ),
    # The only short options that hold a password of programs that are not MySQL's.
    (
        re.compile(
            r"\b((?:sshpass\s+-p|redis-(?:cli|benchmark)\b[^\n|;&]{0,200}?\s-a"
            r"|mongo(?:sh|s|dump|restore|export|import|stat|top)?(?=\s)[^\n|;&]{0,200}?\s-p(?=\s)"
            r"|(?:sqlcmd|bcp|isql|tsql)\b[^\n|;&]{0,200}?\s-P)\s*)"
            rf"(?:(?:{_QUOTED})|[^\s\"']+)"
        ),
        rf"\1{MASK}",
    ),
    # user:password behind -u and --user, as curl, wget and others want it; not the numbers of user and group
    (
        re.compile(
            r"((?<![^\s\"'`(])(?:-[uU][ \t]+|--(?:proxy-)?user(?:[ \t]+|=)|-[uU][\"'][ \t,]+(?=[\"'])))"
            r"(?!\d+:\d+(?!\S))"
            r"(?:(\"[^\s:\"]+:)(?:[^\"\\\n]|\\.)+(?=\")|('[^\s:']+:)[^'\n]+(?=')"
            r"|([^\s:\"'=/]+:)(?:\\.|[^\s\"'])+)"
        ),
        rf"\1\2\3\4{MASK}",
    ),
    (re.compile(r"(curl\b[^\n|;&]{0,200}?\s-[uU][^\s:\"'-][^\s:\"']*:)[^\s\"']+"), rf"\1{MASK}"),
    (_USER_AND_ORACLE_PASSWORD, rf"\1{MASK}"),
    # snmpd.conf, and routers
    (
        re.compile(
            r"(?m)^([ \t]*(?:r[ow]community6?|snmp-server[ \t]+community|com2sec6?(?:[ \t]+\S+){2}"
            rf"|community(?=[ \t]+[\"']))[ \t]+)(?:{_QUOTED}|\S)\S*"
        ),
        rf"\1{MASK}",
    ),
    # redis: user default on >password
    (re.compile(r"(user[ \t]+\S+[ \t]+on\b[^\n>]{0,200}?[ \t]>)\S+"), rf"\1{MASK}"),
    # .netrc
    (re.compile(rf"(login\s+\S+\s+password\s+)(?:(?:{_QUOTED})|\S+)"), rf"\1{MASK}"),
    (WEBHOOK, rf"\1{MASK}"),
    *((pattern, MASK) for pattern in PASSWORD_HASHES),
)

_SHORT_QUOTED = r"\"(?:[^\"\\\n]|\\.){0,200}\"|'[^'\n]{0,200}'"
_ONE_ARGUMENT = rf"(?!-|\"\"|'')(?:{_SHORT_QUOTED}|[^\s\"'])++"
# By program: the short options that hold a secret. MySQL's own programs ask for the password where a blank
# follows: behind it a number is a port, a path belongs to mkdir -p, and name=value is a property of YCSB.
_PROGRAMS = {
    "mysql": (
        r"(?:mysql|mariadb)[\w-]{0,40}",
        r"-p[ \t]+(?!/|[\w.]{1,100}=|(?:[\d.]{1,15}:)?\d{1,5}(?::\d{1,5})?(?:/\w+)?(?!\S))",
    ),
    "others": (
        r"tpcc_(?:start|load)|mydumper|myloader|innobackupex|xtrabackup|swingbench|charbench|oewizard",
        r"-p[ \t]+",
    ),
    "keygen": (r"ssh-keygen", r"-[NP][ \t]*"),
    "openssl": (r"openssl", r"-k[ \t]+"),
    "zip": (r"(?:un)?zip", r"-P[ \t]*"),
    "sevenzip": (r"7z[ar]?", r"-p"),
    "snmp": (r"snmp[a-z]{2,20}", r"-[cAX][ \t]*"),
}
_PROGRAM_NAMES = "|".join(f"(?P<{name}>{programs})" for name, (programs, _) in _PROGRAMS.items())
_PROGRAM = re.compile(rf"(?:.{{0,1000}}/)?(?:{_PROGRAM_NAMES})(?:\.exe)?")
_SECRET_OPTIONS = {
    name: re.compile(rf"(?<!\S)({option}){_ONE_ARGUMENT}") for name, (_, option) in _PROGRAMS.items()
}
_COMMAND_WITH_SECRETS = re.compile(
    rf"(?<![\w.-])(?=[7cimostuxz])(?:{_PROGRAM_NAMES})(?:\.exe)?[\"']?(?=[ \t])"
    rf"(?P<options>(?:{_SHORT_QUOTED}|[^\n|;&]){{1,1000}}+)"
)


def _without_secret_options(command: re.Match[str]) -> str:
    name = next(name for name in _PROGRAMS if command[name])
    program = command[0].removesuffix(command["options"])
    return program + _SECRET_OPTIONS[name].sub(rf"\1{MASK}", command["options"])


# ``-pSECRET`` is a password to MySQL's and MariaDB's programs, and something else to many others.
_CLIENT_COMMAND = re.compile(r"(?<![^\s/;|&(`\"'])(?:mysql|mariadb)[\w.-]*(?![^\s`\"'])|(?<!\S)-u\s?[^\s-]")
_SHORT_PASSWORD_OPTION = re.compile(rf"(?<![^\s\"'])(-p)(?:(?>{_QUOTED})|\\.|\S)(?:\\.|\S)*+")

_ONE_VALUE = rf"(?:{_QUOTED}|{{[^}}\n]*}}|[^\s=:|\"'{{][^\s;]*)"
# Commands and files that put a blank between the name and the value.
_SAID_IN_WORDS = (
    # HammerDB's diset connection mysql_pass X, Tcl's set, csh's setenv, redis' CONFIG SET
    re.compile(
        r"(?i)(?P<before>\b(?:[dg]iset[ \t]+\S+|config[ \t]+set|setenv|set)[ \t]+"
        r"(?P<name>[A-Za-z][\w.-]*)[ \t]+)"
        rf"(?!to[ \t]|=)(?P<value>{_ONE_VALUE})"
    ),
    # HammerDB's answer
    re.compile(
        r"(?i)(?P<before>\bchanged[ \t]+(?:\w+:)?(?P<name>[A-Za-z][\w.-]*)[ \t]+from[ \t]+)"
        r"(?P<value>\S+)(?P<between>[ \t]+to[ \t]+)(?P<other>\S+)"
    ),
    # redis.conf: requirepass X
    re.compile(rf"(?m)(?P<before>^[ \t]*(?P<name>[A-Za-z][\w.-]*)[ ]+)(?P<value>{_ONE_VALUE})(?=[ \t\r]*$)"),
)
# ``key value`` and ``token count`` may be words of a sentence, or the head of a table.
_IS_NO_WORD = re.compile(r"\w[._-]\w|[a-z][A-Z]|(?i:passw|\wpass|\wauth)")


def _without_value(said: re.Match[str]) -> str:
    name = said["name"]
    # The word before it says that it is the name of a setting.
    is_setting = said["before"].lower().startswith(("diset", "giset")) or _IS_NO_WORD.search(name)
    if not is_setting or not names_a_secret(name) or _is_a_method(name, said["value"]):
        return said[0]
    groups = said.groupdict()
    between = groups.get("between")
    return said["before"] + _masked_like(said["value"]) + (f"{between}{MASK}" if between else "")


_NAMED = re.compile(
    r"""
    (?P<before>(?<![\w.-])-{0,2})
    (?P<name>[\w.][\w.-]*+)
    (?P<close>\\?["'\])]{0,2})
    (?P<separator>(?<=["'])\s*:\s*|[ \t]*(?:=>|:=|[=:|])[ \t]*|[ ]*\t[ \t]*|[ ]+)
    """,
    re.VERBOSE,
)
_MAX_INDENT = 300
# ``-password secret``, as Java's tools have it
_MIN_LONG_OPTION = 4
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:(?:export|set|SET)[ \t]+)?\Z")

_REST_OF_WORD = r"(?:\\.|\S)*"
_WORD = re.compile(
    rf"""\\"(?:(?!\\").)*(?:\\")?{_REST_OF_WORD}|(?:{_QUOTED}){_REST_OF_WORD}|[\[{{][^\]}}]*[\]}}]?{_REST_OF_WORD}"""
    rf"|{_REST_OF_WORD}"
)
_QUOTED_VALUE = re.compile(rf"""\\"(?:(?!\\").)*\\"|{_QUOTED}""")
_URL_PARAMETER = re.compile(rf"\{{[^}}]*\}}|{_QUOTED}|[^&;\s\"']*")
_CELL = re.compile(r"[^|\t\n]*[^|\t\n ]")
_REST_OF_LINE = re.compile(rf"(?:{_QUOTED})\S*|[^\n]*")


def _mask_named_values(text: str) -> str:
    """Mask what follows a name of a secret, in any of the ways in which text joins names and values."""
    done, position, pieces = 0, 0, []
    while match := _NAMED.search(text, position):
        position = match.end()
        if not names_a_secret(match["before"] + match["name"]):
            continue
        value = _value_after(text, match)
        if value is None or value.start() == value.end() or _is_a_method(match["name"], value[0]):
            continue
        pieces += [text[done : value.start()], _masked_like(value[0])]
        done = position = value.end()
    return "".join([*pieces, text[done:]])


def _value_after(text: str, match: re.Match[str]) -> re.Match[str] | None:
    start, before, separator = match.start(), match["before"], match["separator"]
    if not separator.strip(" "):
        # ``--password secret``, but not the words of a sentence, and not ``--password --host``
        is_word = len(match["name"]) >= _MIN_LONG_OPTION or match["name"] == "pw"
        is_long = before == "--" or (before == "-" and is_word)
        is_option = is_long and not text.startswith("-", match.end())
        return _WORD.match(text, match.end()) if is_option else None
    if "|" in separator or not separator.strip():
        if match["name"].lower() == "community":  # a column of a table of editions
            return None
        return _CELL.match(text, match.end())
    if text[start - 1 : start] in {"?", "&", ";"}:
        return _URL_PARAMETER.match(text, match.end())
    if match["close"] and (quoted := _QUOTED_VALUE.match(text, match.end())):
        return quoted
    if (
        not before
        and not match["name"].isupper()
        and _LINE_START.search(text, max(0, start - _MAX_INDENT), start)
    ):
        return _REST_OF_LINE.match(text, match.end())
    return _WORD.match(text, match.end())


def _masked_like(value: str) -> str:
    """Return the mask in the quotes that the value had."""
    for quote in ('\\"', '"', "'"):
        if len(value) >= 2 * len(quote) and value.startswith(quote) and value.endswith(quote):
            return quote + MASK + quote
    return MASK
