"""Words of heads and titles in Chinese, in which much about MySQL and TiDB is published."""

from ingest.formats.limits import remembering

_CHINESE = {
    "threads": "并发线程数 并发线程 线程数 线程 執行緒數 執行緒",
    "concurrency": "并发数 并发 併發數 併發 並發數",
    "connections": "连接数",
    "clients": "客户端数",
    "average": "平均",
    "max": "最大 最高",
    "min": "最小 最低",
    "latency": "响应时间 延迟 时延 延遲",
    "percentile": "分位数 分位",
    "throughput": "吞吐量",
    "workload": "测试场景 测试用例 场景 负载",
    "version": "版本",
    "product": "产品",
    "database": "数据库 資料庫",
    "notes": "備註 备注 说明",
    "status": "状态 狀態",
    "improvement": "性能提升 提升",
    "usage": "使用率 利用率",
    "ms": "毫秒",
    "tps": "每秒事务数",
    "qps": "每秒查询数",
    "total": "总数",
    "system": "系统",
    "user": "用户",
    "wait": "等待",
}
# Full-width signs, as Chinese is typed.
_SIGNS = str.maketrans("（）％，：／", "()%,:/")
# Longer words first: each stands for what follows it.
_FROM_CHINESE = sorted(
    ((word, f" {english} ") for english, words in _CHINESE.items() for word in words.split()),
    key=lambda pair: -len(pair[0]),
)


@remembering
def in_english(text: str) -> str:
    """Return a head or title with the words that are known in English; all else stays as it is."""
    if text.isascii():
        return text
    text = text.translate(_SIGNS)
    for word, english in _FROM_CHINESE:
        text = text.replace(word, english)
    return " ".join(text.split())
