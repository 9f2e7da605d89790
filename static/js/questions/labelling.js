// The labelling desk by keyboard: digits choose in the active label, letters jump, Enter saves.
// The knowledge is found by typing in labelling-knowledge.js. Sentences come from data attributes.
import { notify } from "../htmx-errors.js";
import { beginKnowledge, chooseKnowledge, entry, knowledgeKey, knowledgeValue } from "./labelling-knowledge.js";

let warned = false; // Enter was pressed once although a label is missing

const form = () => document.getElementById("labels");
const groups = () => [...form().querySelectorAll("fieldset.point")];
const radiosOf = (group) => [...group.querySelectorAll("input[type=radio]")];
const groupOf = (label) => form().querySelector(`[data-label="${label}"]`);

function valueOf(group) {
  if (group.dataset.label === "knowledge") return knowledgeValue();
  return radiosOf(group).find((radio) => radio.checked)?.value ?? "";
}

// ---- the active label ----
function activate(group) {
  for (const other of groups()) other.toggleAttribute("data-active", other === group);
  const radios = radiosOf(group);
  const target = radios.find((radio) => radio.checked) ?? radios[0] ?? entry();
  target.focus({ preventScroll: true });
  if (target === entry()) target.select();
  group.scrollIntoView({ block: "nearest" });
}

const active = () => groups().find((group) => group.hasAttribute("data-active")) ?? groups()[0];
const firstMissing = () => groups().find((group) => valueOf(group) === "");

function move(direction) {
  const all = groups();
  const target = all[all.indexOf(active()) + direction];
  if (target) activate(target);
}

// The next label without a value, then one before; where all have one, the save button waits for Enter.
function goOn() {
  const missing = groups().filter((group) => valueOf(group) === "");
  const later = missing.find((group) => groups().indexOf(group) > groups().indexOf(active()));
  if (missing.length) activate(later ?? missing[0]);
  else form().querySelector(".desk-save").focus({ preventScroll: true });
}

// ---- choosing ----
function check(group, value) {
  warned = false;
  for (const radio of radiosOf(group)) radio.checked = value !== "" && radio.value === value;
}

function chooseDigit(group, digit) {
  const radio = radiosOf(group)[Number(digit) - 1];
  if (!radio) return;
  check(group, radio.value);
  goOn();
}

function chosenKnowledge(branch) {
  warned = false;
  const group = groupOf("ability_branch");
  if (branch && valueOf(group) === "") check(group, branch);
  goOn();
}

function accept() {
  const suggested = document.getElementById("suggestion").dataset;
  for (const group of groups()) {
    const value = suggested[group.dataset.label];
    if (!value) continue;
    if (group.dataset.label === "knowledge") chooseKnowledge(value);
    else check(group, value);
  }
  goOn();
}

// ---- saving ----
// True when it may go: with all labels, or when Enter was pressed again.
function complete() {
  const missing = groups().filter((group) => valueOf(group) === "");
  if (!missing.length) return true;
  const { empty, missing: sentence } = form().dataset;
  const nothing = missing.length === groups().length;
  if (warned && !nothing) return true;
  warned = true;
  const name = missing[0].querySelector("legend").textContent;
  notify(nothing ? empty : sentence.replace("%label%", name), "warning");
  activate(missing[0]);
  return false;
}

function showSaved(kind, text) {
  const pill = document.getElementById("saved");
  pill.dataset.state = kind;
  pill.textContent = text;
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "labels") return;
    if (!form().dataset.busy && complete()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

const isSave = (event) => event.detail.elt?.id === "labels";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isSave(event)) return;
  form().dataset.busy = "yes";
  showSaved("saving", form().dataset.saving);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!isSave(event) || event.detail.successful || !form()) return;
  delete form().dataset.busy;
  showSaved("failed", form().dataset.failed);
});

// ---- keys ----
const PLAIN_KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Backspace: () => check(active(), ""),
  Delete: () => check(active(), ""),
};

function handle(event) {
  if (event.target === entry()) return inEntry(event);
  if (event.target.matches("textarea, select, input:not([type=radio])")) return inField(event);
  if (/^[1-9]$/.test(event.key)) chooseDigit(active(), event.key);
  else if (PLAIN_KEYS[event.key]) PLAIN_KEYS[event.key]();
  else return jump(event.key) || enterOnRadio(event);
  return true;
}

function jump(key) {
  const group = groups().find((one) => one.dataset.jump === key);
  if (group) activate(group);
  return Boolean(group);
}

function enterOnRadio(event) {
  if (event.key !== "Enter" || !event.target.matches("input[type=radio]")) return false;
  form().requestSubmit();
  return true;
}

function inField(event) {
  if (event.key !== "Escape" || event.target.id !== "reason") return false;
  activate(active());
  return true;
}

function inEntry(event) {
  const done = knowledgeKey(event, chosenKnowledge);
  if (done !== "leave") return done;
  if (event.key === "Enter") form().requestSubmit();
  else if (event.key === "Escape") activate(groupOf("difficulty"));
  else move(event.key === "ArrowUp" ? -1 : 1);
  return true;
}

// Before keys.js, which stands aside for what is prevented here.
document.addEventListener(
  "keydown",
  (event) => {
    if (!form() || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (form().dataset.busy || handle(event)) event.preventDefault();
  },
  { capture: true },
);

document.addEventListener("focusin", (event) => {
  const group = event.target.closest?.("#labels fieldset.point");
  if (!group) return;
  for (const other of groups()) other.toggleAttribute("data-active", other === group);
});

document.addEventListener("change", (event) => {
  if (event.target.closest?.("#labels")) warned = false;
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-accept]")) accept();
});

// ---- a question appears ----
function announce() {
  const { dataset } = document.getElementById("desk");
  const text = "saved" in dataset ? dataset.saidSaved : "undone" in dataset ? dataset.saidUndone : dataset.said;
  document.getElementById("said").textContent = text;
}

function appear() {
  warned = false;
  if (!form()) return;
  beginKnowledge(chosenKnowledge);
  activate(firstMissing() ?? groups()[0]);
  form().dataset.ready = "yes";
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id === "label-history") {
    event.detail.elt.scrollIntoView({ block: "nearest" });
    return;
  }
  if (event.detail.elt.id !== "desk") return;
  event.detail.elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  appear();
  scrollTo(0, 0);
  announce();
});

appear();
