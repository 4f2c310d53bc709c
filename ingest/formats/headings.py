"""The meaning of a heading above results: workload, product and version, thread count, setting.

Names over the columns of a table are read the same way: ``V4.2 [Zone1]``, ``MySQL 8.0.36``, ``64 threads``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from ingest.formats.product_names import KNOWN_PRODUCT, split_product_version

MAX_NAME_LENGTH = 100
_MAX_DIGITS = 10

_SETTING = re.compile(r"(?P<name>[A-Za-z][\w.-]*)\s*[=]\s*(?P<value>[^\s=][^=]{0,60})")
_THREAD_WORD = (
    r"threads?|thr|clients?|connections?|users?|sessions?|terminals?|vus(?:ers?)?|concurrency|线程|并发"
)
_THREADS = re.compile(
    rf"(?<![\w.])(?:(?P<before>[0-9][0-9,]{{0,9}})\s*+-?\s*+(?:concurrent\s++)?(?:{_THREAD_WORD})(?![A-Za-z])"
    rf"|(?:{_THREAD_WORD}|-t)\s*+(?:count)?\s*+[=:]?\s*+(?P<behind>[0-9][0-9,]{{0,9}})(?![\w.%]))",
    re.IGNORECASE,
)
_SHORT_THREADS = re.compile(r"(?P<before>[0-9]{1,5})\s?T(?P<behind>)")
_NO_VERSION = r"(?!\s*(?:[GMK]?Hz|[KMGT]i?B|ms|us|s|x|%)(?!\w))"
_VERSION = re.compile(
    r"(?<![\w.-])(?P<sign>v(?:ersion)?[ .]?)?"
    rf"(?P<version>[0-9]++(?:\.[0-9]++)++{_NO_VERSION}(?:[-+~.]?[A-Za-z0-9]++)*)"
    r"(?![%\w])",
    re.IGNORECASE,
)
_EDITION = r"(?:ce|ee|community|enterprise|server|cloud|edition|serverless|database)"
# Their versions are none of what was measured.
_TOOL_VERSION = re.compile(
    r"(?<![\w-])(?:sysbench|pgbench|(?:go-)?ycsb|go-tpc|hammerdb|benchbase|memtier(?:_benchmark)?|wrk2?|k6|jmeter"
    r"|docker(?:\s+(?:desktop|engine))?)[\s/:@-]*v?[0-9]+(?:\.[0-9]+)+[\w.+-]*",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"\b(?:vs|versus|against|compared\s+(?:to|with))\b\.?", re.IGNORECASE)
_PRODUCT_VERSION = re.compile(
    rf"(?<![\w.-])(?P<product>{KNOWN_PRODUCT})(?:(?:\s+{_EDITION})*[\s/_-]*v?(?P<version>[0-9]++(?:[-+~.][A-Za-z0-9]++)*)"
    r"(?![\w%]))?(?![A-Za-z])",
    re.IGNORECASE,
)
_OTHER_VERSION = re.compile(
    rf"(?:\b(?:vs|versus|against|and|to|or|with|than)\b\.?|[,/&]|→|->)\s*(?:(?P<product>{KNOWN_PRODUCT})[\s/_-]*)?"
    r"v?(?P<version>[0-9]+(?:\.[0-9]+)+)(?![\w%])",
    re.IGNORECASE,
)
_OUTLINE = re.compile(r"(?:[0-9]+\.(?:[0-9]+\.?)?|[0-9]+\)|[IVX]+\.|[A-Za-z][.)])\s+(?=\S)")
# Names that sysbench, pgbench, YCSB and those who write about them give workloads, and no settings such as
# read_buffer_size and table_open_cache, which begin with the same words.
_WORKLOAD = re.compile(
    r"""(?<![\w-])(?!\w{1,60}_(?:size|cache|cost|limit|timeout|selects)(?![\w-]))(?:
        (?:oltp|select|update|insert|delete|bulk|read|write|point|range|random|covered|hot|index|table|types)
            (?:_[a-z0-9]+)+
      | (?:oltp\s+)?(?:random[ -])?(?:point|range|primary\s+key|secondary\s+index|index|full\s+table|table)
            [ -]?(?:select|quer(?:y|ies)|lookup|scan|read|get|update)s?
      | (?:oltp[ -])?(?:read|write|select|insert|update|delete)[ -]?(?:only|mostly|heavy|intensive)
      | (?:oltp[ -])?read\s?[-/&+]?\s?write(?:\s+mix(?:ed)?)?
      | update[ -](?:non[ -])?index(?:ed)?
      | (?:bulk|batch|random|sequential)[ -](?:insert|load|read|write|update|delete)s?
      | tpc-?(?:c|h|b|ds)(?:-like)? | tpcb-like | simple-update
      | ycsb(?:[ -]?(?:workload)?[ -]?[a-f])? | workload[ -]?[a-f]
      | 点查询? | 点选 | 只读 | 只写 | 读写(?:混合)? | 索引更新 | 非索引更新
    )(?![\w-])""",
    re.IGNORECASE | re.VERBOSE,
)
_WORKLOAD_WORD = re.compile(
    r"(?:reads?|writes?|selects?|inserts?|updates?|deletes?|scans?|lookups?|mixed|gets?|puts?|sets?)",
    re.IGNORECASE,
)
# Words that tell nothing apart.
_EMPTY = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "by", "count", "counts", "for", "from", "in", "is", "number"),
        *("of", "on", "our", "over", "per", "release", "sysbench", "the", "to", "under", "using", "versus"),
        *("vs", "when", "with", "without"),
        *("benchmark", "benchmarks", "benchmarking", "comparison", "data", "detail", "details", "figure"),
        *("evaluation", "latency", "measurement", "measurements", "numbers", "overview", "performance"),
        *("pgbench", "queries", "query", "rate", "rates", "report", "response", "result", "results"),
        *("run", "runs", "summary", "table", "tables", "test", "tested", "testing", "tests"),
        *("thread", "threads", "throughput", "time", "times", "workload", "workloads"),
        *("测试结果", "测试", "性能测试结果汇总", "性能测试", "性能", "结果", "对比", "性能对比"),
    }
)
# The system that a benchmark ran on is no product that it measured.
_PLATFORMS = re.compile(
    r"(?:jdk|java|jvm|openjdk|graal\w*|corretto|zulu|temurin|node|python|jmh|ubuntu|debian|linux|kernel|windows"
    r"|macos|centos|rhel|fedora|docker|gcc|clang|go)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w.+/-]*|\[[^\]]{0,100}\]")


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a text about results; a field that it does not say is None.

    ``rest`` are its words without a meaning.
    ``settings`` are those that it gives a value: ``tidb_ddl_reorg_batch_size = 32``.
    """

    product: str | None = None
    version: str | None = None
    workload: str | None = None
    threads: int | None = None
    settings: dict[str, str] = field(default_factory=dict)
    rest: str = ""

    @property
    def is_empty(self) -> bool:
        named = (self.product, self.version, self.workload, self.threads)
        return all(value is None for value in named) and not self.settings and not self.rest

    def below(self, heading: "Said") -> "Said":
        """Return what stands below a heading with what the heading adds: not another product's version."""
        adds_product = self.version is None or heading.version is None
        adds_version = self.product is None or heading.product in (None, self.product)
        return Said(
            product=self.product or (heading.product if adds_product else None),
            version=self.version or (heading.version if adds_version else None),
            workload=self.workload or heading.workload,
            threads=self.threads if self.threads is not None else heading.threads,
            settings={**heading.settings, **self.settings},
            rest=self.rest or heading.rest,
        )


