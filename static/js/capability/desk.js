// The reviewer's desk: what it does differently from other desks (desk/saving.js). A digit leads a dimension
// through 1, 0 and "does not apply"; keys.js presses it, as it ticks weaknesses by their letters.
import { startDesk } from "../desk/saving.js";
import { groupsOf } from "../desk/groups.js";
import { form } from "../desk/page.js";
import { notify } from "../htmx-errors.js";

const { all: lines, activate } = groupsOf("#judgement [data-dimension]");
const radiosOf = (line) => [...line.querySelectorAll("input[type=radio]")];
const firstMissing = () => lines().find((line) => radiosOf(line).every((radio) => !radio.checked));

function cycle(line) {
  const radios = radiosOf(line);
  radios[(radios.findIndex((radio) => radio.checked) + 1) % radios.length].checked = true;
  changed();
  activate(line);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-cycle]");
  if (button) cycle(button.closest("[data-dimension]"));
});

function complete() {
  const missing = firstMissing();
  if (!missing) return true;
  const name = missing.querySelector("legend").textContent;
  notify(form().dataset.missing.replace("%dimension%", name));
  activate(missing);
  return false;
}

// There are no drafts here: whoever leaves with a judgement or a note that is not saved is told first.
let unsaved = false;
let warned = false;

function changed() {
  unsaved = true;
  warned = false;
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#judgement")) changed();
});

function mayLeave() {
  if (!unsaved || warned) return true;
  warned = true;
  notify(form().dataset.unsaved, "warning");
  return false;
}

function appear() {
  unsaved = warned = false;
  if (form()) activate(firstMissing() ?? lines()[0], false);
}

startDesk({ appear, complete, mayLeave, failing: () => unsaved });
