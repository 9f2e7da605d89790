// The marking desk: what happens when a response appears, and the small things around the marks.
// Points and keys are in desk-keys.js, saving and drafts in desk-saving.js. Every sentence comes
// from data attributes of the page.
import { activateFirst, refresh } from "./desk-keys.js";
import { begin } from "./desk-saving.js";

const CLICKED_MS = 500; // scrolling that follows a click does not choose another tab
let clickedAt = 0;

const marks = () => document.getElementById("marks");

// ---- question, answer key, analysis: one column, three tabs ----
function choosePart(tab) {
  for (const other of document.querySelectorAll("[data-part]")) other.removeAttribute("aria-current");
  tab.setAttribute("aria-current", "true");
}

function showPart(tab) {
  const section = document.querySelector(tab.hash);
  if (!section) return;
  clickedAt = performance.now();
  section.scrollIntoView({ block: "start" });
  choosePart(tab);
}

function followScroll(body) {
  if (performance.now() - clickedAt < CLICKED_MS) return;
  const top = body.getBoundingClientRect().top + 60;
  const passed = [...document.querySelectorAll("[data-part]")].filter(
    (tab) => document.querySelector(tab.hash)?.getBoundingClientRect().top <= top,
  );
  if (passed.length) choosePart(passed.at(-1));
}

// ---- the response rendered, or as it was written ----
function showView(tab) {
  for (const other of document.querySelectorAll("[data-view]")) {
    const chosen = other === tab;
    other.toggleAttribute("aria-current", chosen);
    if (chosen) other.setAttribute("aria-current", "true");
    other.toggleAttribute("data-key", !chosen);
    if (!chosen) other.setAttribute("data-key", "r");
  }
  for (const shown of document.querySelectorAll("[data-shows]")) {
    shown.hidden = shown.dataset.shows !== tab.dataset.view;
  }
}

// ---- flags ----
function showFlags() {
  for (const pill of document.querySelectorAll("#flags-set [data-flag]")) {
    pill.hidden = !document.querySelector(`#flags input[value="${pill.dataset.flag}"]`).checked;
  }
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-part], [data-view]");
  if (!tab || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (tab.dataset.view) showView(tab);
  else showPart(tab);
});

document.addEventListener(
  "scroll",
  (event) => {
    if (event.target.matches?.(".desk-question .desk-body")) followScroll(event.target);
  },
  { capture: true, passive: true },
);

document.addEventListener("change", (event) => {
  if (event.target.name === "flags") showFlags();
});

// ---- a response appears ----
function announce(saved) {
  const { said, saidSaved } = document.getElementById("desk").dataset;
  document.getElementById("said").textContent = saved ? saidSaved : said;
}

function appear() {
  begin();
  if (!marks()) return;
  refresh();
  activateFirst();
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "desk") return;
  event.detail.elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  appear();
  const refusal = document.querySelector("#desk [data-refusal]");
  if (refusal) refusal.scrollIntoView({ block: "nearest" });
  else scrollTo(0, 0);
  announce(event.detail.requestConfig.elt.id === "marks" && !refusal);
});

appear();
