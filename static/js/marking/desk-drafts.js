// Drafts are sent while one types. A draft that could not be stored is sent again, and the page says so.
import { isLoggedOut, waitForLogin } from "../desk/login.js";
import { form as marks, isBusy, patience, show } from "../desk/page.js";
import { explain, refusal, refusalCode } from "../htmx-errors.js";

const DRAFT_MS = 800;
let state = fresh();

function fresh() {
  const sequence = Number(marks()?.dataset.draftSequence ?? 0);
  return { dirty: false, sequence, timer: 0, failures: 0, renewed: false, sending: null, left: 0, lost: false };
}

export function beginDrafts() {
  clearTimeout(state.timer);
  state = fresh();
}

// A page that is loaded again at once comes before the draft that the one before sent while it closed. Which one that
// was, without its text, is kept in the tab until then. Nothing can be typed meanwhile: it would replace that draft.
const LEFT = "left-draft";
const LEFT_MS = 300;

function awaitLeft() {
  const left = JSON.parse(sessionStorage.getItem(LEFT) ?? "{}");
  sessionStorage.removeItem(LEFT);
  const form = marks();
  const stored = Number(form?.dataset.draftSequence ?? 0);
  if (!left.url || left.url !== form?.dataset.draftUrl || left.sequence <= stored) return;
  form.inert = true;
  setTimeout(() => location.reload(), LEFT_MS);
}

awaitLeft();

export const hasUnsent = () => state.dirty;
export const underWay = () => state.sending;
export const draftsFail = () => state.failures > 0 || state.lost;

export function holdDrafts() {
  clearTimeout(state.timer);
  state.timer = 0;
}

function later(milliseconds) {
  holdDrafts();
  state.timer = setTimeout(sendDraft, milliseconds);
}

// Where this page is out of date a sentence above the points says so, with a button that leads on; without a *way*
// the sentence alone.
export function sayAbove(sentence, text = "", way = "") {
  marks().querySelector("[data-way-on]")?.remove();
  const said = document.createElement("p");
  said.className = "message message-warning desk-message";
  said.dataset.wayOn = way;
  said.append(sentence);
  if (way) {
    const button = document.createElement("button");
    button.className = "button button-small";
    button.setAttribute("form", way);
    button.append(text);
    said.append(" ", button);
  }
  marks().querySelector(".points").before(said);
}

// Refused, and kept by the server as its sentence says: all of it, or comment and flags.
const WHOLE = ["returned", "round_closed"];
const KEPT = [...WHOLE, "rubric_changed"];
const clock = () => new Date().toLocaleTimeString("en-GB");

// The rubric was replaced, the mark returned, the round closed, or the response is somebody else's now. False for any
// other refusal.
export function sayWayOn(code, sentence) {
  const { again, goOn } = marks().dataset;
  if (code === "not_found") sayAbove(sentence, goOn, "next");
  else if (["rubric_changed", "returned"].includes(code)) sayAbove(sentence, again, "revise");
  else if (code === "round_closed") sayAbove(sentence);
  else return false;
  return true;
}

// What was refused as a mark is stored as a draft at once.
export function keepAsDraft() {
  state.dirty = true;
  sendDraft();
}

// how: "hidden" or "leaving" while the page may end before the answer comes.
export async function sendDraft(how = "") {
  holdDrafts();
  // What is under way may be refused for its number, and a page that is left cannot send it again.
  const again = how === "leaving" && state.sending && state.left !== state.sequence;
  if (!marks() || !(state.dirty || again)) return;
  const of = state;
  of.sending = send(marks(), how);
  if (how === "leaving") of.left = of.sequence;
  await of.sending;
  of.sending = null;
}

