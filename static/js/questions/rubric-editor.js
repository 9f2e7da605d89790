// The rubric editor by keyboard: rows are added, moved, removed and grouped; the sums are compared with the full
// marks. The form works without this script: rows have buttons and there are spare rows.
import { totalsByGroup } from "../capped-sum.js";
import { composes } from "../key-map.js";
import { askBeforeLeaving } from "../unsent.js";

const form = document.getElementById("rubric");
const list = document.getElementById("rubric-rows");
const template = document.getElementById("rubric-row");
const rows = () => [...list.querySelectorAll("[data-row]")];
const textOf = (row) => row.querySelector("textarea");
const pointsOf = (row) => row.querySelector("[name^=points-]");
const subOf = (row) => row.querySelector("[data-sub]");
const groupOf = (row) => row.querySelector("[data-group-of]");
const isBlank = (row) => textOf(row).value.trim() === "" && pointsOf(row).value.trim() === "";
const groupRows = () => [...form.querySelectorAll("[data-group-row]")];
const numberOf = (input) => Number(input.value.trim().replace(/[，,。]/, ".") || "NaN");

function plain(number) {
  return String(Math.round(number * 100) / 100);
}

// Names, labels and button values contain the position of the row.
function renumber() {
  rows().forEach((row, place) => {
    const number = String(place + 1);
    const shown = row.querySelector("[data-number]");
    const before = shown.textContent.trim();
    shown.textContent = number;
    for (const control of row.querySelectorAll("[name]")) {
      if (control.name === "do") control.value = control.value.replace(/\d+$/, number);
      else control.name = control.name.replace(/\d+$/, number);
      control.setAttribute("aria-label", (control.getAttribute("aria-label") ?? "").replace(before, number));
    }
  });
}

function grow(area) {
  area.rows = 1;
  const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 22;
  area.rows = Math.min(8, Math.max(1, Math.round((area.scrollHeight - 10) / line)));
}

// ---- sums ----
function showSums() {
  const bySub = new Map();
  for (const row of rows().filter((one) => !isBlank(one))) {
    const group = groupOf(row).value;
    const own = group && form.querySelector(`[data-group-row="${group}"]`);
    const dataset = own
      ? { group, cap: numberOf(own.querySelector("[name^=cap-]")), choose: own.querySelector("select").value }
      : {};
    const sub = subOf(row).value;
    bySub.set(sub, [...(bySub.get(sub) ?? []), { element: { dataset }, value: numberOf(pointsOf(row)) }]);
  }
  for (const shown of form.querySelectorAll("[data-sub-sum]")) {
    const totals = totalsByGroup(bySub.get(shown.dataset.subSum) ?? []);
    const sum = [...totals.values()].reduce((one, other) => one + other, 0);
    shown.querySelector("strong").textContent = Number.isFinite(sum) ? plain(sum) : "–";
    shown.classList.toggle("rubric-fits", sum === Number(shown.dataset.full));
  }
}

// Only groups that a line names, or that were filled in, get a row.
function showGroups() {
  const used = new Set(rows().map((row) => groupOf(row).value));
  let some = false;
  for (const row of groupRows()) {
    const filled = [...row.querySelectorAll("input, select")].some((control) => control.value.trim() !== "");
    row.hidden = !used.has(row.dataset.groupRow) && !filled;
    some ||= !row.hidden;
  }
  form.querySelector(".rubric-nogroup").hidden = some;
}

function mark() {
  for (const row of rows()) row.classList.toggle("in-group", groupOf(row).value !== "");
}

function refresh() {
  showGroups();
  showSums();
  mark();
}

// ---- rows ----
function add(after) {
  const row = template.content.firstElementChild.cloneNode(true);
  row.classList.remove("rubric-spare");
  if (after) {
    after.after(row);
    subOf(row).value = subOf(after).value;
    groupOf(row).value = groupOf(after).value;
  } else list.append(row);
  renumber();
  refresh();
  textOf(row).focus();
}

function move(row, direction) {
  const other = direction < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!other) return;
  const focused = document.activeElement;
  if (direction < 0) other.before(row);
  else other.after(row);
  renumber();
  focused.focus();
}

function remove(row) {
  const next = row.nextElementSibling ?? row.previousElementSibling;
  if (!next) {
    for (const input of [textOf(row), pointsOf(row)]) input.value = "";
    groupOf(row).value = "";
  } else row.remove();
  renumber();
  refresh();
  textOf(next ?? row).focus();
}

// Put the line into the group of the line above, or into a new one if that has none; the second time take it out.
function toggleGroup(row) {
  const own = groupOf(row);
  if (own.value !== "") own.value = "";
  else {
    const above = row.previousElementSibling ? groupOf(row.previousElementSibling).value : "";
    const taken = new Set(rows().map((one) => groupOf(one).value));
    own.value = above || ([...own.options].map((option) => option.value).find((value) => value && !taken.has(value)) ?? "");
  }
  refresh();
}

// ---- keys and buttons ----
const ALT = {
  ArrowUp: (row) => move(row, -1),
  ArrowDown: (row) => move(row, 1),
  Delete: remove,
  Backspace: remove,
  KeyG: toggleGroup,
};

form.addEventListener("keydown", (event) => {
  if (composes(event)) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector(".button-primary"));
    return;
  }
  const row = event.target.closest("[data-row]");
  const deed = event.altKey && (ALT[event.key] ?? ALT[event.code]);
  if (row && deed) {
    event.preventDefault();
    deed(row);
    changed();
  } else if (event.key === "Enter" && event.target.matches("textarea, .input")) {
    event.preventDefault();
    if (row) add(row);
  }
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move], [data-remove]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest("[data-row]");
  if ("remove" in button.dataset) remove(row);
  else {
    move(row, Number(button.dataset.move));
    button.focus();
  }
  changed();
});

// Rows are moved, grouped and removed without an event of a field.
const changed = () => form.dispatchEvent(new Event("input"));

form.addEventListener("input", (event) => {
  if (event.target.matches("textarea")) grow(event.target);
  refresh();
});

document.getElementById("add-row").addEventListener("click", () => add(rows().at(-1)));

askBeforeLeaving(form);

// ---- start: one blank row is enough here ----
const spare = rows().filter(isBlank);
for (const row of spare.slice(rows().length === spare.length ? 1 : 0)) row.remove();
renumber();
rows().forEach((row) => grow(textOf(row)));
refresh();
textOf(rows().find(isBlank) ?? rows()[0]).focus({ preventScroll: true });
