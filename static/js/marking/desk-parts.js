// A tab each for question, answer key, analysis and marking notes; the question scrolls separately.
const CLICKED_MS = 500; // scrolling that follows a click does not choose another tab
let clickedAt = 0;

function mark(tab) {
  for (const other of document.querySelectorAll("[data-part]")) other.removeAttribute("aria-current");
  tab.setAttribute("aria-current", "true");
}

// Scrolling that a script starts does not choose a tab either.
export function holdTabs() {
  clickedAt = performance.now();
}

function choosePart(tab) {
  holdTabs();
  mark(tab);
}

function showPart(tab) {
  const section = document.querySelector(tab.hash);
  if (!section) return;
  section.scrollIntoView({ block: "start" });
  choosePart(tab);
}

function followScroll(body) {
  if (performance.now() - clickedAt < CLICKED_MS) return;
  const top = body.getBoundingClientRect().top + 60;
  const passed = [...document.querySelectorAll("[data-part]")].filter((tab) => {
    const section = body.querySelector(tab.hash);
    return section && section.getBoundingClientRect().top <= top;
  });
  if (passed.length) mark(passed.at(-1));
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-part]");
  if (!tab || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  showPart(tab);
});

document.addEventListener(
  "scroll",
  (event) => {
    if (event.target.matches?.(".desk-question .desk-body")) followScroll(event.target);
  },
  { capture: true, passive: true },
);
