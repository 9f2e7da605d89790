// What every desk does: saving, time at work, keys, and what happens when an item appears. The next item comes
// only after the save was confirmed; what could not be saved stays in the page and is sent again. htmx sends
// the form. Sentences come from data attributes of the form, of #desk and of #notices.
import { notify, refusal, refusalCode } from "../htmx-errors.js";
import { composes } from "../key-map.js";
import { isLoggedOut, isWaiting, waitForLogin } from "./login.js";
import { form, isBusy, makesLine, patience, say, setBusy, show } from "./page.js";

const IDLE_MS = 5 * 60 * 1000;

// What a desk does differently, each optional:
// appear()                 an item appears
// complete()               false where something is missing, which it has said: nothing is saved
// keys(event)              true where it has used the key; it comes before keys.js
// leaveText()              Esc in the comment
// mayLeave(form)           false where undo or skip has to wait; it then submits the form itself
// sending()                a request goes out
// refused(code, sentence)  a save that was refused for good; true where nothing can be saved any more
// failing()                whether something else than a save cannot be sent
let own = {};
let state = fresh();

function fresh() {
  return {
    retryTimer: 0,
    failures: 0,
    shown: "", // what the form said when the item appeared
    confirmed: "", // what the form said when the save was asked for
    waits: false, // a save that could not be sent is to be sent again
    renewed: false,
    seconds: 0,
    seenAt: Date.now(),
  };
}

