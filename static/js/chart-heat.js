// Crossings of two keys as a heat map: one hue, so that it can be read in grey, and the number in each cell.
import { base, FONT_SIZE, format } from "./chart-parts.js";

// A cell narrower than this has no room for its number; the table has it.
const ROOM = 34;

export function heat(data, t, width) {
  const names = Math.min(150, width * 0.34);
  const roomy = (width - names - 20) / data.x.length >= ROOM;
  const axis = (list, more) => ({
    type: "category",
    data: list,
    axisLine: { lineStyle: { color: t.line } },
    axisTick: { show: false },
    splitArea: { show: false },
    ...more,
  });
  return {
    ...base(t),
    grid: { left: 4, right: 10, top: 8, bottom: 4, containLabel: true },
    xAxis: axis(data.x, {
      axisLabel: { color: t.ink, interval: 0, rotate: data.x.length > 5 || width < 500 ? 50 : 0, width: 90, overflow: "truncate" },
    }),
    yAxis: axis(data.y, {
      inverse: true,
      axisLabel: { color: t.ink, width: names, overflow: "break", lineHeight: 15, interval: 0 },
    }),
    visualMap: { show: false, min: 0, max: 100, dimension: 2, inRange: { color: [t.sunken, t.accent] } },
    tooltip: {
      ...base(t).tooltip,
      formatter: ({ value }) => `${data.y[value[1]]} · ${data.x[value[0]]}: ${format(value[2], data)}`,
    },
    series: [
      {
        type: "heatmap",
        data: data.cells
          .filter(([, , value]) => value !== null)
          .map((cell) => ({ value: cell, label: { color: cell[2] > 55 ? t.onAccent : t.ink } })),
        itemStyle: { borderColor: t.sheet, borderWidth: 2 },
        label: {
          show: roomy,
          fontSize: FONT_SIZE,
          formatter: ({ value }) => format(value[2], { digits: data.digits }),
        },
      },
    ],
  };
}
