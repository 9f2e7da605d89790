// The desk of checks by keyboard: letters of the question choose, Enter saves; keys.js presses the
// keys of the outcomes. Sentences come from data attributes of the page.
const form = () => document.getElementById("check");
const parts = () => [...form().querySelectorAll("[data-part]")];
const choices = (part) => [...part.querySelectorAll("input[type=radio], input[type=checkbox]")];
const outcome = (value) => form().querySelector(`[name=outcome][value="${value}"]`);
const TEXT = "input[type=text]";

// ---- the active sub-question ----
const active = () => parts().find((part) => part.hasAttribute("data-active")) ?? parts()[0];

function activate(part) {
  for (const other of parts()) other.toggleAttribute("data-active", other === part);
}

function focusOn(part) {
  activate(part);
  const inputs = choices(part);
  const target = inputs.find((input) => input.checked) ?? inputs[0] ?? part.querySelector(TEXT);
  target.focus({ preventScroll: true });
  part.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = parts();
  const target = all[all.indexOf(active()) + step];
  if (target) focusOn(target);
}

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
  else focusOn(part);
  return true;
}

function clear(part) {
  for (const input of choices(part)) input.checked = input.type === "radio" && input.value === "";
}

function jump(digit) {
  const part = parts()[Number(digit) - 1];
  if (part) focusOn(part);
  return Boolean(part);
}

// Whoever says that nothing is answered, leaves no letter; whoever chooses a letter, says one is.
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

function handle(event) {
  if (event.target.matches("input:not([type=radio], [type=checkbox])")) return leave(event);
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

// In a field of text every character is text; Esc leads out of it.
function leave(event) {
  if (event.key !== "Escape") return false;
  event.target.blur();
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
  const part = event.target.closest?.("#check [data-part]");
  if (part) activate(part);
});

// ---- saving ----
function show(kind, text) {
  const pill = document.getElementById("saved");
  pill.dataset.state = kind;
  pill.textContent = text;
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "check" || !form().dataset.busy) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

const isSave = (event) => event.detail.elt?.id === "check";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isSave(event)) return;
  form().dataset.busy = "yes";
  show("saving", form().dataset.saving);
});

// What failed stays in the page; htmx-errors.js says why.
document.addEventListener("htmx:afterRequest", (event) => {
  if (!isSave(event) || event.detail.successful || !form()) return;
  delete form().dataset.busy;
  show("failed", form().dataset.failed);
});

// ---- a response appears ----
// The words that were read come into sight within their column, and the page stays where it is.
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
  const saving = form().querySelector(".desk-save");
  activate(parts()[0]);
  saving.focus({ preventScroll: true });
  form().dataset.ready = "yes";
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "desk") return;
  event.detail.elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  appear();
  scrollTo(0, 0);
  const { dataset } = event.detail.elt;
  document.getElementById("said").textContent = "saved" in dataset ? dataset.saidSaved : dataset.said;
});

appear();
