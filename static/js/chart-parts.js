// What all charts share: the page's tokens, numbers, axes and legends.
export const FONT_SIZE = 12;

export function theme() {
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: token("ink"),
    muted: token("muted"),
    grid: token("chart-grid"),
    sheet: token("sheet"),
    line: token("line"),
    accent: token("accent"),
    accentSoft: token("accent-soft"),
    onAccent: token("on-accent"),
    sunken: token("sunken"),
    font: getComputedStyle(document.body).fontFamily,
    series: (wanted) =>
      token(typeof wanted === "string" ? wanted : `series-${Math.abs(wanted) % 8}`),
  };
}

export const format = (value, data) =>
  value === null || value === undefined
    ? "–"
    : `${Number(value).toLocaleString(document.documentElement.lang, {
        minimumFractionDigits: data.digits ?? 0,
        maximumFractionDigits: data.digits ?? 0,
      })}${data.unit ?? ""}`;

export function base(t) {
  return {
    animation: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    animationDuration: 250,
    aria: { enabled: false }, // the table beside it is the accessible form
    textStyle: { fontFamily: t.font, fontSize: FONT_SIZE, color: t.muted },
    // richText: the default tooltip is HTML with style attributes, which the CSP blocks
    tooltip: {
      renderMode: "richText",
      confine: true,
      backgroundColor: t.sheet,
      borderColor: t.line,
      textStyle: { color: t.ink, fontSize: FONT_SIZE, fontFamily: t.font },
    },
  };
}

export function valueAxis(t, axis = {}) {
  return {
    type: "value",
    name: axis.label,
    nameLocation: "middle",
    nameGap: 28,
    nameTextStyle: { color: t.muted, lineHeight: 15 },
    min: axis.min,
    max: axis.max,
    axisLine: { show: false },
    axisTick: { show: false },
    minInterval: axis.plain ? 1 : undefined,
    // A year is written without a comma.
    axisLabel: { color: t.muted, hideOverlap: true, formatter: axis.plain ? String : undefined },
    splitLine: { lineStyle: { color: t.grid } },
  };
}

export function nameAxis(t, names, width) {
  return {
    type: "category",
    data: names,
    inverse: true,
    axisLine: { lineStyle: { color: t.line } },
    axisTick: { show: false },
    axisLabel: { color: t.ink, width: Math.min(150, width * 0.34), overflow: "break", lineHeight: 15 },
  };
}

export function legend(t, series, place) {
  return {
    show: series.length > 1,
    data: series.map(({ name, icon }) => (icon ? { name, icon } : name)),
    itemWidth: 18,
    itemHeight: 10,
    itemGap: 16,
    icon: "roundRect",
    textStyle: { color: t.muted },
    ...place,
  };
}

// The number of lines of a legend, at most: a Chinese character is as wide as the font size. A name that has
// no room beside the one before it begins a line.
export function legendLines(series, width) {
  const widths = series.map(({ name }) => 40 + [...name].length * (/[\u3000-\uffef]/.test(name) ? 13 : 7.5));
  let [lines, used] = [1, 0];
  for (const one of widths) {
    if (used && used + one > width) [lines, used] = [lines + 1, 0];
    used += one;
  }
  return lines;
}

export const colour = (t, one, index) => t.series(one.colour ?? index);

// A colour that has to be told from others in grey and in print has a marker and a dash of its own: by its
// index, like the colour. The swatches of tables have the same shapes (tables.css).
const SYMBOLS = ["circle", "rect", "triangle", "diamond"];
const DASHES = ["solid", "dashed", "dotted", [10, 4, 2, 4]];
const place = (one, index) => Math.abs(typeof one.colour === "number" ? one.colour : index) % 8;

export const symbol = (one, index) => SYMBOLS[place(one, index) % SYMBOLS.length];
export const dash = (one, index) => {
  const at = place(one, index);
  return DASHES[(at + (at >= 4 ? 1 : 0)) % DASHES.length];
};

// The light fill of a shape whose edge has the colour.
export const soft = (fill) => echarts.color.modifyAlpha(fill, 0.22);
