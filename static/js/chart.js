// Draws the figures of a page. The only file that knows Plotly, and fetches it for a page that has a chart.

const SOURCE = document.querySelector("script[data-plotly]").dataset.plotly;

const CONFIG = { displayModeBar: false, displaylogo: false, scrollZoom: false, doubleClick: "reset" };
const NARROW = 440;
const SHALLOW = 300;
const BARE = { l: 48, r: 8, t: 8, b: 24 };
const LABEL_HEIGHT = 15;
const LABEL_GAP = 8;
const LONGEST_NAME_OF_A_ROW = 26;
const MOST_TICKS = 8;
const TOKEN = /^var\((--[\w-]+)\)$/;

// --- colours: tokens of base.css, as they are in the theme of this moment ---

const colours = new Map();

function colourOf(token) {
  if (!colours.has(token)) {
    const probe = document.createElement("span");
    probe.style.color = `var(${token})`;
    document.body.append(probe);
    colours.set(token, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(token);
}

// A copy of a figure's part with colours in place of tokens.
function painted(part) {
  if (Array.isArray(part)) return part.map(painted);
  if (part && typeof part === "object") {
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, painted(value)]));
  }
  const token = typeof part === "string" && part.match(TOKEN);
  return token ? colourOf(token[1]) : part;
}

// --- names at the ends of lines, kept apart from each other ---

// Names come as Plotly reads them, with entities in place of what it would take for tags.
function textOf(markup) {
  return new DOMParser().parseFromString(markup, "text/html").body.textContent;
}

function markupOf(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

// Both ends of a long name, as in benchdash/charts/figure.py.
function shortened(markup, longest) {
  const text = textOf(markup);
  const half = Math.floor((longest - 1) / 2);
  return text.length <= longest ? markup : markupOf(`${text.slice(0, half).trimEnd()}…${text.slice(-half).trimStart()}`);
}

function textWidth(text) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return context.measureText(text).width;
}

function namedLines(data) {
  return data.filter((trace) => trace.name && trace.showlegend !== false && trace.visible !== "legendonly");
}

function lineEnd(trace) {
  for (let i = trace.y.length - 1; i >= 0; i -= 1) {
    if (Number.isFinite(trace.y[i])) return trace.y[i];
  }
  return null;
}

// Top to bottom, each at least a label's height below the one before, the whole kept within the plot.
function spread(labels, height) {
  labels.sort((a, b) => a.at - b.at);
  let floor = LABEL_HEIGHT / 2;
  for (const label of labels) {
    label.to = Math.max(label.at, floor);
    floor = label.to + LABEL_HEIGHT;
  }
  let ceiling = height - LABEL_HEIGHT / 2;
  for (const label of labels.toReversed()) {
    label.to = Math.min(label.to, ceiling);
    ceiling = label.to - LABEL_HEIGHT;
  }
}

// As long as the margin beside the plot leaves room for.
function fitting(markup, room) {
  const text = textOf(markup);
  const width = textWidth(`● ${text}`);
  return width <= room ? markup : shortened(markup, Math.floor((text.length * room) / width));
}

// Where the names of lines stand: at is the height of a line's end, to that of its name, in px from the plot's top.
function endLabels(plot) {
  const axis = plot._fullLayout.yaxis;
  const room = plot._fullLayout.margin.r - LABEL_GAP;
  const labels = [];
  for (const trace of namedLines(plot.data)) {
    const end = lineEnd(trace);
    if (end === null || (axis.type === "log" && end <= 0)) continue;
    const linear = axis.d2l(end);
    const colour = trace.line?.color ?? trace.marker?.color ?? colourOf("--ink");
    labels.push({ name: fitting(trace.name, room), colour, linear, at: axis.l2p(linear) });
  }
  spread(labels, axis._length);
  return labels;
}

// As elements: annotations of Plotly would need the axes first, and then the whole chart to be drawn again.
function endNames(plot) {
  const { xaxis, yaxis } = plot._fullLayout;
  const names = document.createElement("div");
  names.className = "chart-ends";
  for (const { name, colour, to } of endLabels(plot)) {
    const element = document.createElement("span");
    const dot = document.createElement("span");
    dot.style.color = colour;
    dot.textContent = "●";
    element.append(dot, ` ${textOf(name)}`);
    element.style.left = `${xaxis._offset + xaxis._length + LABEL_GAP / 2}px`;
    element.style.top = `${yaxis._offset + to}px`;
    names.append(element);
  }
  return names;
}