export function startDesk(given) {
  own = given;
  appear();
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

// ---- requests: the save, and what leaves the item (undo, skip, next) ----
const isSave = (element) => element?.matches("form.desk-marks");
const leaves = (element) => element?.getAttribute("hx-target") === "#desk" && !isSave(element);

function mayGo(target) {
  if (isBusy()) return false;
  if (!isSave(target)) return own.mayLeave?.(target) ?? true;
  if (own.complete && !own.complete()) return false;
  live();
  if (target.elements.seconds) target.elements.seconds.value = Math.round(state.seconds);
  return true;
}

document.addEventListener(
  "submit",
  (event) => {
    const { target } = event;
    if ((!isSave(target) && !leaves(target)) || mayGo(target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (!isSave(elt) && !leaves(elt)) return;
  if (isBusy()) {
    event.preventDefault();
    return;
  }
  own.sending?.();
  clearTimeout(state.retryTimer);
  setBusy(true);
  if (!isSave(elt)) return;
  state.waits = false;
  state.confirmed = content();
  document.querySelector("#notices .message-warning")?.remove();
  show("saving", form().dataset.saving);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (leaves(event.detail.elt) && !event.detail.successful) setBusy(false);
});

// What is refused because the page was old comes back as a desk that shows both.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 409 || !event.detail.serverResponse.includes('id="desk"')) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

// ---- what failed; htmx-errors.js says why ----
function failed({ status, responseText = "" }) {
  if (!form()) return;
  setBusy(false);
  show("failed", form().dataset.failed);
  if (isLoggedOut(status, state.renewed)) {
    state.waits = true;
    waitForLogin(afterLogin(retry));
    return;
  }
  const lasting = status >= 400 && status < 500 && status !== 429;
  if (lasting && own.refused?.(refusalCode(responseText), refusal(responseText))) return;
  state.failures += 1;
  if (lasting) return; // nothing waits: who saves is asked again
  state.waits = true;
  form().dataset.unconfirmed = ""; // the server may have stored it
  show("failed", form().dataset.retry);
  state.retryTimer = setTimeout(retry, patience(state.failures - 1));
}

function afterLogin(then) {
  return () => {
    state.renewed = true;
    then();
  };
}

function retry() {
  clearTimeout(state.retryTimer);
  if (!form() || isBusy() || !state.waits) return;
  if (content() === state.confirmed) form().requestSubmit();
  else putOff();
}

// ---- only what somebody confirmed is sent again: after any change they have to save again ----
const NOT_GIVEN = ["csrfmiddlewaretoken", "seconds", "sequence"];

function content() {
  const given = [...new FormData(form())].filter(([name]) => !NOT_GIVEN.includes(name));
  return JSON.stringify(given);
}

// Whether something was chosen or typed since the item appeared, that is not saved.
export const isChanged = () => Boolean(form()) && content() !== state.shown;

function putOff() {
  state.waits = false;
  clearTimeout(state.retryTimer);
  show("failed", form().dataset.failed);
  notify(document.getElementById("notices").dataset.changed, "warning");
}

// A desk may choose by script, which is no event.
function lookForChange() {
  if (state.waits && form() && !isBusy() && content() !== state.confirmed) putOff();
}

for (const kind of ["input", "compositionstart"]) {
  document.addEventListener(kind, ({ target }) => {
    if (state.waits && target.closest?.("form.desk-marks")) putOff();
  });
}
document.addEventListener("click", () => setTimeout(lookForChange));

document.addEventListener("htmx:responseError", (event) => {
  const { elt, xhr } = event.detail;
  if (isSave(elt)) failed(xhr);
  else if (leaves(elt) && isLoggedOut(xhr.status, state.renewed)) {
    waitForLogin(afterLogin(() => (elt.requestSubmit ? elt.requestSubmit() : elt.click())));
  }
});
for (const kind of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(kind, (event) => isSave(event.detail.elt) && failed({ status: 0 }));
}
addEventListener("online", retry);

// Whoever closes the page while something could not be sent is asked first.
addEventListener("beforeunload", (event) => {
  if (form() && (state.failures || isWaiting() || own.failing?.())) event.preventDefault();
});

// ---- keys: before keys.js, which ignores events that are prevented here ----
let pressedAt = null; // the state of the item that was shown when the key was pressed

// Whether the key is held down since another item was shown: one press must not save or skip two.
function isHeld(event) {
  if (!event.repeat) pressedAt = state;
  return pressedAt !== state;
}

// What is typed while another item is on its way belongs to none: it is dropped as a whole, until the hands rest.
const REST_MS = 900;
let droppedAt = -REST_MS;

function isTyped(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return event.key.length === 1 || ["Backspace", "Delete"].includes(event.key) || composes(event);
}

function isTooEarly(event) {
  const follows = event.timeStamp - droppedAt < REST_MS;
  if (!isBusy() && !follows) return false;
  if (!isTyped(event)) return follows && event.key === "Enter";
  if (event.repeat) return true;
  if (!follows) notify(document.getElementById("notices").dataset.early, "warning");
  droppedAt = event.timeStamp;
  return true;
}

function inText(event) {
  if (event.key === "Escape") own.leaveText ? own.leaveText() : event.target.blur();
  else if (event.key === "Enter" && !makesLine(event)) form().requestSubmit();
  else return false;
  return true;
}

document.addEventListener(
  "keydown",
  (event) => {
    if (isHeld(event)) event.preventDefault();
    if (document.querySelector("dialog[open]")) return;
    if (isTooEarly(event)) event.preventDefault();
    if (!form() || isBusy() || composes(event) || event.defaultPrevented) return;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isUsed = event.target.matches("textarea") ? inText(event) : isPlain && own.keys?.(event);
    if (isUsed) event.preventDefault();
    lookForChange();
  },
  { capture: true },
);

// ---- an item appears ----
function appear() {
  clearTimeout(state.retryTimer);
  state = fresh();
  own.appear?.();
  if (!form()) return;
  state.shown = content();
  form().dataset.ready = "yes";
}

document.addEventListener("htmx:afterSettle", (event) => {
  const { elt, requestConfig } = event.detail;
  if (elt.id !== "desk") return;
  elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  appear();
  const refused = elt.querySelector("[data-refusal]");
  if (refused) refused.scrollIntoView({ block: "nearest" });
  else scrollTo(0, 0);
  const { said, saidSaved, saidUndone } = elt.dataset;
  if (isSave(requestConfig.elt) && !refused) say(saidSaved);
  else say((requestConfig.elt.id === "undo" && saidUndone) || said);
});
