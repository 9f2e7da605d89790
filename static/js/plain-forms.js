// A form that leads to another page takes what was typed with it. It is sent only while its session lasts and the
// site is reached; else the page says so, and keeps everything. While it is under way it is not sent again.
import { explainLogin, notify } from "./htmx-errors.js";
import { renewToken } from "./token.js";

const region = document.getElementById("notices");
const FILLED = "textarea, select, input:not([type=hidden])";
const DOES_IT = /^\/(?:account|password)\//; // the pages on which one does what comes first
const LONGEST_ANSWER_MS = 20_000;
const DOWNLOAD_MS = 1_000; // forms with data-download: nothing tells the page that the file has come
let asked = null; // the form whose session is looked at
let sure = null; // the form that is sent now
let sent = null; // the event of the form whose answer is waited for
let timer = null;

async function look(form, submitter) {
  const { state, text } = await renewToken();
  const { other, network, server } = region.dataset;
  if (state === "nobody" || (state === "held" && !DOES_IT.test(location.pathname))) return explainLogin(text);
  if (state !== "renewed" && state !== "held") return notify({ other, unreached: network }[state] ?? server);
  asked = null;
  sure = form;
  form.requestSubmit(submitter);
}

async function send(form, submitter) {
  form.setAttribute("aria-busy", "true");
  try {
    await look(form, submitter);
  } catch {
    notify(region.dataset.server);
  } finally {
    form.removeAttribute("aria-busy");
    asked = sure = null;
  }
}

const answered = () => {
  sent = null;
};

// Another script may still prevent the event, to send the form itself a moment later.
function wait(event) {
  sent = event;
  clearTimeout(timer);
  timer = setTimeout(answered, "download" in event.target.dataset ? DOWNLOAD_MS : LONGEST_ANSWER_MS);
}

addEventListener("pageshow", answered); // Back
globalThis.navigation?.addEventListener("navigateerror", answered); // Stop

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  const method = submitter?.formMethod || form.getAttribute("method");
  if (event.defaultPrevented || method !== "post") return;
  if (form === asked || (form === sent?.target && !sent.defaultPrevented)) return event.preventDefault();
  const own = !form.closest("dialog") && document.body.dataset.person;
  if (form === sure || !own || !form.querySelector(FILLED)) return wait(event);
  event.preventDefault();
  asked = form;
  send(form, submitter);
});
