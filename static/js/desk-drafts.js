// Drafts go out as one types. One that could not be kept is sent again until it is; the page says so.
import { isLoggedOut, waitForLogin } from "./desk-login.js";
import { isBusy, marks, patience, show } from "./desk-page.js";
import { explain } from "./htmx-errors.js";

const DRAFT_MS = 800;
let state = fresh();

function fresh() {
  const sequence = Number(marks()?.dataset.draftSequence ?? 0);
  return { dirty: false, sequence, timer: 0, failures: 0, renewed: false };
}

export function beginDrafts() {
  clearTimeout(state.timer);
  state = fresh();
}

export const hasUnsent = () => state.dirty;
export const draftsFail = () => state.failures > 0;
export const holdDrafts = () => clearTimeout(state.timer);

function later(milliseconds) {
  clearTimeout(state.timer);
  state.timer = setTimeout(sendDraft, milliseconds);
}

// What was refused as a mark is kept as a draft at once.
export function keepAsDraft() {
  state.dirty = true;
  sendDraft();
}

export async function sendDraft(keepalive = false) {
  const form = marks();
  clearTimeout(state.timer);
  if (!form || !state.dirty || form.dataset.version !== "0") return;
  state.dirty = false;
  // Later than any draft of another window, and than the one before.
  state.sequence = Math.max(state.sequence + 1, Date.now());
  const body = new FormData(form);
  body.append("sequence", state.sequence);
  // The header lets an ended session answer 401 instead of a login page.
  const headers = { "HX-Request": "true" };
  const request = { method: "POST", body, headers, keepalive: keepalive === true };
  const answer = await fetch(form.dataset.draftUrl, request).catch(() => null);
  const text = await answer?.text().catch(() => "");
  if (marks() === form) await became(answer, text, form);
}

async function became(answer, text, form) {
  if (answer?.ok) {
    state.failures = 0;
    state.renewed = false;
    if (!isBusy()) show("saved", form.dataset.kept.replace("%time%", text));
    return;
  }
  const loggedOut = isLoggedOut(answer?.status, state.renewed);
  const lasting = answer && !loggedOut && answer.status < 500 && answer.status !== 429;
  state.dirty = !lasting; // what is refused for good holds nobody back
  if (isBusy()) return; // the save that is on its way holds all of it
  show("failed", lasting ? form.dataset.draftRefused : form.dataset.draftFailed);
  if (loggedOut) await waitForLogin(renewed);
  else if (lasting) explain({ status: answer.status, responseText: text });
  else later(patience(state.failures++));
}

function renewed() {
  state.renewed = true;
  sendDraft();
}

document.addEventListener("input", (event) => {
  if (!event.target.closest?.("#marks")) return;
  state.dirty = true;
  if (!state.failures) later(DRAFT_MS);
});

addEventListener("online", () => state.failures && sendDraft());
addEventListener("pagehide", () => sendDraft(true));
