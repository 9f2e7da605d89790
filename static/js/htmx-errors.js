// Shows one sentence when a request fails. The page and everything typed stay as they are.
// Texts come from the region's data attributes: data-network, data-session, data-forbidden, data-server.
import { renewToken } from "./token.js";

const region = document.getElementById("notices");
const PARSER = new DOMParser();

export function notify(text, kind = "error", link = null) {
  const notice = document.createElement("p");
  notice.className = `message message-${kind}`;
  notice.append(text);
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link.href;
    anchor.target = "_blank";
    anchor.textContent = link.text;
    notice.append(" ", anchor);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.setAttribute("aria-label", region.dataset.close);
  close.textContent = "×";
  notice.append(close);
  region.replaceChildren(notice);
}

// A refusal, as a fragment or a whole page, carries its sentence in [data-refusal].
const refused = (body) => PARSER.parseFromString(body, "text/html").querySelector("[data-refusal]");

export const refusal = (body) => refused(body)?.textContent.trim();
export const refusalCode = (body) => refused(body)?.dataset.code;

// The session has ended, or begun anew in another tab: the token of this page is too old.
let outdated = false;

// Somebody comes back from logging in: the step that is repeated takes the new token. A desk does that itself.
async function goOn() {
  if (!outdated || document.hidden || document.getElementById("login-again")) return;
  if ((await renewToken()).state !== "renewed") return;
  outdated = false;
  notify(region.dataset.again, "success");
}

// The session has ended, or the person has something to do first, which *text* says. Who is logged in is led to
// the page for that.
export function explainLogin(text) {
  const { session, login, loginText, held, heldText } = region.dataset;
  outdated = true;
  if (text) notify(`${text} ${held}`, "error", { href: login, text: heldText });
  else notify(session, "error", { href: login, text: loginText });
}

export function explain({ status, responseText }) {
  const { forbidden, server } = region.dataset;
  if (status === 401) return explainLogin(refusal(responseText));
  if (status === 403 && refusalCode(responseText) === "csrf") {
    outdated = true;
    goOn();
  }
  const said = status < 500 && refusal(responseText);
  if (said) return notify(said);
  return notify(status === 403 ? forbidden : server);
}

// What was to come after the page says that it did not; its link stays.
function giveUp({ detail }) {
  const { notLoaded } = detail.elt?.dataset ?? {};
  if (!notLoaded) return;
  detail.elt.removeAttribute("aria-busy");
  detail.elt.querySelector("[data-busy]").textContent = notLoaded;
}

if (region) {
  addEventListener("focus", goOn);
  document.addEventListener("visibilitychange", goOn);
  for (const name of ["responseError", "sendError", "timeout"]) document.addEventListener(`htmx:${name}`, giveUp);
  document.addEventListener("htmx:responseError", (event) => explain(event.detail.xhr));
  document.addEventListener("htmx:sendError", () => notify(region.dataset.network));
  document.addEventListener("htmx:timeout", () => notify(region.dataset.network));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) region.querySelector(".message-error")?.remove();
  });
  // Other scripts ask for a notice without importing this one.
  document.addEventListener("notice", (event) => notify(event.detail.text, event.detail.kind));
}
