// Saving so that nothing is lost: the next response comes only after the save was confirmed; what
// could not be saved stays in the page and is sent again (desk-drafts.js for what is not saved yet).
// htmx sends the form. The key in it makes a repeated save the same save.
import {
  beginDrafts,
  draftsFail,
  hasUnsent,
  holdDrafts,
  keepAsDraft,
  sendDraft,
  underWay,
} from "./desk-drafts.js";
import { activate, firstMissing } from "./desk-keys.js";
import { isLoggedOut, waitForLogin } from "./desk-login.js";
import { isBusy, marks, patience, setBusy, show } from "./desk-page.js";
import { notify, refusal, refusalCode } from "../htmx-errors.js";

const IDLE_MS = 5 * 60 * 1000;
const LEAVING = ["undo", "skip", "next", "revise", "keep"];

let state = fresh();

function fresh() {
  return { retryTimer: 0, failures: 0, renewed: false, seconds: 0, seenAt: Date.now() };
}

// ---- a response appears ----
export function begin() {
  clearTimeout(state.retryTimer);
  state = fresh();
  beginDrafts();
}

// ---- time at work: visible, and not idle for more than five minutes ----
function live() {
  const now = Date.now();
  if (!document.hidden) state.seconds += Math.min(now - state.seenAt, IDLE_MS) / 1000;
  state.seenAt = now;
}

for (const kind of ["keydown", "pointermove", "scroll", "visibilitychange"]) {
  document.addEventListener(kind, live, { capture: true, passive: true });
}

// ---- saving ----
function complete() {
  const missing = firstMissing();
  if (!missing) return true;
  const { missing: sentence, noTotal } = marks().dataset;
  const number = [...marks().querySelectorAll(".point")].indexOf(missing) + 1;
  notify(missing.querySelector("#total") ? noTotal : sentence.replace("%number%", number));
  activate(missing);
  return false;
}

// Undo and skip leave the response: its draft has to be there first. "Keep the saved mark" gives the
// draft up: one that is under way must not arrive after that.
async function leave(form) {
  if (form.id === "keep") await underWay();
  else await sendDraft();
  if (form.id === "keep" || !hasUnsent()) form.requestSubmit();
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    const stop = () => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    if (form.id !== "marks" && !LEAVING.includes(form.id)) return;
    if (isBusy()) return stop();
    if (form.id !== "marks") {
      if (form.id === "keep" ? !underWay() : !hasUnsent()) return;
      stop();
      leave(form);
    } else if (complete()) {
      live();
      form.elements.seconds.value = Math.round(state.seconds);
    } else {
      stop();
    }
  },
  { capture: true },
);

const isSave = (event) => event.detail.elt?.id === "marks";
const isLeaving = (event) => LEAVING.includes(event.detail.elt?.id);

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isSave(event) && !isLeaving(event)) return;
  holdDrafts();
  clearTimeout(state.retryTimer);
  setBusy(true);
  if (isSave(event)) show("saving", marks().dataset.saving);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (isLeaving(event) && !event.detail.successful) setBusy(false);
});

// A mark that is refused because the page was old comes back as a desk that shows both; one that
// was counted meanwhile comes back to be read.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 409 || !event.detail.serverResponse.includes('id="desk"')) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

// In a closed round nothing can be saved: the button goes, its reason stays. The server kept a draft.
function closed(form, sentence) {
  form.querySelector(".desk-save").disabled = true;
  const said = document.createElement("p");
  said.className = "message message-warning desk-message";
  said.append(sentence);
  form.querySelector(".points").before(said);
}

function failed({ status, responseText = "" }) {
  const form = marks();
  if (!form) return;
  setBusy(false);
  show("failed", form.dataset.failed);
  if (refusalCode(responseText) === "round_closed") return closed(form, refusal(responseText));
  if (isLoggedOut(status, state.renewed)) return waitForLogin(renewed);
  const lasting = status >= 400 && status < 500 && status !== 429;
  state.failures += 1;
  if (lasting) keepAsDraft();
  else retryLater(form);
}

function renewed() {
  state.renewed = true;
  retry();
}

function retryLater(form) {
  show("failed", form.dataset.retry);
  state.retryTimer = setTimeout(retry, patience(state.failures - 1));
}

function retry() {
  clearTimeout(state.retryTimer);
  if (marks() && !isBusy()) marks().requestSubmit();
}

function left(event) {
  const { elt, xhr } = event.detail;
  if (isLoggedOut(xhr.status, state.renewed)) {
    waitForLogin(() => {
      state.renewed = true;
      elt.requestSubmit();
    });
  }
}

document.addEventListener("htmx:responseError", (event) => {
  if (isSave(event)) failed(event.detail.xhr);
  else if (isLeaving(event)) left(event);
});
document.addEventListener("htmx:sendError", (event) => isSave(event) && failed({ status: 0 }));
document.addEventListener("htmx:timeout", (event) => isSave(event) && failed({ status: 0 }));
addEventListener("online", () => state.failures && retry());

// Whoever closes the page while something could not be sent is asked first.
addEventListener("beforeunload", (event) => {
  if (marks() && (state.failures || draftsFail())) event.preventDefault();
});