// For a picture.
function endAnnotations(plot) {
  return endLabels(plot).map(({ name, colour, linear, at, to }) => ({
    xref: "paper",
    x: 1,
    xanchor: "left",
    xshift: LABEL_GAP / 2,
    yref: "y",
    y: linear,
    yshift: at - to,
    text: `<span style="color:${colour}">●</span> ${name}`,
    showarrow: false,
    font: { size: 12, color: colourOf("--ink") },
  }));
}

// --- one chart ---

class Chart {
  constructor(element) {
    this.element = element;
    this.plot = element.querySelector(".chart-plot");
    this.figure = JSON.parse(document.getElementById(element.dataset.chart).textContent);
    this.scaleName = element.dataset.scale;
    const asked = this.scaleName && new URLSearchParams(location.search).get(this.scaleName);
    this.log = asked ? asked === "log" : this.figure.layout.yaxis?.type === "log";
    this.width = 0;
  }

  get isNarrow() {
    return this.plot.clientWidth < NARROW;
  }

  // In a small frame: a legend beside them leaves no room for the lines.
  get isShallow() {
    return this.isNarrow && this.plot.clientHeight < SHALLOW;
  }

  get hasEndLabels() {
    return Boolean(this.figure.layout.meta?.end_labels) && !this.isNarrow;
  }

  layout() {
    const layout = painted(this.figure.layout);
    layout.width = this.plot.clientWidth;
    layout.height = this.plot.clientHeight;
    // A finger that scrolls the page must not draw a zoom box.
    if (matchMedia("(pointer: coarse)").matches) layout.dragmode = false;
    if (this.scaleName) {
      for (const name of Object.keys(layout).filter((key) => /^yaxis\d*$/.test(key))) {
        layout[name].type = this.log ? "log" : "linear";
        if (this.log) Object.assign(layout[name], { dtick: "D2", tickformat: ",~f" });
        else for (const key of ["dtick", "tickformat"]) delete layout[name][key];
      }
    }
    if (this.isNarrow && layout.yaxis?.title?.text) {
      layout.yaxis.title.text = layout.yaxis.title.text.replace(", ", "<br>");
    }
    if (this.isNarrow) Object.assign(layout, layout.meta?.narrow);
    if (this.isNarrow) this.narrowTicks(layout);
    if (this.hasEndLabels) {
      const widest = Math.max(0, ...namedLines(this.figure.data).map((trace) => textWidth(`● ${textOf(trace.name)}`)));
      layout.margin = { ...layout.margin, r: Math.min(widest + 16, layout.width / 3) };
      layout.showlegend = false;
    } else if (layout.showlegend || layout.meta?.end_labels) {
      layout.showlegend = true;
      const below = this.isShallow ? { yref: "container", y: 0, yanchor: "bottom" } : { y: -0.2, yanchor: "top" };
      if (this.isNarrow) layout.legend = { ...layout.legend, orientation: "h", x: 0, ...below };
    }
    if (this.isShallow && layout.xaxis) layout.xaxis.tickangle = 0;
    return layout;
  }

  // Labels that find no room would be turned, or take the room of the plot.
  narrowTicks({ xaxis, yaxis, meta }) {
    if (meta?.few_ticks) Object.assign(xaxis, meta.few_ticks);
    if (xaxis?.nticks) xaxis.nticks = Math.ceil(xaxis.nticks / 4);
    if (xaxis?.ticktext?.length > MOST_TICKS && xaxis.type === "log") {
      xaxis.ticktext = xaxis.ticktext.map((text, i, all) => ((all.length - 1 - i) % 2 ? "" : text));
    }
    if (yaxis?.ticktext) yaxis.ticktext = yaxis.ticktext.map((text) => shortened(text, LONGEST_NAME_OF_A_ROW));
  }

  async draw() {
    this.width = this.plot.clientWidth;
    this.whole = null;
    const drawn = (layout) => Plotly.react(this.plot, painted(this.figure.data), layout, CONFIG);
    try {
      await drawn(this.layout());
    } catch (error) {
      if (!this.isShallow) throw error;
      Plotly.purge(this.plot);
      await drawn({ ...this.layout(), showlegend: false, annotations: [], margin: BARE });
    }
    this.whole = this.ranges();
    await this.zoomAsAsked();
    this.nameEnds();
    this.markFlag();
    this.showScale();
  }

  // --- the part that is shown, in the address: the ends of both axes, versions by their names ---

