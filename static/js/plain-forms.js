// A form that leads to another page takes what was typed with it. It is sent only while its session lasts and the
// site is reached; else the page says so, and keeps everything.
import { explainLogin, notify } from "./htmx-errors.js";
import { renewToken } from "./token.js";

const region = document.getElementById("notices");
const FILLED = "textarea, select, input:not([type=hidden])";
let asked = null; // the form whose session is looked at
let sure = null; // the form that is sent now

async function send(form, submitter) {
  form.setAttribute("aria-busy", "true");
  const { state, text } = await renewToken();
  form.removeAttribute("aria-busy");
  asked = null;
  const { other, network, server } = region.dataset;
  if (state === "nobody" || state === "held") return explainLogin(text);
  if (state !== "renewed") return notify({ other, unreached: network }[state] ?? server);
  sure = form;
  form.requestSubmit(submitter);
  sure = null;
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  const method = submitter?.formMethod || form.getAttribute("method");
  const own = !form.querySelector("[type=password]") && document.body.dataset.person;
  if (event.defaultPrevented || form === sure || method !== "post" || !own || !form.querySelector(FILLED)) return;
  event.preventDefault();
  if (form === asked) return;
  asked = form;
  send(form, submitter);
});
