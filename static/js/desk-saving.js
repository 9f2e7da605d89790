// Saving so that nothing is lost: the next response comes only after the save was confirmed; what
// could not be saved stays in the page and is sent again; drafts go out as one types.
// htmx sends the form. The key in it makes a repeated save the same save.
import { notify } from "./htmx-errors.js";
import { activate, firstMissing } from "./desk-keys.js";

const DRAFT_MS = 800;
const IDLE_MS = 5 * 60 * 1000;
const RETRIES_MS = [2000, 5000, 10000, 20000, 30000];

let state = fresh();

function fresh() {
  return {
    dirty: false, // typed and not yet kept as a draft
    sequence: 0,
    draftTimer: 0,
    retryTimer: 0,
    failures: 0,
    login: false, // waits until somebody has logged in again
    renewed: false, // has had a new token already
    seconds: 0,
    seenAt: Date.now(),
  };
}

const LEAVING = ["undo", "skip", "next"];

const marks = () => document.getElementById("marks");
const region = () => document.getElementById("notices").dataset;

function show(kind, text) {
  const pill = document.getElementById("saved");
  pill.dataset.state = kind;
  pill.textContent = text;
}

// ---- a response appears ----
export function begin() {
  clearTimeout(state.draftTimer);
  clearTimeout(state.retryTimer);
  state = fresh();
  state.sequence = Number(marks()?.dataset.draftSequence ?? 0);
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

// ---- drafts ----
async function sendDraft(keepalive = false) {
  const form = marks();
  clearTimeout(state.draftTimer);
  if (!form || !state.dirty || form.dataset.version !== "0") return;
  state.dirty = false;
  // Later than any draft of another window, and than the one before.
  state.sequence = Math.max(state.sequence + 1, Date.now());
  const body = new FormData(form);
  body.append("sequence", state.sequence);
  try {
    // The header lets an ended session answer 401 instead of a login page.
    const headers = { "HX-Request": "true" };
    const answer = await fetch(form.dataset.draftUrl, { method: "POST", body, headers, keepalive });
    if (marks() !== form || form.dataset.busy) return;
    if (answer.ok) show("saved", form.dataset.kept.replace("%time%", await answer.text()));
    else if (answer.status === 401) askForLogin();
  } catch {
    state.dirty = true; // the network is away; the next keystroke tries again
  }
}

document.addEventListener("input", (event) => {
  if (!event.target.closest?.("#marks")) return;
  state.dirty = true;
  clearTimeout(state.draftTimer);
  state.draftTimer = setTimeout(sendDraft, DRAFT_MS);
});

addEventListener("pagehide", () => sendDraft(true));

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

// Undo and skip leave the response: its draft has to be there first.
async function leave(form) {
  await sendDraft();
  form.requestSubmit();
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    const stop = () => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    if (!marks() || (form.id !== "marks" && !LEAVING.includes(form.id))) return;
    // One request at a time: the answer to another one would swap the page under this one.
    if (marks().dataset.busy) return stop();
    if (form.id !== "marks") {
      if (!state.dirty) return;
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
  if (!marks() || !(isSave(event) || isLeaving(event))) return;
  clearTimeout(state.draftTimer);
  clearTimeout(state.retryTimer);
  marks().dataset.busy = "yes";
  if (isSave(event)) show("saving", marks().dataset.saving);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (isLeaving(event) && !event.detail.successful) delete marks()?.dataset.busy;
});

// A mark that is refused because the page was old comes back as a desk that shows both; one that
// was counted meanwhile comes back to be read.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 409 || !event.detail.serverResponse.includes('id="desk"')) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

function failed(status) {
  const form = marks();
  delete form.dataset.busy;
  show("failed", form.dataset.failed);
  if (status === 401 || (status === 403 && !state.renewed)) return waitForLogin();
  const lasting = status >= 400 && status < 500 && status !== 429;
  if (!lasting) retryLater(form);
}

function retryLater(form) {
  const wait = RETRIES_MS[Math.min(state.failures, RETRIES_MS.length - 1)];
  state.failures += 1;
  show("failed", form.dataset.retry);
  state.retryTimer = setTimeout(retry, wait);
}

function retry() {
  clearTimeout(state.retryTimer);
  if (marks() && !marks().dataset.busy) marks().requestSubmit();
}

document.addEventListener("htmx:responseError", (event) => isSave(event) && failed(event.detail.xhr.status));
document.addEventListener("htmx:sendError", (event) => isSave(event) && failed(0));
document.addEventListener("htmx:timeout", (event) => isSave(event) && failed(0));
addEventListener("online", () => state.failures && retry());

// ---- a session that ended ----
function askForLogin() {
  const { session, login, loginText } = region();
  notify(session, "error", { href: login, text: loginText });
}

// 403 comes when the token went with the session, or when one logged in elsewhere meanwhile.
async function waitForLogin() {
  state.login = true;
  if (!(await comeBack())) askForLogin();
}

// Logging in changes the token against forged requests; the page as it is now holds the new one.
async function renewed() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok || answer.redirected) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page.querySelector("#desk [name=csrfmiddlewaretoken]")?.value;
  if (!token) return false;
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "x-csrftoken": token }));
  return true;
}

async function comeBack() {
  if (!state.login || document.hidden || !(await renewed())) return false;
  state.login = false;
  state.renewed = true;
  retry();
  return true;
}

addEventListener("focus", comeBack);
document.addEventListener("visibilitychange", comeBack);
