// Charts from figures: <figure class="chart" data-chart="bar"> with its JSON in a <template> and
// its table in <details>. Colours are the page's tokens; a series has the colour of its index.
import { offerFiles } from "./chart-files.js";
import { heat } from "./chart-heat.js";
import { dots, lines } from "./chart-lines.js";
import {
  base, colour, dash, FONT_SIZE, format, legend, legendLines, nameAxis, soft, symbol, theme, valueAxis,
} from "./chart-parts.js";

const drawn = new Map();

// htmx removes <script> from a fragment, but keeps the content of a <template>.
function figures(el) {
  const template = el.querySelector("template");
  const holder = template ? template.content : el;
  return JSON.parse(holder.querySelector('script[type="application/json"]').textContent);
}

// How bars share their row; intervals use the same numbers, so that they lie over their bars.
const BARS = { barGap: "12%", barCategoryGap: "28%", barMaxWidth: 30 };

// An interval is a line with two ends over the middle of its bar; the value is written to the right of both.
function whiskers(one, index, t, data) {
  return {
    type: "custom",
    name: one.name,
    silent: true,
    z: 5,
    tooltip: { show: false },
    data: one.values.flatMap((value, row) =>
      value === null ? [] : [[row, ...(one.intervals[row] ?? [value, value]), value]],
    ),
    encode: { x: [1, 2, 3], y: 0 },
    renderItem: (params, api) => {
      const row = api.value(0);
      const layout = api.barLayout({ count: data.series.length, ...BARS })[index];
      const [low, y] = api.coord([api.value(1), row]);
      const [high] = api.coord([api.value(2), row]);
      const [end] = api.coord([api.value(3), row]);
      const middle = y + layout.offsetCenter;
      const style = { stroke: t.ink, lineWidth: 1.2, opacity: 0.75 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      const text = {
        type: "text",
        x: Math.max(high, end) + 6,
        y: middle,
        style: {
          text: format(api.value(3), data),
          fill: t.ink,
          font: `${FONT_SIZE}px ${t.font}`,
          verticalAlign: "middle",
        },
      };
      const interval = [
        line(low, middle, high, middle),
        line(low, middle - 4, low, middle + 4),
        line(high, middle - 4, high, middle + 4),
      ];
      return { type: "group", children: low < high ? [...interval, text] : [text] };
    },
  };
}

// The legend, if any, is above the bars.
const top = (series, width) => (series.length > 1 ? 4 + 30 * legendLines(series, width) : 8);

// A full bar, or one with a light fill and an edge, where two stand side by side in one colour.
const fill = (one, own) =>
  one.soft ? { color: soft(own), borderColor: own, borderWidth: 1.2 } : { color: own };

function bar(data, t, width) {
  const bars = data.series.map((one, index) => ({
    type: "bar",
    name: one.name,
    data: one.values.map((value, row) =>
      data.colours ? { value, itemStyle: fill(one, t.series(data.colours[row])) } : value,
    ),
    tooltip: { valueFormatter: (value) => format(value, data) },
    ...BARS,
    itemStyle: { ...fill(one, data.colours ? t.muted : colour(t, one, index)), borderRadius: 3 },
    label: {
      show: !one.intervals, // drawn with the interval then, so that neither strikes through the other
      position: "right",
      distance: 6,
      color: t.ink,
      formatter: ({ value }) => format(value, data),
    },
  }));
  const intervals = data.series.flatMap((one, index) =>
    one.intervals ? [whiskers(one, index, t, data)] : [],
  );
  return {
    ...base(t),
    grid: { left: 4, right: 58, top: top(data.series, width), bottom: 4, containLabel: true },
    legend: legend(t, data.series, { top: 0, right: 0 }),
    xAxis: valueAxis(t, { min: 0, max: data.max }),
    yAxis: nameAxis(t, data.categories, width),
    series: [...bars, ...intervals],
  };
}

// ECharts would draw a missing value at the centre, as if it were 0, so such an axis is omitted; the table says
// why.
function complete(data) {
  const has = (axis) => data.series.every((one) => (one.values[axis] ?? null) !== null);
  const kept = data.axes.map((_, axis) => axis).filter(has);
  return {
    axes: kept.map((axis) => data.axes[axis]),
    series: data.series.map((one) => ({ ...one, values: kept.map((axis) => one.values[axis]) })),
  };
}

// With the markers of the series, for a legend.
const marked = (series) => series.map((one, index) => ({ ...one, icon: symbol(one, index) }));

// All names are shown, below each other where a line is full: a legend that scrolls is cut on paper.
const LEGEND_LINE = 28;
const belowRadar = (series, width) => (series.length > 1 ? LEGEND_LINE * legendLines(series, width) : 0);

function radar(data, t, width, height) {
  const { axes, series } = complete(data);
  const room = height - belowRadar(series, width);
  return {
    ...base(t),
    legend: legend(t, marked(series), { bottom: 0 }),
    radar: {
      indicator: axes,
      center: ["50%", room / 2],
      radius: (Math.min(width, room) / 2) * (width < 360 ? 0.56 : 0.7), // room for the names beside it on a phone
      axisName: { color: t.ink },
      splitNumber: 5,
      splitArea: { show: false },
      splitLine: { lineStyle: { color: t.grid } },
      axisLine: { lineStyle: { color: t.grid } },
    },
    series: [
      {
        type: "radar",
        symbolSize: 6,
        tooltip: { valueFormatter: (value) => format(value, data) },
        data: series.map((one, index) => ({
          name: one.name,
          value: one.values,
          symbol: symbol(one, index),
          itemStyle: { color: colour(t, one, index) },
          lineStyle: { color: colour(t, one, index), width: 2, type: dash(one, index) },
          areaStyle: { color: colour(t, one, index), opacity: 0.06 },
        })),
      },
    ],
  };
}

// The line of equal values shows who is higher.
function diagonal(t, end) {
  return {
    silent: true,
    symbol: "none",
    animation: false,
    lineStyle: { color: t.muted, type: "dashed", width: 1 },
    label: { show: false },
    data: [[{ coord: [0, 0] }, { coord: [end, end] }]],
  };
}

// Points of several models at one place stand side by side, this far apart in units of the axis.
const BESIDE = 0.9;

function scatter(data, t, width) {
  const end = Math.max(data.x.max ?? 0, data.y.max ?? 0);
  const several = data.series.length > 1;
  const many = data.series.reduce((n, one) => n + one.points.length, 0) > 400;
  return {
    ...base(t),
    grid: { left: 30, right: 14, top: top(data.series, width), bottom: 34, containLabel: true },
    legend: legend(t, marked(data.series), { top: 0, right: 0 }),
    xAxis: valueAxis(t, data.x),
    yAxis: { ...valueAxis(t, data.y), nameGap: 34 },
    series: data.series.map((one, index) => ({
      type: "scatter",
      name: one.name,
      symbol: symbol(one, index),
      tooltip: {
        formatter: ({ value }) =>
          `${several ? `${one.name}\n` : ""}${data.x.label}: ${value[3]}\n${data.y.label}: ${value[1]}`,
      },
      symbolSize: (point) => 5 + Math.min(9, Math.sqrt(point[2] ?? 1)),
      data: one.points.map(([x, y, n]) => [x + BESIDE * (index - (data.series.length - 1) / 2), y, n, x]),
      itemStyle: { color: colour(t, one, index), opacity: many ? 0.4 : 0.6 },
      markLine: index === 0 && data.diagonal && end ? diagonal(t, end) : undefined,
    })),
  };
}

function box(data, t, width) {
  const zero = {
    silent: true,
    symbol: "none",
    animation: false,
    lineStyle: { color: t.muted, type: "solid", width: 1 },
    label: { show: false },
    data: [{ xAxis: 0 }],
  };
  return {
    ...base(t),
    grid: { left: 4, right: 14, top: 8, bottom: data.axis?.label ? 34 : 6, containLabel: true },
    xAxis: valueAxis(t, data.axis),
    yAxis: nameAxis(t, data.categories, width),
    series: [
      {
        type: "boxplot",
        tooltip: { show: false }, // its words are English only; the table has the five numbers
        data: data.boxes.map((five, row) => {
          const own = data.colours ? t.series(data.colours[row]) : t.accent;
          const value = five ?? ["-", "-", "-", "-", "-"];
          return { value, itemStyle: { color: soft(own), borderColor: own } };
        }),
        boxWidth: [8, 18],
        markLine: data.zero ? zero : undefined,
      },
    ],
  };
}

const KINDS = { bar, radar, scatter, box, dots, lines, heat };

// For print a chart is drawn in the width that it has on paper (A4, landscape, one or two columns of
// report-print.css); its view box lets CSS fit it exactly.
const PAPER = { column: 470, whole: 960, tallest: 560 };
let onPaper = false;

const heights = new WeakMap(); // on the screen: the height of a plot for print depends on its chart

function paperSize(plot) {
  const width = plot.closest(".columns, .columns-wide-left, .columns-wide-right") ? PAPER.column : PAPER.whole;
  return { width, height: heights.get(plot) || 320 };
}

// The option of the chart in *el* with the theme of now, for a plot of *width* times *height* pixels.
const optionOf = (el, width, height) => KINDS[el.dataset.chart](figures(el), theme(), width, height);

function draw(el) {
  const plot = el.querySelector(".chart-plot");
  const data = figures(el);
  plot.style.height = data.height ? `${data.height}px` : ""; // as many rows as the data has
  if (data.height) el.classList.toggle("chart-tall-for-paper", data.height > PAPER.tallest);
  if (!onPaper && plot.clientHeight) heights.set(plot, plot.clientHeight);
  const size = onPaper ? paperSize(plot) : { width: plot.clientWidth, height: plot.clientHeight };
  if (el.dataset.chart === "radar") {
    size.height += Math.max(belowRadar(data.series, size.width) - LEGEND_LINE, 0);
    plot.style.height = `${size.height}px`;
  }
  drawn.get(el)?.dispose();
  const chart = echarts.init(plot, null, { renderer: "svg", ...(onPaper ? size : {}) });
  const option = optionOf(el, size.width, size.height);
  chart.setOption(onPaper ? { ...option, animation: false } : option);
  if (onPaper) plot.querySelector("svg").setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  drawn.set(el, chart);
  sizes.observe(plot);
}

const sizes = new ResizeObserver((entries) => {
  if (onPaper) return;
  for (const { target } of entries) drawn.get(target.closest("[data-chart]"))?.resize();
});

function forgetRemoved() {
  for (const [el, chart] of drawn) {
    if (el.isConnected) continue;
    chart.dispose();
    drawn.delete(el);
  }
}

export function drawCharts(root = document) {
  forgetRemoved();
  for (const el of root.querySelectorAll("[data-chart]")) draw(el);
}

const redraw = () => drawCharts(document);

// Chinese and Latin labels are measured in the page's font, so wait for it.
document.fonts.ready.then(redraw);
// The target of the event is the new element; the target of the request may have been removed.
document.addEventListener("htmx:afterSettle", (event) => drawCharts(event.target));
document.addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// Printed charts are complete and in light colours. The event before printing comes while the page still has
// the screen's layout, so the light theme is set by name until printing ends; a print preview only has the
// change of the medium.
let themeOfScreen;

function toPaper() {
  if (onPaper) return;
  onPaper = true;
  themeOfScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  redraw();
}

function toScreen() {
  if (!onPaper) return;
  onPaper = false;
  if (themeOfScreen) document.documentElement.dataset.theme = themeOfScreen;
  else delete document.documentElement.dataset.theme;
  redraw();
}

addEventListener("beforeprint", toPaper);
addEventListener("afterprint", toScreen);
matchMedia("print").addEventListener("change", ({ matches }) => (matches ? toPaper() : toScreen()));

offerFiles(optionOf);
