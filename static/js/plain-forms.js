// A form that leads to another page takes what was typed with it. It is sent only while its session lasts and the
// site is reached; else the page says so, and keeps everything.
import { explain, notify } from "./htmx-errors.js";
import { renewToken } from "./token.js";

const region = document.getElementById("notices");
const FILLED = "textarea, select, input:not([type=hidden])";
let asked = null; // the form whose session is looked at
let sure = null; // the form that is sent now

async function send(form, submitter) {
  form.setAttribute("aria-busy", "true");
  const found = await renewToken();
  form.removeAttribute("aria-busy");
  asked = null;
  const { other, network, server } = region.dataset;
  if (found === "nobody") return explain({ status: 401 });
  if (found !== "renewed") return notify({ other, unreached: network }[found] ?? server);
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
