"""Charts: one neutral figure, and its writers for Plotly, SVG and PNG."""
