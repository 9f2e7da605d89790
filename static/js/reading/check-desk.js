// The desk of checks: what it does differently from other desks (desk/saving.js). Letters of the question choose;
// keys.js presses the keys of the outcomes.
import { isChanged, startDesk } from "../desk/saving.js";
import { groupsOf } from "../desk/groups.js";
import { form } from "../desk/page.js";

const { all: parts, active, activate, move } = groupsOf("#check [data-part]");
const choices = (part) => [...part.querySelectorAll("input[type=radio], input[type=checkbox]")];
const outcome = (value) => form().querySelector(`[name=outcome][value="${value}"]`);
const TEXT = "input[type=text]";

// ---- choosing ----
function answered() {
  outcome("read").checked = true;
}

function choose(letter) {
  const part = active();
  const input = choices(part).find((one) => one.value === letter);
  if (!input) return false;
  input.checked = input.type === "checkbox" ? !input.checked : true;
  answered();
  if (input.type === "radio" && part !== parts().at(-1)) move(1);
  else activate(part);
  return true;
}

function clear(part) {
  for (const input of choices(part)) input.checked = input.type === "radio" && input.value === "";
}

function jump(digit) {
  const part = parts()[Number(digit) - 1];
  if (part) activate(part);
  return Boolean(part);
}

// An outcome without an answer clears the letters; choosing a letter sets the outcome "read".
document.addEventListener("change", (event) => {
  if (!event.target.closest?.("#check")) return;
  if (event.target.name !== "outcome") {
    if (event.target.value) answered();
  } else if (event.target.value !== "read") parts().forEach(clear);
});

document.addEventListener("input", (event) => {
  if (event.target.matches?.(`#check ${TEXT}`) && event.target.value) answered();
});

// ---- keys ----
const PLAIN_KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Backspace: () => clear(active()),
  Delete: () => clear(active()),
};

function keys(event) {
  if (event.target.matches(TEXT)) return leave(event);
  if (event.key === "Enter" && event.target.matches("input")) {
    form().requestSubmit();
    return true;
  }
  if (event.key.length === 1 && choose(event.key.toUpperCase())) return true;
  if (/^[1-9]$/.test(event.key) && parts().length > 1) return jump(event.key);
  if (!PLAIN_KEYS[event.key]) return false;
  PLAIN_KEYS[event.key]();
  return true;
}

// In a field of text every character is text; Esc leaves it.
function leave(event) {
  if (event.key !== "Escape") return false;
  event.target.blur();
  return true;
}

// ---- a response appears ----
// Scroll the column, not the page, to the words that were read.
function showEvidence() {
  const mark = document.querySelector("#desk mark");
  const body = mark?.closest(".desk-body");
  if (!body) return;
  const above = mark.getBoundingClientRect().top - body.getBoundingClientRect().top;
  body.scrollTop += above - body.clientHeight / 3;
}

function appear() {
  if (!form()) return;
  showEvidence();
  activate(parts()[0], false);
  form().querySelector(".desk-save").focus({ preventScroll: true });
}

startDesk({ appear, keys, failing: isChanged });
