// The charts of monitoring: figures over time as lines, people as dots with intervals.
import { base, colour, FONT_SIZE, format, legend, nameAxis, symbol, valueAxis } from "./chart-parts.js";

// Limits are dashed; "here" marks the present setting of the round.
function marksAt(t, limits, axis, here) {
  const dashed = limits.map((at) => ({ [axis]: at }));
  const solid = { lineStyle: { color: t.accent, type: "solid", width: 1 } };
  return {
    silent: true,
    symbol: "none",
    animation: false,
    lineStyle: { color: t.muted, type: "dashed", width: 1 },
    label: { show: false },
    data: here === null || here === undefined ? dashed : [...dashed, { xAxis: here, ...solid }],
  };
}

export function lines(data, t) {
  return {
    ...base(t),
    grid: { left: 46, right: 18, top: data.series.length > 1 ? 34 : 10, bottom: 34, containLabel: true },
    // A dashed line has a dashed line in the legend too; else a square of its colour.
    legend: legend(t, data.series, {
      top: 0,
      type: "scroll",
      ...(data.series.some((one) => one.dashed) ? { icon: undefined, itemWidth: 30 } : {}),
    }),
    xAxis: valueAxis(t, data.x),
    yAxis: { ...valueAxis(t, data.y), nameGap: 38 },
    series: data.series.map((one, index) => ({
      type: "line",
      name: one.name,
      data: one.points,
      showSymbol: one.points.length < 30,
      symbol: symbol(one, index),
      symbolSize: 6,
      tooltip: {
        formatter: ({ value }) =>
          `${one.name}\n${data.x.label}: ${value[0]}\n${format(value[1], data)} (n = ${value[2]})`,
      },
      itemStyle: { color: colour(t, one, index) },
      lineStyle: { color: colour(t, one, index), width: 2, type: one.dashed ? "dashed" : "solid" },
      markLine: index === 0 ? marksAt(t, data.limits, "yAxis", data.here) : undefined,
    })),
  };
}

// An interval is a line with two ends; the dot lies over its value.
function intervals(data, t) {
  return {
    type: "custom",
    silent: true,
    tooltip: { show: false },
    data: data.dots.flatMap(([, low, high], row) => (low === null ? [] : [[row, low, high]])),
    encode: { x: [1, 2], y: 0 },
    renderItem: (params, api) => {
      const [low, y] = api.coord([api.value(1), api.value(0)]);
      const [high] = api.coord([api.value(2), api.value(0)]);
      const style = { stroke: t.muted, lineWidth: 1.5 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      const ends = [low, high].map((x) => line(x, y - 4, x, y + 4));
      return { type: "group", children: [line(low, y, high, y), ...ends] };
    },
  };
}

// The names beside the dots need room in a narrow chart: labels that do not fit go below.
function inLines(label, width) {
  const most = (width * 0.55) / (FONT_SIZE / 2);
  const lines = [""];
  for (const word of label.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > most && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

export function dots(data, t, width) {
  const zero = { xAxis: 0, lineStyle: { color: t.muted, type: "solid", width: 1 } };
  const limits = marksAt(t, data.limits, "xAxis");
  const name = inLines(data.axis.label, width);
  return {
    ...base(t),
    grid: { left: 4, right: 18, top: 8, bottom: 19 + 15 * name.length, containLabel: true },
    xAxis: valueAxis(t, { ...data.axis, label: name.join("\n") }),
    yAxis: nameAxis(t, data.categories, width),
    series: [
      intervals(data, t),
      {
        type: "scatter",
        symbolSize: 10,
        z: 6,
        data: data.dots.map(([value], row) => ({
          value: [value, row],
          itemStyle: { color: data.colours ? colour(t, {}, data.colours[row]) : t.accent },
        })),
        label: {
          show: width > 480,
          position: "top",
          distance: 4,
          color: t.ink,
          fontSize: FONT_SIZE - 1,
          formatter: ({ value }) => format(value[0], data),
        },
        tooltip: {
          formatter: ({ value }) => `${data.categories[value[1]]}: ${format(value[0], data)}`,
        },
        markLine: { ...limits, data: [...limits.data, zero] },
      },
    ],
  };
}