  get zoomName() {
    return `zoom-${this.element.id.replace("chart-", "")}`;
  }

  ranges() {
    const { xaxis, yaxis } = this.plot.layout;
    return [xaxis?.range, yaxis?.range].map((range) => range?.map(String).join("~") ?? "");
  }

  // A version may be at another place tomorrow.
  named(ends) {
    const names = this.figure.layout.xaxis?.categoryarray;
    if (!names) return ends;
    const [from, to] = [Math.ceil(ends[0]), Math.floor(ends[1])].map((at) => Math.min(Math.max(at, 0), names.length - 1));
    return [names[from], names[to]];
  }

  placed(ends) {
    const names = this.figure.layout.xaxis?.categoryarray;
    if (!names) return ends;
    const [from, to] = ends.map((name) => names.indexOf(name));
    return from < 0 || to < from ? null : [from - 0.5, to + 0.5];
  }

  keepZoom() {
    if (!this.whole) return;
    const { xaxis, yaxis } = this.plot.layout;
    const [x, y] = this.ranges();
    const shown = {
      x: x && x !== this.whole[0] && this.named(xaxis.range),
      y: y && y !== this.whole[1] && yaxis.range.map((end) => Number(end).toPrecision(5)),
    };
    const address = new URL(location.href);
    for (const [axis, ends] of Object.entries(shown)) {
      if (ends) address.searchParams.set(`${this.zoomName}-${axis}`, ends.join("~"));
      else address.searchParams.delete(`${this.zoomName}-${axis}`);
    }
    history.replaceState(history.state, "", address);
    this.curateView();
  }

  async zoomAsAsked() {
    const asked = new URLSearchParams(location.search);
    const [x, y] = ["x", "y"].map((axis) => asked.get(`${this.zoomName}-${axis}`)?.split("~"));
    const change = {};
    const ends = x?.length === 2 && this.placed(x);
    if (ends) change["xaxis.range"] = ends;
    if (y?.length === 2 && y.every((end) => Number.isFinite(Number(end)))) change["yaxis.range"] = y.map(Number);
    if (Object.keys(change).length) await Plotly.relayout(this.plot, change);
  }

  nameEnds() {
    this.plot.querySelector(".chart-ends")?.remove();
    if (this.hasEndLabels) this.plot.append(endNames(this.plot));
  }

  async start() {
    await this.draw();
    this.plot.on("plotly_click", ({ points }) => {
      const link = points[0]?.data.meta?.links?.[points[0].pointIndex];
      if (link && this.curation) this.choose(points[0], link);
      else if (link) location.assign(link);
    });
    // The ends move when the vertical axis does.
    this.plot.on("plotly_relayout", (change) => {
      const changed = Object.keys(change);
      if (changed.some((key) => key.startsWith("yaxis"))) this.nameEnds();
      if (changed.some((key) => /^xaxis\.(range|autorange)/.test(key))) this.tickZoomed();
      if (changed.some((key) => /^[xy]axis\.(range|autorange)/.test(key))) this.keepZoom();
    });
  }

  // The chosen labels are those of the whole; a part of it gets labels of its own.
  tickZoomed() {
    const { range, tickmode } = this.figure.layout.xaxis;
    if (!range || tickmode !== "array" || !this.figure.layout.meta?.few_ticks) return;
    const isWhole = range.every((end, i) => String(end) === String(this.plot.layout.xaxis.range[i]));
    Plotly.relayout(this.plot, { "xaxis.tickmode": isWhole ? "array" : "auto" });
  }

  // --- excluding and annotating, for who may: of a group that was clicked, or of what is in view ---

  get curation() {
    return document.querySelector(`[data-curation-of="${CSS.escape(this.element.id)}"]`);
  }

  choose({ data, pointIndex }, link) {
    const time = data.meta.times[pointIndex];
    this.curate("group", time, time);
    const chosen = this.curation.querySelector(".curation-point");
    chosen.hidden = false;
    chosen.querySelector("span").textContent = textOf(data.text[pointIndex].replaceAll("<br>", ", "));
    chosen.querySelector("a").href = link;
    this.curation.querySelector("button").focus();
  }

  curateView() {
    if (!this.curation) return;
    this.curation.querySelector(".curation-point").hidden = true;
    const times = this.timesInView().sort();
    if (this.ranges()[0] === this.whole[0] || !times.length) this.curate("all");
    else this.curate("view", times[0], times.at(-1));
  }

