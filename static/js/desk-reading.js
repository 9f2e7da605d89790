// Reading: a long question folds, pictures open in large. The question
// stays where it was while responses to it change: htmx keeps its element, this its scrolling.
import { offerZoom } from "./desk-zoom.js";

const MOST_SHARE = 0.55; // of its column, from which on a question counts as long
let place = { id: "", top: 0 };

const column = () => document.querySelector(".desk-question");
const body = () => column()?.querySelector(".desk-body");

export function keepPlace() {
  if (column()) place = { id: column().id, top: body().scrollTop };
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

// Only where something follows that the question would push out of sight.
function foldIfLong() {
  const asked = document.getElementById("asked");
  const button = column().querySelector("[data-fold]");
  const isLong = asked.scrollHeight > body().clientHeight * MOST_SHARE;
  if (!button.hidden || !isLong || !document.querySelector("#part-key, #part-analysis")) return;
  button.hidden = false;
  fold(button, true);
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
  if (place.id === column().id) body().scrollTop = place.top;
}

// A picture that arrives later makes its question longer.
document.addEventListener(
  "load",
  (event) => {
    if (event.target.matches?.("#asked img")) foldIfLong();
  },
  { capture: true },
);
