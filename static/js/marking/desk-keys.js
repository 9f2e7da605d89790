// Points by keyboard: digits, "." for a half, arrows, for the active scoring point.
// A point is a row of radio chips, or a field to type into where chips would be too many.
import { cappedSum } from "../capped-sum.js";
import { groupsOf } from "../desk/groups.js";
import { form as marks } from "../desk/page.js";
import { actual } from "../key-map.js";
import { press } from "../keys.js";
import { sayIn } from "./mark-fields.js";

const QUICK_MS = 900; // digits typed within this time belong to one number
let typed = { point: null, text: "", at: 0 };
let advancedFrom = null; // the point that was advanced from: a half still belongs to it

// Another point becomes active: the refusals are removed.
function changed(point) {
  if (!point.hasAttribute("data-active")) advancedFrom = null;
  for (const other of points()) sayIn(other, faultOf(other), "");
}

export const { all: points, active, activate, move } = groupsOf("#marks .point", { changed, reveal });

const entryOf = (point) => point.querySelector(".point-entry");
const radiosOf = (point) => [...point.querySelectorAll("input[type=radio]")];
const fullOf = (point) => Number(point.dataset.full);

// A number that ends with "." has a half added, and a comma is a point; as plain_number.with_half on the server.
function withHalf(text) {
  const number = text.replace(/^(\d*)[,。，](\d{0,2})$/, "$1.$2");
  return /^\d*\.$/.test(number) ? `${number}5` : number;
}

export function valueOf(point) {
  const entry = entryOf(point);
  return entry ? withHalf(entry.value.trim()) : (radiosOf(point).find((radio) => radio.checked)?.value ?? "");
}

function plain(number) {
  return String(Math.round(number * 100) / 100);
}

// ---- what the panel shows ----
function showChips(point) {
  const value = Number(valueOf(point));
  // In a row of chips a half is shown as the whole mark and the ½ beside it.
  const half = !entryOf(point) && valueOf(point) !== "" && value % 1 === 0.5;
  for (const chip of point.querySelectorAll(".chip:not(.chip-half)")) {
    const own = chip.querySelector("input")?.value ?? chip.dataset.value;
    chip.classList.toggle("chip-on", valueOf(point) !== "" && Number(own) === (half ? value - 0.5 : value));
  }
  const button = point.querySelector("[data-half]");
  button?.classList.toggle("chip-on", half);
  button?.setAttribute("aria-pressed", String(half));
}

export function refresh() {
  const all = points().map((element) => ({ element, text: valueOf(element), value: Number(valueOf(element)) }));
  const given = all.filter(({ element, text, value }) => text !== "" && value <= fullOf(element));
  points().forEach(showChips);
  document.getElementById("sum").textContent = given.length ? plain(cappedSum(given)) : "–";
  const note = document.getElementById("given");
  if (note) note.textContent = marks().dataset.given.replace("%given%", given.length);
}

// ---- giving points ----
function fits(point, value) {
  const steps = value / Number(marks().dataset.step);
  return value >= 0 && value <= fullOf(point) && (Number.isInteger(steps) || value === fullOf(point));
}

function refuse(point, value) {
  const { above, wrong, step } = marks().dataset;
  const sentence = value > fullOf(point) ? above : wrong;
  const filled = sentence.replace("%mark%", plain(value)).replace("%full%", plain(fullOf(point)));
  sayIn(point, faultOf(point), filled.replace("%step%", step));
}

// The sentence about what was typed last and is refused, "" if there is none.
export function refusal() {
  const refused = points().map((point) => document.getElementById(faultOf(point)));
  return refused.find(Boolean)?.textContent ?? "";
}

const faultOf = (point) => `fault-of-point-${points().indexOf(point)}`;

function choose(point, text) {
  for (const radio of radiosOf(point)) {
    radio.checked = text !== "" && Number(radio.value) === Number(text);
    if (radio.checked && point.contains(document.activeElement)) radio.focus({ preventScroll: true });
  }
}

// "" takes the points away. False when the value does not fit: nothing is changed then.
function give(point, value) {
  if (value !== "" && !fits(point, value)) {
    refuse(point, value);
    return false;
  }
  sayIn(point, faultOf(point), "");
  const text = value === "" ? "" : plain(value);
  const entry = entryOf(point);
  if (entry) entry.value = text;
  else choose(point, text);
  (entry ?? point).dispatchEvent(new Event("input", { bubbles: true }));
  return true;
}

function typeDigit(point, digit) {
  const now = performance.now();
  const quick = typed.point === point && now - typed.at < QUICK_MS;
  const longer = quick ? typed.text + digit : digit;
  const text = quick && fits(point, Number(longer)) ? longer : digit;
  // A second digit that makes no possible number replaces the first; an impossible one is refused.
  if (!give(point, Number(text))) return;
  typed = { point, text, at: now };
  advance(point);
}

// With "advance after a digit": go to the next point if the point has fewer than 10 marks.
function advance(point) {
  const next = points()[points().indexOf(point) + 1];
  if (!("advance" in marks().dataset) || fullOf(point) >= 10 || entryOf(point)) return;
  if (next) activate(next);
  advancedFrom = point;
}

