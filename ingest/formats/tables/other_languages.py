"""Words of heads and titles in Chinese, in which much about MySQL and TiDB is published, and in German."""

import re
from functools import lru_cache

# Longer words first: each stands for what follows it.
_CHINESE = {
    "并发线程数": " threads ",
    "并发线程": " threads ",
    "线程数": " threads ",
    "线程": " threads ",
    "并发数": " concurrency ",
    "并发": " concurrency ",
    "连接数": " connections ",
    "客户端数": " clients ",
    "平均": " average ",
    "最大": " max ",
    "最小": " min ",
    "最低": " min ",
    "最高": " max ",
    "响应时间": " latency ",
    "延迟": " latency ",
    "时延": " latency ",
    "分位数": " percentile ",
    "分位": " percentile ",
    "吞吐量": " throughput ",
    "测试场景": " workload ",
    "测试用例": " workload ",
    "场景": " workload ",
    "负载": " workload ",
    "版本": " version ",
    "产品": " product ",
    "数据库": " database ",
    "資料庫": " database ",
    "併發數": " concurrency ",
    "併發": " concurrency ",
    "並發數": " concurrency ",
    "執行緒數": " threads ",
    "執行緒": " threads ",
    "延遲": " latency ",
    "備註": " notes ",
    "状态": " status ",
    "狀態": " status ",
    "性能提升": " improvement ",
    "提升": " improvement ",
    "使用率": " usage ",
    "利用率": " usage ",
    "毫秒": " ms ",
    "每秒事务数": " tps ",
    "每秒查询数": " qps ",
    "备注": " notes ",
    "说明": " notes ",
    "总数": " total ",
    "系统": " system ",
    "用户": " user ",
    "等待": " wait ",
}
_GERMAN = {
    **dict.fromkeys(("durchschnittliche", "durchschnitt", "mittlere", "mittelwert", "mittel"), "average"),
    **dict.fromkeys(("antwortzeiten", "antwortzeit"), "response time"),
    "abfragen": "queries",
    "anfragen": "requests",
    "anzahl": "number of",
    "bemerkung": "notes",
    "benutzer": "users",
    "datenbank": "database",
    "durchsatz": "throughput",
    "latenz": "latency",
    "maximale": "max",
    "millisekunden": "ms",
    "minimale": "min",
    ". perzentil": "th percentile",
    "perzentil": "percentile",
    "pro sekunde": "per second",
    "produkt": "product",
    "sekunden": "s",
    "szenario": "scenario",
    "transaktionen": "transactions",
    "verbesserung": "improvement",
    "verbindungen": "connections",
}
# Full-width signs, as Chinese is typed.
_SIGNS = str.maketrans("（）％，：／", "()%,:/")
_BY_LENGTH = sorted(_CHINESE, key=len, reverse=True)
_IN_GERMAN = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, _GERMAN))})(?![^\W\d_])", re.IGNORECASE)


@lru_cache(maxsize=1000)
def in_english(text: str) -> str:
    """Return a head or title with the words that are known in English; all else stays as it is."""
    text = _IN_GERMAN.sub(lambda word: _GERMAN[word.group().lower()], text.translate(_SIGNS))
    if text.isascii():
        return text
    for word in _BY_LENGTH:
        if word in text:
            text = text.replace(word, _CHINESE[word])
    return " ".join(text.split())
