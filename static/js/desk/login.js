// After the session has ended one logs in again in place, and all that was typed stays in the page.
// What could not be sent is sent as soon as somebody is logged in, here or in another window.
import { renewToken } from "../token.js";

const PARSER = new DOMParser();
let waiting = new Set(); // what to do then
let why = ""; // why what was typed cannot be sent, besides that nobody is logged in
let expired = true; // whether the session has ended at all
let asked = false; // a login is under way

// Whether something typed waits for a login.
export const isWaiting = () => waiting.size > 0;

const dialog = () => document.getElementById("login-again");

async function read(answer) {
  return PARSER.parseFromString(await answer.text(), "text/html");
}

// 401: the session has ended. 403 also comes when the CSRF token is no longer valid, as after a login in another
// window; a second 403 in a row is a real refusal.
export function isLoggedOut(status, renewed) {
  return status === 401 || (status === 403 && !renewed);
}

export async function waitForLogin(then) {
  waiting.add(then);
  if (await goOn()) return;
  document.getElementById("notices").replaceChildren(); // the dialog says it
  if (dialog().open) return;
  dialog().showModal();
  say(why);
  dialog().querySelector("[name=password]").focus();
}

function say(text) {
  document.getElementById("login-again-why").hidden = !expired;
  dialog().querySelector("[role=alert]").textContent = text;
}

async function renew() {
  const { state, text } = await renewToken();
  const { other, held } = dialog().dataset;
  why = { other, held: `${text} ${held}` }[state] ?? "";
  expired = state !== "held";
  return state === "renewed";
}

async function goOn() {
  if (!waiting.size || document.hidden || !(await renew())) return false;
  const all = waiting;
  waiting = new Set();
  if (dialog().open) dialog().close();
  for (const then of all) then();
  return true;
}

// Returns "" when logged in, else the reason.
async function logIn(form) {
  const page = await fetch(form.action);
  if (page.redirected) return ""; // somebody is: in another window
  const body = new FormData(form);
  body.set("csrfmiddlewaretoken", (await read(page)).querySelector("[name=csrfmiddlewaretoken]").value);
  const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
  if (answer.type === "opaqueredirect") return "";
  const said = (await read(answer)).querySelector("[data-login] .message-error");
  return said?.textContent.trim() || dialog().dataset.failed;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.parentElement !== dialog() || event.submitter?.formMethod === "dialog") return;
  event.preventDefault();
  if (asked) return;
  asked = true;
  const refused = await logIn(form).catch(() => dialog().dataset.failed);
  asked = false;
  say(refused);
  form.elements.password.value = "";
  if (refused) form.elements.password.focus();
  else if (!(await goOn()) && dialog().open) say(why || dialog().dataset.second);
});

addEventListener("focus", goOn);

// Somebody may have logged in again in another tab. What is sent while this page closes is sent once only, so the
// token is taken before that.
document.addEventListener("visibilitychange", () => {
  if (waiting.size) goOn();
  else if (!document.hidden) renew().catch(() => false);
});