def said_by(text: str) -> Said:
    """Return what a heading, a caption or a name over a column says."""
    text = " ".join(text.split()).rstrip(":：")
    if outline := _OUTLINE.match(text):
        text = text[outline.end() :]
    if (found := _SETTING.fullmatch(text)) and not _THREADS.fullmatch(text):
        return Said(settings={found["name"]: found["value"].strip()})
    text = _TOOL_VERSION.sub(" ", text)
    said = Said()
    if (found := _THREADS.search(text)) and _count(found):
        said, text = replace(said, threads=_count(found)), _without(text, found)
    if found := _WORKLOAD.search(text):
        said, text = replace(said, workload=found.group()), _without(text, found)
    if (found := _PRODUCT_VERSION.search(text)) and not _is_of_several(text, found):
        said = replace(said, product=found["product"], version=found["version"])
        text = _without(text, found)
    if said.version is None and (found := _VERSION.search(text)) and _stands_alone(found, text):
        said = replace(said, version=found["version"])
        text = _without(text, found)
    if said.version and (other := _OTHER_VERSION.search(text)):
        # Figures of 10.11 against 11.4 are not all of 10.11.
        product = said.product if other["product"] in (None, said.product) else None
        said = replace(said, product=product, version=None)
    words = _words_of(text)
    if said.workload is None and len(words) == 1 and _WORKLOAD_WORD.fullmatch(words[0]):
        return replace(said, workload=words[0])
    return replace(said, rest=" ".join(words).strip("[]")[:MAX_NAME_LENGTH])


