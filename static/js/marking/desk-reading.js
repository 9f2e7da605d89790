// Reading: a long passage can be folded, pictures can be enlarged. While the responses to a question change,
// htmx keeps the question's element and this script its scroll position.
import { offerZoom } from "./desk-zoom.js";

let place = { id: "", tops: [] };

const column = () => document.querySelector(".desk-question");
const bodies = () => [...column().querySelectorAll(".desk-body")];

export function keepPlace() {
  if (column()) place = { id: column().id, tops: bodies().map((body) => body.scrollTop) };
}

// ---- folding ----
function label(button, isFolded) {
  button.setAttribute("aria-expanded", String(!isFolded));
  button.querySelector("span").textContent = isFolded ? button.dataset.more : button.dataset.less;
}

function fold(button, isFolded) {
  document.getElementById("asked").classList.toggle("folded", isFolded);
  label(button, isFolded);
}

// Fold only a passage that pushes its questions out of view; the questions are never folded.
function foldIfLong() {
  const button = column().querySelector("[data-fold]");
  if (!button?.hidden) return;
  const body = button.closest(".desk-body");
  if (body.scrollHeight <= body.clientHeight) return;
  fold(button, true);
  const { scrollHeight, clientHeight } = document.getElementById("asked");
  button.hidden = scrollHeight <= clientHeight + 1;
  if (button.hidden) fold(button, false); // there is nothing to fold away
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  if (button) fold(button, button.getAttribute("aria-expanded") === "true");
});

// A response appears.
export function settleReading() {
  if (!column()) return;
  offerZoom(document.getElementById("desk"));
  foldIfLong();
  if (place.id === column().id) bodies().forEach((body, at) => (body.scrollTop = place.tops[at]));
}

// A picture that loads later makes its question longer.
document.addEventListener(
  "load",
  (event) => {
    if (event.target.matches?.("#part-question img")) foldIfLong();
  },
  { capture: true },
);
