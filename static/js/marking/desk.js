// The marking desk: what it does differently from other desks (desk/saving.js). Points and keys are in
// desk-keys.js, drafts in desk-drafts.js, what is read in desk-parts.js, desk-reading.js and desk-subs.js.
import "./mark-fields.js"; // first: what does not fit is not submitted
import { lookAhead } from "./desk-ahead.js";
import { beginDrafts, draftsFail, hasUnsent, holdDrafts, keepAsDraft, sayAbove, sayWayOn, sendDraft, underWay } from "./desk-drafts.js";
import { activate, activateFirst, backToPoint, firstMissing, keys, points, refresh, refusal } from "./desk-keys.js";
import { keepPlace, settleReading } from "./desk-reading.js";
import { countSubs } from "./desk-subs.js";
import { startDesk } from "../desk/saving.js";
import { form as marks } from "../desk/page.js";
import { notify } from "../htmx-errors.js";

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

// ---- the comment: its key puts the cursor at the end of the text ----
document.addEventListener("click", (event) => {
  const label = event.target.closest("label[for=comment]");
  if (!label) return;
  event.preventDefault();
  label.control.focus({ preventScroll: true });
  label.control.setSelectionRange(label.control.textLength, label.control.textLength);
});

// ---- saving ----
function complete() {
  if (marks().querySelector(".desk-save").disabled) return false; // the round was closed, as the page says
  const refused = refusal();
  if (refused) {
    notify(refused); // the point still has the mark from before
    return false;
  }
  const missing = firstMissing();
  if (!missing) return true;
  const { missing: sentence, noTotal } = marks().dataset;
  const number = points().indexOf(missing) + 1;
  notify(missing.querySelector("#total") ? noTotal : sentence.replace("%number%", number));
  activate(missing);
  return false;
}

// Undo and skip leave the response, so its draft has to be stored first. "Keep the saved mark" discards the
// draft, so one that is being sent must arrive before that.
function mayLeave(form) {
  const keeps = form.id === "keep";
  if (keeps ? !underWay() : !hasUnsent()) return true;
  Promise.resolve(keeps ? underWay() : sendDraft()).then(() => {
    if (keeps || !hasUnsent()) form.requestSubmit();
  });
  return false;
}

// In a closed round nothing can be saved: the button is disabled and the reason is shown. The server has a draft,
// unless the page was older than the mark or draft that it has.
function refused(code, sentence) {
  if (code !== "round_closed") {
    if (!sayWayOn(code, sentence)) keepAsDraft();
    return false;
  }
  marks().querySelector(".desk-save").disabled = true;
  sayAbove(sentence);
  return true;
}

// ---- a response appears ----
function appear() {
  beginDrafts();
  settleReading();
  countSubs();
  lookAhead();
  if (!marks()) return;
  refresh();
  activateFirst();
}

document.addEventListener("htmx:beforeSwap", keepPlace);

startDesk({
  appear,
  complete,
  keys,
  leaveText: backToPoint,
  mayLeave,
  sending: holdDrafts,
  refused,
  failing: draftsFail,
});
