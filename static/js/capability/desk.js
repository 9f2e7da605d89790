// The reviewer's desk: a digit leads a dimension through 1, 0 and "does not apply"; keys.js presses
// it, as it ticks weaknesses by their letters. Sentences come from data attributes of the page.
import { notify } from "../htmx-errors.js";

const IDLE_MS = 5 * 60 * 1000;
let seconds = 0;
let seenAt = Date.now();

const form = () => document.getElementById("judgement");
const radiosOf = (line) => [...line.querySelectorAll("input[type=radio]")];
const valueOf = (line) => radiosOf(line).find((radio) => radio.checked)?.value ?? "";
const lines = () => [...form().querySelectorAll("[data-dimension]")];

// ---- values ----
function activate(line) {
  for (const other of lines()) other.toggleAttribute("data-active", other === line);
}

function cycle(line) {
  const radios = radiosOf(line);
  const next = radios[(radios.findIndex((radio) => radio.checked) + 1) % radios.length];
  next.checked = true;
  next.focus({ preventScroll: true });
  line.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-cycle]");
  if (button) cycle(button.closest("[data-dimension]"));
});

document.addEventListener("focusin", (event) => {
  const line = event.target.closest?.("#judgement [data-dimension]");
  if (line) activate(line);
});

// Enter saves from the note too. A keyboard on the screen has no Shift with Enter: there it makes a line.
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "note" || event.isComposing) return;
  if (event.key === "Escape") event.target.blur();
  if (event.key !== "Enter" || event.shiftKey || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  form().requestSubmit();
});

// ---- time at work: visible, and not idle for more than five minutes ----
function live() {
  const now = Date.now();
  if (!document.hidden) seconds += Math.min(now - seenAt, IDLE_MS) / 1000;
  seenAt = now;
}

for (const kind of ["keydown", "pointermove", "scroll", "visibilitychange"]) {
  document.addEventListener(kind, live, { capture: true, passive: true });
}

// ---- saving ----
function show(kind, text) {
  const pill = document.getElementById("saved");
  pill.dataset.state = kind;
  pill.textContent = text;
}

function complete() {
  const missing = lines().find((line) => valueOf(line) === "");
  if (!missing) return true;
  const name = missing.querySelector("legend").textContent;
  notify(form().dataset.missing.replace("%dimension%", name));
  radiosOf(missing)[0].focus({ preventScroll: true });
  missing.scrollIntoView({ block: "nearest" });
  return false;
}

document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id !== "judgement") return;
    if (!form().dataset.busy && complete()) {
      live();
      form().elements.seconds.value = Math.round(seconds);
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

const isSave = (event) => event.detail.elt?.id === "judgement";

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

// A judgement that is refused because the page was old comes back as a desk that shows both.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 409 || !event.detail.serverResponse.includes('id="desk"')) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

// ---- an answer appears ----
function appear() {
  seconds = 0;
  seenAt = Date.now();
  if (!form()) return;
  const first = lines().find((line) => valueOf(line) === "") ?? lines()[0];
  activate(first);
  radiosOf(first)[0].focus({ preventScroll: true });
  form().dataset.ready = "yes";
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "desk") return;
  event.detail.elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  const refusal = document.querySelector("#desk [data-refusal]");
  appear();
  if (!refusal) scrollTo(0, 0);
  const { said, saidSaved } = event.detail.elt.dataset;
  const saved = event.detail.requestConfig.elt.id === "judgement" && !refusal;
  document.getElementById("said").textContent = saved ? saidSaved : said;
});

appear();
