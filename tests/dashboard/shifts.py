"""How far a page jumps while it is drawn, as the browser measures it."""

# A script for a page before it loads: ``window.shift`` sums the layout shifts that nobody asked for.
SHIFTS = (
    "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach("
    "entry => window.shift += entry.value)).observe({type: 'layout-shift', buffered: true})"
)
