// The next response is fetched while this one is read. It is shown only when the server has confirmed the save
// and answered with an empty desk, which says that this is the next one.
const EMPTY = '<div id="desk" data-ahead></div>';
const ASKING = ["marks", "skip", "next"];
const WAIT_MS = 300; // the present response loads first

const PARSER = new DOMParser();
let held = null; // { digest, html }
let timer = 0;

const desk = () => document.getElementById("desk");

export function lookAhead() {
  clearTimeout(timer);
  held = null;
  if (desk().dataset.aheadUrl) timer = setTimeout(fetchAhead, WAIT_MS, desk());
}

async function fetchAhead(shown) {
  const token = shown.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { "HX-Request": "true", "X-CSRFToken": token };
  const answer = await fetch(shown.dataset.aheadUrl, { method: "POST", headers }).catch(() => null);
  if (answer?.status !== 200) return;
  const html = await answer.text();
  if (desk() !== shown) return;
  const page = PARSER.parseFromString(html, "text/html");
  for (const image of page.images) new Image().src = image.getAttribute("src");
  held = { digest: page.getElementById("desk").dataset.digest, html };
}

document.addEventListener("desk:token", lookAhead); // the forms of what is held have the old token

document.addEventListener("htmx:configRequest", (event) => {
  if (held && ASKING.includes(event.detail.elt.id)) event.detail.parameters.ahead = held.digest;
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { serverResponse, xhr } = event.detail;
  if (!serverResponse?.includes(EMPTY)) return;
  if (held) {
    event.detail.serverResponse = serverResponse.replace(EMPTY, () => held.html);
  } else {
    event.detail.shouldSwap = false; // it was discarded in between
    location.assign(xhr.getResponseHeader("HX-Push-Url"));
  }
});