  curate(what, since = "", until = "") {
    const form = this.curation;
    for (const [name, value] of Object.entries({ since, until })) {
      form.elements[name].value = value;
      form.elements[name].disabled = !value;
    }
    const button = form.querySelector("button");
    button.textContent = button.dataset[what];
  }

  timesInView() {
    const names = this.figure.layout.xaxis.categoryarray;
    const at = (x) => (names ? names.indexOf(x) : Date.parse(x));
    const [from, to] = names ? this.plot.layout.xaxis.range : this.plot.layout.xaxis.range.map((end) => Date.parse(end));
    return this.figure.data.flatMap(({ x, meta }) => meta?.times?.filter((_, i) => at(x[i]) >= from && at(x[i]) <= to) ?? []);
  }

  // --- flags: numbers above the chart, and a list with the same numbers beneath it ---

  get flags() {
    return document.getElementById(this.element.id.replace(/chart-(.*)$/, "$1-flags"));
  }

  step(by) {
    const changes = [...this.flags.querySelectorAll("[data-change]")].toReversed();
    const at = changes.findIndex((row) => row.matches(".is-chosen"));
    const next = at < 0 ? changes.length - 1 : at + by;
    if (changes[next]) this.chooseFlag(changes[next]);
  }

  chooseFlag(row) {
    const changes = [...this.flags.querySelectorAll("[data-change]")];
    for (const other of this.flags.querySelectorAll(".is-chosen")) other.classList.remove("is-chosen");
    row.classList.add("is-chosen");
    row.scrollIntoView({ block: "nearest" });
    this.element.scrollIntoView({ block: "nearest" });
    for (const button of this.flags.querySelectorAll("[data-step]")) {
      const end = button.dataset.step < 0 ? changes.at(-1) : changes[0];
      button.setAttribute("aria-disabled", String(row === end));
    }
    const said = this.flags.querySelector(".history-step");
    if (said) said.textContent = row.dataset.change ? `${row.dataset.flag}: ${row.dataset.change}` : "";
    this.markFlag();
  }

  // A thick frame around the number of the chosen row.
  markFlag() {
    const chosen = this.flags?.querySelector(".is-chosen")?.dataset.flag;
    const { annotations = [] } = (this.isNarrow && this.figure.layout.meta?.narrow) || this.figure.layout;
    const change = {};
    for (const [i, { name, borderwidth }] of (this.plot.layout.annotations ?? []).entries()) {
      if (!name?.startsWith("flag-")) continue;
      const isChosen = name === `flag-${chosen}`;
      if (isChosen === borderwidth > 1) continue;
      change[`annotations[${i}].borderwidth`] = isChosen ? 3 : 1;
      change[`annotations[${i}].bordercolor`] = isChosen ? colourOf("--ink") : painted(annotations[i].bordercolor);
    }
    if (Object.keys(change).length) Plotly.relayout(this.plot, change);
  }

  showScale() {
    const button = this.element.querySelector("[data-tool=scale]");
    if (!button) return;
    button.hidden = false;
    button.setAttribute("aria-pressed", String(this.log));
    button.title = this.log ? "Logarithmic; click for linear" : "Linear; click for logarithmic";
  }

  toggleScale() {
    this.log = !this.log;
    const address = new URL(location.href);
    address.searchParams.set(this.scaleName, this.log ? "log" : "linear");
    // The same ends mean something else on the other scale.
    address.searchParams.delete(`${this.zoomName}-y`);
    history.replaceState(history.state, "", address);
    return this.draw();
  }

  // The picture says by itself what it shows and how far to trust it.
  savePicture(format) {
    const title = this.element.querySelector(".chart-title")?.textContent.trim() ?? "";
    const notice = this.element.querySelector(".chart-notice")?.textContent.trim() ?? "";
    const layout = structuredClone(this.plot.layout);
    layout.title = { text: markupOf(title), x: 0.01, xanchor: "left", font: { size: 15 } };
    layout.margin = { ...layout.margin, t: (layout.margin?.t ?? 12) + 32, b: (layout.margin?.b ?? 48) + (notice ? 24 : 0) };
    if (this.hasEndLabels) layout.annotations = [...(layout.annotations ?? []), ...endAnnotations(this.plot)];
    if (notice) {
      layout.annotations = [
        ...(layout.annotations ?? []),
        {
          text: markupOf(notice),
          xref: "paper",
          yref: "paper",
          x: 0,
          y: 0,
          yshift: -layout.margin.b + 12,
          xanchor: "left",
          showarrow: false,
          font: { size: 11, color: colourOf("--ink-2") },
        },
      ];
    }
    const height = this.plot.clientHeight + 32 + (notice ? 24 : 0);
    const width = Math.max(this.plot.clientWidth, 720);
    const filename = title.replace(/[^\w.-]+/g, "_").replace(/^_+|_+$/g, "") || "chart";
    delete layout.width;
    delete layout.height;
    return Plotly.downloadImage({ data: this.plot.data, layout }, { format, filename, width, height, scale: 2 });
  }
}

