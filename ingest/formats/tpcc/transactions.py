"""The five transactions of TPC-C, as metrics and keys name them."""

WORKLOAD = "TPC-C"
NEW_ORDER = "new_order"
TRANSACTIONS = (NEW_ORDER, "payment", "order_status", "delivery", "stock_level")