// A change of a saved mark is drafted like a first mark: the form says which version it changes.
async function send(form, how) {
  state.dirty = false;
  // Higher than that of the draft before, and of any draft of another window.
  state.sequence = Math.max(state.sequence + 1, Date.now());
  // A save and "Keep saved mark" discard the drafts of this page, not a newer one of another.
  form.elements.sequence.value = state.sequence;
  const keep = document.getElementById("keep");
  if (keep) keep.elements.sequence.value = state.sequence;
  const body = new FormData(form);
  // The draft of a page that is left is kept whatever its number: the page cannot send it again.
  if (how === "leaving") body.append("leaving", "yes");
  // What was typed since a save whose answer did not come changes that mark, where the server has it.
  if ("unconfirmed" in form.dataset) body.append("unconfirmed", "yes");
  if ("beside" in form.dataset) body.append("beside", "yes");
  const keepalive = how === "leaving" || how === "hidden";
  if (how === "leaving") {
    sessionStorage.setItem(LEFT, JSON.stringify({ url: form.dataset.draftUrl, sequence: state.sequence }));
  }
  // The header lets an ended session answer 401 instead of a login page.
  const headers = { "HX-Request": "true" };
  const request = { method: "POST", body, headers, keepalive };
  const answer = await fetch(form.dataset.draftUrl, request).catch(() => null);
  const text = await answer?.text().catch(() => "");
  if (marks() === form) await became(answer, text, form);
}

async function became(answer, text, form) {
  if (answer?.ok) {
    state.failures = 0;
    state.renewed = false;
    state.lost = false;
    if (!isBusy() && !state.dirty) show("draft", form.dataset.kept.replace("%time%", text));
    return;
  }
  // A draft stands that has a higher number, by the clock of another browser: this one goes past it.
  if (answer?.status === 409 && /^\d+$/.test(text)) {
    state.sequence = Math.max(state.sequence, Number(text));
    state.dirty = true;
    if (!isBusy()) await sendDraft();
    return;
  }
  // Another window of the same teacher saved this response: what stands here is the draft of a change of that mark.
  if (answer?.status === 409 && refusalCode(text) === "draft_too_late" && !("beside" in form.dataset)) {
    form.dataset.beside = "";
    state.dirty = true;
    if (!isBusy()) await sendDraft();
    return;
  }
  const loggedOut = isLoggedOut(answer?.status, state.renewed);
  const lasting = answer && !loggedOut && answer.status < 500 && answer.status !== 429;
  state.dirty = !lasting;
  state.lost = lasting && !KEPT.includes(refusalCode(text)); // it is kept nowhere: who closes the page is asked
  if (isBusy()) return; // the save that is being sent contains all of it
  if (lasting && WHOLE.includes(refusalCode(text))) show("draft", form.dataset.kept.replace("%time%", clock()));
  else show("failed", lasting ? form.dataset.draftRefused : form.dataset.draftFailed);
  if (loggedOut) await waitForLogin(renewed);
  else if (lasting && !sayWayOn(refusalCode(text), refusal(text))) explain({ status: answer.status, responseText: text });
  else later(patience(state.failures++));
}

function renewed() {
  state.renewed = true;
  sendDraft();
}

document.addEventListener("input", (event) => {
  if (!event.target.closest?.("#marks")) return;
  state.dirty = true;
  if (state.failures) {
    if (!state.timer) later(patience(state.failures)); // a save has taken the place of the draft
    return;
  }
  if (!isBusy()) show("draft", marks().dataset.unsaved);
  later(DRAFT_MS);
});

addEventListener("online", () => state.failures && sendDraft());

// A draft that still waits when the page is left is sent before the next page is requested, where that is
// possible, else while this one closes.
const leavingPage = () => sendDraft("leaving");
addEventListener("beforeunload", leavingPage);
addEventListener("pagehide", leavingPage);
// Back and forward between two responses: htmx changes the page, and nothing is left. Before htmx does.
addEventListener("popstate", leavingPage, { capture: true });
document.addEventListener("visibilitychange", () => document.hidden && sendDraft("hidden"));

// Logging out ends the session, so such a form waits until the draft has arrived.
const MOST_WAIT_MS = 3000;
let waited = null;

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  const waits = state.dirty || state.sending;
  if (!marks() || !waits || waited === form || form.closest("#desk, dialog")) return;
  event.preventDefault();
  waited = form;
  const enough = new Promise((done) => setTimeout(done, MOST_WAIT_MS));
  const sent = Promise.resolve(state.sending).then(() => sendDraft());
  Promise.race([sent, enough]).then(() => form.requestSubmit(submitter));
});