function giveAll(point, value) {
  if (!give(point, value)) return;
  entryOf(point)?.select(); // the next digit replaces the mark
  advance(point);
}

function halve(point) {
  const now = performance.now();
  const value = Number(valueOf(point) || 0);
  const half = value % 1 === 0.5;
  const text = `${Math.floor(value)}.`;
  if (give(point, half ? value - 0.5 : value + 0.5) && !half) typed = { point, text, at: now };
}

function stepBy(point, direction) {
  const step = Number(marks().dataset.step);
  const value = Number(valueOf(point) || 0) + direction * Math.max(step, 0.5);
  if (fits(point, value)) give(point, value);
}

// ---- the active point ----
function listScrolls(point) {
  return getComputedStyle(point.closest(".points")).overflowY !== "visible";
}

// Where the list scrolls by itself the page must not scroll: the panel may cover the end of the page.
function reveal(point) {
  if (!listScrolls(point)) return point.scrollIntoView({ block: "nearest" });
  const list = point.closest(".points");
  const [box, own] = [list.getBoundingClientRect(), point.getBoundingClientRect()];
  const below = Math.min(own.bottom - box.bottom, own.top - box.top);
  if (own.top < box.top) list.scrollTop -= box.top - own.top;
  else if (below > 0) list.scrollTop += below;
}

export function firstMissing() {
  return points().find((point) => valueOf(point) === "");
}

// Where the whole page scrolls, it stays at the beginning of the response.
export function activateFirst() {
  const first = firstMissing() ?? points()[0];
  activate(first, listScrolls(first));
}

// ---- keys ----
const PLAIN_KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  ArrowRight: () => stepBy(active(), 1),
  ArrowLeft: () => stepBy(active(), -1),
  ".": () => halve(advancedFrom ?? active()),
  m: () => giveAll(active(), fullOf(active())),
  o: () => giveAll(active(), 0),
  Backspace: () => give(active(), ""),
  Delete: () => give(active(), ""),
};
// In a field for points digits, dot, deletion, left and right keep their usual meaning.
const ENTRY_KEYS = new Set(["ArrowDown", "ArrowUp", "m", "o"]);

// Escape goes back to the point at once: a "toggle" event comes after the next key where keys come fast.
function inFlags(key) {
  const menu = document.getElementById("flags");
  if (!menu.open || !/^([1-9]|Escape)$/.test(key)) return false;
  if (key === "Escape") {
    menu.open = false;
    backToPoint();
  } else menu.querySelectorAll("input")[Number(key) - 1]?.click();
  return true;
}

// A mark that is selected as a whole was given before: a dot adds a half or takes it away, as among chips.
function writePoint(entry) {
  const point = active();
  const value = Number(valueOf(point));
  const { selectionStart: from, selectionEnd: to, value: text } = entry;
  const isWhole = from === 0 && to === text.length && /\d/.test(text) && Number.isFinite(value);
  if (value % 1 === 0.5 && (isWhole || text.endsWith("."))) return giveAll(point, value - 0.5);
  if (isWhole && !fits(point, value + 0.5)) return refuse(point, value + 0.5);
  entry.setRangeText(".", isWhole ? to : from, to, "end");
  entry.dispatchEvent(new Event("input", { bubbles: true }));
}

// In a field for points a character that cannot be part of a mark is a command, or nothing.
function inEntry(event, key) {
  const isOwn = key !== event.key && PLAIN_KEYS[key];
  if (key === "Enter") marks().requestSubmit();
  else if (key === "." || (!key && /^[.,。，]$/.test(event.key))) writePoint(event.target);
  else if (ENTRY_KEYS.has(key) || isOwn) PLAIN_KEYS[key]();
  else if (/^[^\p{Nd}.,。，]$/u.test(key || event.key)) press(key);
  else return false;
  return true;
}

function elsewhere(event, key) {
  if (/^[0-9]$/.test(key)) typeDigit(active(), key);
  else if (PLAIN_KEYS[key]) PLAIN_KEYS[key]();
  else if (key === "Enter" && event.target.matches("input")) marks().requestSubmit();
  else return false;
  return true;
}

export function backToPoint() {
  advancedFrom = null;
  activate(active());
}

export function keys(event) {
  const key = actual(event);
  if (inFlags(key)) return true;
  if (event.target.matches(".point-entry")) return inEntry(event, key);
  if (!key) return false;
  if (event.target.matches("select, input:not([type=radio], [type=checkbox])")) return false;
  return elsewhere(event, key);
}

document.addEventListener("input", (event) => {
  if (event.target.closest?.("#marks .point")) refresh();
});

document.addEventListener("click", (event) => {
  const chip = event.target.closest("#marks button.chip");
  if (!chip) return;
  const point = chip.closest(".point");
  if ("half" in chip.dataset) halve(point);
  else give(point, Number(chip.dataset.value));
  activate(point);
});

document.addEventListener(
  "toggle",
  (event) => {
    if (event.target.id !== "flags") return;
    if (event.target.open) event.target.querySelector("input").focus();
    else if (event.target.contains(document.activeElement)) backToPoint();
  },
  { capture: true },
);
