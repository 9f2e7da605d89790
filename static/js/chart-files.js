// The files of a chart, SVG and PNG: in light colours, with its title and what its figures are based on.
import { FONT_SIZE, theme } from "./chart-parts.js";

let optionOf;

const WIDTH = 960;
const EDGE = 24;
const TITLE = 16;
const LINE = 18;
// Pixels of a PNG for each of the page, for print.
const DENSITY = 3;
const LONGEST_NAME = 60;

// What is drawn while the page is light; the screen has its own theme again afterwards.
function inLight(make) {
  const root = document.documentElement;
  const before = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    return make();
  } finally {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
  }
}

// *text* in lines of at most *width* pixels; a Chinese text breaks between any two characters.
function inLines(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const lines = [""];
  for (const word of text.match(/[\u3000-\uffef]|[^\s\u3000-\uffef]+\s*|\s+/g) ?? []) {
    if (pen.measureText(lines.at(-1) + word).width > width && lines.at(-1)) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

// The words above the chart, each with its place and font.
function head(el, t) {
  const said = (node) => node?.textContent.replace(/\s+/g, " ").trim() ?? "";
  const { title } = el.dataset;
  const fonts = { title: `600 ${TITLE}px ${t.font}`, note: `${FONT_SIZE}px ${t.font}` };
  const { legend } = optionOf(el, WIDTH);
  // A single series has no legend in the chart: its name stands above it.
  const alone = legend && !legend.show ? legend.data.map((one) => one.name ?? one) : [];
  const note = [...alone, said(el.closest(".sheet")?.querySelector(".sheet-note"))].join(" · ");
  let y = EDGE;
  const words = [
    ...inLines(title, WIDTH - 2 * EDGE, fonts.title).map((text) => ({ text, font: fonts.title, fill: t.ink })),
    ...inLines(note, WIDTH - 2 * EDGE, fonts.note).map((text) => ({ text, font: fonts.note, fill: t.muted })),
  ].map((one) => ({ ...one, y: (y += LINE + (one.font === fonts.title ? 4 : 0)) }));
  return { title, words, height: y + 14 };
}

// A chart that nobody sees, in the width of a file.
function drawnApart(el, renderer) {
  const plot = document.createElement("div");
  const width = WIDTH - 2 * EDGE;
  const height = Math.max(360, el.querySelector(".chart-plot").clientHeight);
  Object.assign(plot.style, { position: "absolute", left: "-9999px", width: `${width}px`, height: `${height}px` });
  document.body.append(plot);
  const chart = echarts.init(plot, null, { renderer, width, height });
  chart.setOption({ ...optionOf(el, width, height), animation: false });
  return { plot, chart, height, remove: () => (chart.dispose(), plot.remove()) };
}

function svgOf(el) {
  const t = theme();
  const { title, words, height: above } = head(el, t);
  const { plot, height, remove } = drawnApart(el, "svg");
  const drawing = plot.querySelector("svg");
  const made = (name, attributes, text) => {
    const node = document.createElementNS(drawing.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  };
  const high = above + height + EDGE;
  const file = made("svg", { width: WIDTH, height: high, viewBox: `0 0 ${WIDTH} ${high}`, role: "img" });
  file.append(made("title", {}, title), made("rect", { width: WIDTH, height: high, fill: "#ffffff" }));
  for (const { text, font, fill, y } of words) {
    const [weight, size] = font.startsWith("600") ? [600, TITLE] : [400, FONT_SIZE];
    const look = { "font-family": t.font, "font-size": size, "font-weight": weight };
    file.append(made("text", { x: EDGE, y, fill, ...look }, text));
  }
  const chart = drawing.cloneNode(true);
  chart.removeAttribute("style");
  for (const [key, value] of Object.entries({ x: EDGE, y: above })) chart.setAttribute(key, value);
  file.append(chart);
  remove();
  const text = new XMLSerializer().serializeToString(file);
  return { title, blob: new Blob([text], { type: "image/svg+xml" }) };
}

function pngOf(el) {
  const t = theme();
  const { title, words, height: above } = head(el, t);
  const { chart, height, remove } = drawnApart(el, "canvas");
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * DENSITY;
  canvas.height = (above + height + EDGE) * DENSITY;
  const pen = canvas.getContext("2d");
  pen.scale(DENSITY, DENSITY);
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  for (const { text, font, fill, y } of words) {
    Object.assign(pen, { font, fillStyle: fill });
    pen.fillText(text, EDGE, y);
  }
  const drawn = chart.renderToCanvas({ pixelRatio: DENSITY, backgroundColor: "#ffffff" });
  pen.drawImage(drawn, EDGE, above, WIDTH - 2 * EDGE, height);
  remove();
  return { title, canvas };
}

// The name of a file called *title*: letters, numbers and hyphens, without what a system forbids.
function fileName(title) {
  const name = title.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-");
  return name.slice(0, LONGEST_NAME).replace(/^-|-$/g, "");
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function answer(event) {
  const button = event.target.closest("[data-chart-file]");
  if (!button) return;
  const el = button.closest("[data-chart]");
  if (button.dataset.chartFile === "svg") {
    const { title, blob } = inLight(() => svgOf(el));
    download(blob, `${fileName(title)}.svg`);
  } else {
    const { title, canvas } = inLight(() => pngOf(el));
    canvas.toBlob((blob) => download(blob, `${fileName(title)}.png`));
  }
}

// Let the buttons below charts give files; *option* makes the option of a chart for a width.
export function offerFiles(option) {
  optionOf = option;
  document.addEventListener("click", answer);
}
