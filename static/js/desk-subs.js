// Sub-questions line up: a click on (2), wherever it stands, brings (2) of the question (or of its
// key, whichever is read) to the top, and with it (2) of the response and of the scoring points.
import { choosePart } from "./desk-parts.js";

const ROMAN = { I: 1, V: 5, X: 10 };
let now = 0;

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

const parts = () => [...document.querySelectorAll("[data-part]")];
const section = (tab) => document.querySelector(tab.hash);

// ---- jumping ----
// In a box of its own a mark goes to the top; where the page scrolls, only the response moves.
function bring(mark, box, movesPage = false) {
  if (!mark) return;
  const isScroller = box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY !== "visible";
  if (isScroller) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - 10;
  else if (movesPage) mark.scrollIntoView({ block: "start" });
}

// The part that is read, or the next one that has the number when it is asked for again.
function bringPart(number, again) {
  const having = parts().filter((tab) => first(section(tab), number));
  if (!having.length) return;
  const at = having.findIndex((tab) => tab.hasAttribute("aria-current"));
  const tab = having[again ? (at + 1) % having.length : Math.max(at, 0)];
  bring(first(section(tab), number), document.querySelector(".desk-question .desk-body"));
  choosePart(tab);
}

function jump(number) {
  const response = document.querySelector(".desk-response .desk-body");
  bringPart(number, number === now);
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