// --- all charts of the page: drawn as they come near the window, the first one first, each in a task of its
// own, so that it is seen before the next is begun ---

const charts = new Map();
const waiting = new Set();
let library = null;
let drawing = false;

function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SOURCE;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${SOURCE} could not be loaded`));
    document.head.append(script);
  });
  return library;
}

async function start(element) {
  const chart = new Chart(element);
  charts.set(element, chart);
  try {
    await plotly();
    await chart.start();
    resized.observe(chart.plot);
    element.dataset.drawn = "";
  } catch (error) {
    const failed = document.createElement("p");
    failed.className = "chart-failed";
    failed.textContent = "The chart could not be drawn; the table says the same.";
    chart.plot.replaceChildren(failed);
    reportError(error);
  }
}

function onTopOf(one, other) {
  return one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? one : other;
}

async function drawWaiting() {
  if (drawing) return;
  drawing = true;
  while (waiting.size) {
    const first = [...waiting].reduce(onTopOf);
    waiting.delete(first);
    if (!charts.has(first) && first.isConnected) await start(first);
    await new Promise((resolve) => setTimeout(resolve));
  }
  drawing = false;
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      waiting.add(target);
    }
    drawWaiting();
  },
  { rootMargin: "400px" },
);

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target.closest(".chart"));
    if (chart && target.clientWidth && chart.width !== target.clientWidth) chart.draw();
  }
});

function lookForCharts() {
  const found = document.querySelectorAll("figure.chart");
  if (found.length) plotly();
  for (const element of found) {
    if (!charts.has(element)) near.observe(element);
  }
}

function forgetGoneCharts() {
  for (const [element, chart] of charts) {
    if (element.isConnected) continue;
    resized.unobserve(chart.plot);
    Plotly.purge(chart.plot);
    charts.delete(element);
  }
}

function redrawAll() {
  colours.clear();
  for (const chart of charts.values()) chart.draw();
}

// --- tools and keys ---

function chartOf(flags) {
  return [...charts.values()].find((chart) => chart.flags === flags);
}

function onClick(event) {
  const step = event.target.closest("[data-step]");
  if (step) chartOf(step.closest(".history-flags")).step(Number(step.dataset.step));
  const flag = event.target.closest(".chart .annotation-text a");
  const number = flag?.getAttributeNS("http://www.w3.org/1999/xlink", "href")?.match(/^#flag-(\d+)$/)?.[1];
  const flagged = number && charts.get(flag.closest(".chart"));
  const row = flagged?.flags?.querySelector(`[data-flag="${number}"]`);
  if (row) {
    event.preventDefault();
    flagged.chooseFlag(row);
  }
  const button = event.target.closest(".chart [data-tool]");
  const chart = button && charts.get(button.closest(".chart"));
  if (!chart) return;
  if (button.dataset.tool === "scale") chart.toggleScale();
  else chart.savePicture(button.dataset.tool);
}

function isInWindow(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

// "t" goes from the chart that has the focus, or the first one in the window, to its table.
function onKey(event) {
  if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea, select, [contenteditable]")) return;
  const withTable = [...document.querySelectorAll("figure.chart[data-table]")];
  const figure = event.target.closest("figure.chart[data-table]") ?? withTable.find(isInWindow) ?? withTable[0];
  const table = figure && document.getElementById(figure.dataset.table);
  if (!table) return;
  event.preventDefault();
  table.setAttribute("tabindex", "-1");
  table.focus();
  table.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
document.addEventListener("themechange", redrawAll);
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", redrawAll);
}
document.addEventListener("htmx:afterSwap", () => {
  forgetGoneCharts();
  lookForCharts();
});
addEventListener("beforeprint", () => {
  for (const element of document.querySelectorAll("figure.chart:not([data-drawn])")) start(element);
});
lookForCharts();
