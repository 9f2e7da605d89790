// The marking desk: what happens when a response appears, and the small things around the marks.
// Points and keys are in desk-keys.js, saving in desk-saving.js, what is read in desk-parts.js,
// desk-reading.js and desk-subs.js. Every sentence comes from data attributes of the page.
import "./mark-fields.js"; // first: what does not fit is not submitted
import { lookAhead } from "./desk-ahead.js";
import { activateFirst, refresh } from "./desk-keys.js";
import { marks, say } from "./desk-page.js";
import { keepPlace, settleReading } from "./desk-reading.js";
import { begin } from "./desk-saving.js";
import { countSubs } from "./desk-subs.js";

// ---- the response rendered, or as it was written ----
function showView(tab) {
  for (const other of document.querySelectorAll("[data-view]")) {
    const chosen = other === tab;
    other.toggleAttribute("aria-current", chosen);
    if (chosen) other.setAttribute("aria-current", "true");
    other.toggleAttribute("data-key", !chosen);
    if (!chosen) other.setAttribute("data-key", "r");
  }
  for (const shown of document.querySelectorAll("[data-shows]")) {
    shown.hidden = shown.dataset.shows !== tab.dataset.view;
  }
}

// ---- flags ----
function showFlags() {
  for (const pill of document.querySelectorAll("#flags-set [data-flag]")) {
    pill.hidden = !document.querySelector(`#flags input[value="${pill.dataset.flag}"]`).checked;
  }
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-view]");
  if (!tab || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  showView(tab);
});

document.addEventListener("change", (event) => {
  if (event.target.name === "flags") showFlags();
});

// ---- the comment: its key goes on where the text ends ----
document.addEventListener("click", (event) => {
  const label = event.target.closest("label[for=comment]");
  if (!label) return;
  event.preventDefault();
  label.control.focus({ preventScroll: true });
  label.control.setSelectionRange(label.control.textLength, label.control.textLength);
});

// ---- a response appears ----
function announce(saved) {
  const { said, saidSaved } = document.getElementById("desk").dataset;
  say(saved ? saidSaved : said);
}

function appear() {
  begin();
  settleReading();
  countSubs();
  lookAhead();
  if (!marks()) return;
  refresh();
  activateFirst();
}

document.addEventListener("htmx:beforeSwap", keepPlace);

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "desk") return;
  event.detail.elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  appear();
  const refusal = document.querySelector("#desk [data-refusal]");
  if (refusal) refusal.scrollIntoView({ block: "nearest" });
  else scrollTo(0, 0);
  announce(event.detail.requestConfig.elt.id === "marks" && !refusal);
});

appear();
