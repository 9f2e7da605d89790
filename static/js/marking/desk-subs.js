// Sub-questions are aligned: a click on any (2) scrolls question, key, response and scoring points to their
// part (2). The key also follows what is read and marked.
import { holdTabs } from "./desk-parts.js";

const ROMAN = { I: 1, V: 5, X: 10 };
const JUMPED_MS = 500; // scrolling that follows a jump is ignored
let now = 0;
let jumpedAt = 0;

const nav = () => document.getElementById("subs");

// "（２）", "(ii)" or "(Ⅱ)" as a number; 0 for anything else.
function numberOf(text) {
  const inner = text.normalize("NFKC").replace(/[()\s]/g, "").toUpperCase();
  if (/^\d+$/.test(inner)) return Number(inner);
  const values = [...inner].map((letter) => ROMAN[letter] ?? 0);
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0);
}

const all = (root) => [...root.querySelectorAll(".sub-number")];
const first = (root, number) => root && all(root).find((mark) => numberOf(mark.textContent) === number);

// ---- jumping ----
// Where the box scrolls, the mark goes to its top; where the page scrolls, only the response is scrolled to.
function bring(mark, box, movesPage = false) {
  if (!mark) return;
  const isScroller = box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY !== "visible";
  if (isScroller) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - 10;
  else if (movesPage) mark.scrollIntoView({ block: "start" });
}

// In the question and in the key.
function bringParts(number) {
  holdTabs();
  const [question, key] = [".desk-asked .desk-body", ".desk-key .desk-body"].map((one) => document.querySelector(one));
  if (question) bring(first(question, number), question);
  if (!key) return;
  const part = key.querySelector(`[data-part-of="${number}"]`) ?? first(key, number);
  bring(part, key);
}

// Show the part of the key for what is marked or read now.
function follow(number) {
  const key = document.querySelector(".desk-key .desk-body");
  if (!key || !number || number === now) return;
  const part = key.querySelector(`[data-part-of="${number}"]`);
  if (!part) return;
  now = number;
  holdTabs();
  bring(part, key);
  show();
}

function jump(number) {
  const response = document.querySelector(".desk-response .desk-body");
  jumpedAt = performance.now();
  bringParts(number);
  bring(first(response, number), response, true);
  bring(document.querySelector(`.points [data-sub="${number}"]`), document.querySelector(".points"));
  now = number;
  show();
}

// ---- the row of numbers above the response ----
function show() {
  const buttons = [...nav().querySelectorAll("button")];
  const at = buttons.findIndex((button) => Number(button.dataset.number) === now);
  for (const button of buttons) {
    button.removeAttribute("data-key");
    button.toggleAttribute("aria-current", Number(button.dataset.number) === now);
  }
  buttons[at]?.setAttribute("aria-current", "true");
  buttons[at + 1]?.setAttribute("data-key", "]");
  buttons[at - 1]?.setAttribute("data-key", "[");
  for (const mark of all(document.getElementById("desk"))) {
    mark.classList.toggle("sub-here", numberOf(mark.textContent) === now);
  }
  for (const part of document.querySelectorAll("[data-part-of]")) {
    part.classList.toggle("part-here", Number(part.dataset.partOf) === now);
  }
}

function button(number) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "tab";
  made.dataset.number = number;
  made.setAttribute("aria-label", nav().dataset.one.replace("%number%", number));
  made.textContent = number;
  return made;
}

// A response appears.
export function countSubs() {
  if (!nav()) return;
  now = 0;
  const found = all(document.getElementById("desk")).map((mark) => numberOf(mark.textContent));
  const groups = [...document.querySelectorAll(".points [data-sub]")].map((one) => Number(one.dataset.sub));
  const numbers = [...new Set([...found, ...groups])].filter(Boolean).sort((a, b) => a - b);
  nav().hidden = numbers.length < 2;
  nav().replaceChildren(...numbers.map(button));
  show();
}

document.addEventListener("click", (event) => {
  const chosen = event.target.closest("#subs button, #desk .sub-number, .points [data-sub]");
  if (!chosen) return;
  jump(Number(chosen.dataset.number ?? chosen.dataset.sub) || numberOf(chosen.textContent));
});

// Follow the sub-question of the active scoring point.
document.addEventListener("focusin", (event) => {
  let line = event.target.closest?.("#marks .points > li");
  while (line && !line.dataset.sub) line = line.previousElementSibling;
  if (line) follow(Number(line.dataset.sub));
});

// Follow the sub-question at the top of the response while it is scrolled.
document.addEventListener(
  "scroll",
  (event) => {
    if (!event.target.matches?.(".desk-response .desk-body")) return;
    if (performance.now() - jumpedAt < JUMPED_MS) return;
    const top = event.target.getBoundingClientRect().top + 60;
    const passed = all(event.target).filter((mark) => mark.getBoundingClientRect().top <= top);
    if (passed.length) follow(numberOf(passed.at(-1).textContent));
  },
  { capture: true, passive: true },
);
