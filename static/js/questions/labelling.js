// The labelling desk: what it does differently from other desks (desk/saving.js). Digits choose in the active
// label, letters jump. The knowledge is found by typing in labelling-knowledge.js.
import { isChanged, startDesk } from "../desk/saving.js";
import { groupsOf } from "../desk/groups.js";
import { form } from "../desk/page.js";
import { notify } from "../htmx-errors.js";
import { beginKnowledge, chooseKnowledge, entry, knowledgeKey, knowledgeValue } from "./labelling-knowledge.js";

let warned = false; // Enter was pressed once although a label is missing

const { all: groups, active, activate, move } = groupsOf("#labels fieldset.point");
const radiosOf = (group) => [...group.querySelectorAll("input[type=radio]")];
const groupOf = (label) => form().querySelector(`[data-label="${label}"]`);

function valueOf(group) {
  if (group.dataset.label === "knowledge") return knowledgeValue();
  return radiosOf(group).find((radio) => radio.checked)?.value ?? "";
}

const missingGroups = () => groups().filter((group) => valueOf(group) === "");

// The next label without a value, then one before; where all have one, the save button waits for Enter.
function goOn() {
  const missing = missingGroups();
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
  const missing = missingGroups();
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

// ---- keys ----
const PLAIN_KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Backspace: () => check(active(), ""),
  Delete: () => check(active(), ""),
};

function keys(event) {
  if (event.target === entry()) return inEntry(event);
  if (event.target.matches("select, input:not([type=radio])")) return inField(event);
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

document.addEventListener("change", (event) => {
  if (event.target.closest?.("#labels")) warned = false;
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-accept]")) accept();
});

// ---- a question appears ----
function appear() {
  warned = false;
  if (!form()) return;
  beginKnowledge(chosenKnowledge);
  activate(missingGroups()[0] ?? groups()[0]);
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id === "label-history") event.detail.elt.scrollIntoView({ block: "nearest" });
});

startDesk({ appear, complete, keys, failing: isChanged });
