// The question list by keyboard and in bulk: a cursor on the rows, ticks with ranges, the bar of labels.
// htmx replaces the rows, so no element is stored here; each is looked up when needed.
import { composes } from "../key-map.js";

const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const rows = () => [...document.querySelectorAll("tr[data-row]")];
const ticks = () => [...document.querySelectorAll("tr[data-row] input[name=question]")];
const cursor = () => document.querySelector("tr[data-row][data-cursor]");
let anchor = null; // the value of the tick from which Shift goes on

function put(row) {
  if (!row) return;
  cursor()?.removeAttribute("data-cursor");
  row.setAttribute("data-cursor", "");
  row.querySelector("a.row-link").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = rows();
  const at = all.indexOf(cursor());
  put(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]);
}

function show() {
  const form = document.querySelector("form[data-bulk]");
  if (!form) return;
  const all = ticks();
  const ticked = all.filter((tick) => tick.checked).length;
  const whole = form.querySelector("[data-bulk-whole]").checked;
  form.querySelector("[data-bulk-count]").textContent = whole ? form.dataset.total : ticked;
  form.toggleAttribute("data-open", ticked > 0 || whole);
  for (const tick of all) tick.closest("tr").classList.toggle("selected", tick.checked || whole);
  const page = document.querySelector("[data-pick-page]");
  page.checked = ticked === all.length && ticked > 0;
  page.indeterminate = ticked > 0 && ticked < all.length;
}

// All rows from the last tick to this one get the state of this one.
function range(tick) {
  const all = ticks();
  const from = all.findIndex((other) => other.value === anchor);
  const to = all.indexOf(tick);
  if (from < 0 || to < 0) return;
  for (const other of all.slice(Math.min(from, to), Math.max(from, to) + 1)) other.checked = tick.checked;
}

function toggle(tick, withRange) {
  if (withRange) range(tick);
  anchor = tick.value;
  show();
}

document.addEventListener("click", (event) => {
  const tick = event.target.closest("tr[data-row] input[name=question]");
  if (tick) toggle(tick, event.shiftKey);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-pick-page]")) {
    for (const tick of ticks()) tick.checked = event.target.checked;
    show();
  }
  if (event.target.matches("[data-bulk-whole]")) show();
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-bulk]");
  if (!form || form.hasAttribute("data-open")) return;
  event.preventDefault();
  document.dispatchEvent(new CustomEvent("notice", { detail: { text: form.dataset.none } }));
});

function tickCursor(withRange) {
  const tick = (cursor() || rows()[0])?.querySelector("input[name=question]");
  if (!tick) return;
  if (!cursor()) put(rows()[0]);
  tick.checked = withRange || !tick.checked;
  toggle(tick, withRange);
}

function labels() {
  const link = cursor()?.querySelector("a.row-link");
  if (link) window.location.assign(`${link.href}#labels`);
}

const KEYS = {
  "/": () => document.getElementById("bank-search").select(),
  j: () => step(1),
  k: () => step(-1),
  x: () => tickCursor(false),
  X: () => tickCursor(true),
  e: labels,
  "[": () => document.querySelector(".pagination [rel=prev]")?.click(),
  "]": () => document.querySelector(".pagination [rel=next]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || composes(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(TYPING)) {
    if (event.key === "Escape" && event.target.id === "bank-search") event.target.blur();
    return;
  }
  const act = document.querySelector("dialog[open]") ? null : KEYS[event.key];
  if (!act || !document.getElementById("bank-search")) return;
  event.preventDefault();
  act();
});

// A row that is focused by Tab becomes the cursor's row.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("tr[data-row]");
  if (!row || row === cursor()) return;
  cursor()?.removeAttribute("data-cursor");
  row.setAttribute("data-cursor", "");
});

document.addEventListener("htmx:afterSwap", show);
// "#labels" links from the list to the form: it is opened and its first field is focused.
const edit = window.location.hash === "#labels" && document.querySelector("[data-labels-edit]");
if (edit) {
  edit.open = true;
  edit.querySelector("select").focus();
}
show(); // a browser keeps ticks when one comes back