def said_by_all(texts: Iterable[str]) -> Said:
    """Return what several headings say together, the innermost first: it wins over those above it."""
    return reduce(Said.below, map(said_by, texts), Said())


def said_alone(text: str) -> Said:
    """Return what a text says that is only a version, with its product or not, a workload or threads."""
    said = said_by(text)
    is_one = (said.version, said.threads, said.workload).count(None) == 2
    if is_one and replace(said, product=None, version=None, threads=None, workload=None).is_empty:
        return said
    product, version = product_and_version(text)
    if version and _VERSION.fullmatch(version) and not _PLATFORMS.match(product or ""):
        return Said(product=product, version=version)
    return Said()


def thread_count(head: str) -> int | None:
    """Return the thread count that a name over a column is: ``64``, ``64 threads``, ``threads=64``."""
    text = head.strip()
    if is_count(text):
        digits = text.replace(",", "")
        return int(digits) if len(digits) <= _MAX_DIGITS else None
    found = _THREADS.fullmatch(text) or _SHORT_THREADS.fullmatch(text)
    return _count(found) if found else None


def is_count(text: str) -> bool:
    """Return whether a text is a whole number alone: ``512``, ``1,024``."""
    return _WHOLE_NUMBER.fullmatch(text) is not None


_WHOLE_NUMBER = re.compile(r"[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+")


def product_and_version(label: str) -> tuple[str | None, str | None]:
    """Return product and version of a column or row; a label that begins with a digit is a version alone."""
    label = label.strip()
    if found := _ONLY_VERSION.fullmatch(label):
        return None, found["version"]
    if label[:1].isdigit():
        return None, label
    product, version = split_product_version(label)
    if version is None and (found := _MAJOR_VERSION.fullmatch(label)):
        return found["product"], found["version"]
    return product, version


_MAJOR_VERSION = re.compile(
    rf"(?P<product>{KNOWN_PRODUCT})(?P<version>[0-9]{{1,2}}(?:\.[0-9]+)*)", re.IGNORECASE
)
_ONLY_VERSION = re.compile(r"v(?P<version>[0-9]++(?:\.[0-9]++)++\S*)", re.IGNORECASE)


def _stands_alone(found: re.Match[str], text: str) -> bool:
    """Return whether a version belongs to no word before it: Ubuntu 22.04 is no version of a product."""
    before = _WORD.findall(text[: found.start()])
    return bool(found["sign"]) or not before or before[-1].casefold() in _EMPTY


def _words_of(text: str) -> list[str]:
    words = _WORD.findall(text)
    # A of 'Product A' is a name, and no article.
    names = words[1:].count("A")
    return [
        word
        for at, word in enumerate(words)
        if word.casefold() not in _EMPTY or (names and at and word == "A")
    ]


def _is_of_several(text: str, found: re.Match[str]) -> bool:
    """Return whether a text sets a product against something else than another version of it."""
    if not (versus := _VERSUS.search(text)):
        return False
    other = text[versus.end() :] if found.start() < versus.start() else text[: versus.start()]
    return _VERSION.search(other) is None or bool(_words_of(_VERSION.sub(" ", other)))


def _count(found: re.Match[str]) -> int | None:
    digits = (found["before"] or found["behind"]).replace(",", "")
    return int(digits) or None


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
