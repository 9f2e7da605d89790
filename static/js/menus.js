// <details class="menu">: one open at a time, closed by Escape or a click elsewhere. The focus stays where it is,
// unless it was in the menu.
const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of open()) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of open()) {
    const isInside = menu.contains(document.activeElement);
    menu.open = false;
    if (isInside) menu.querySelector("summary").focus();
  }
});

// A panel that would stand outside of the window is moved into it, before it is drawn.
const EDGE = 6;

function keepInWindow(menu) {
  const panel = menu.querySelector(".menu-panel");
  if (!panel) return;
  panel.style.translate = "";
  const { left, right } = panel.getBoundingClientRect();
  // The root ends where the place of the scrollbar begins; clientWidth includes it.
  const room = document.documentElement.getBoundingClientRect().right - EDGE - right;
  const shift = Math.max(Math.min(room, 0), EDGE - left);
  if (shift) panel.style.translate = `${shift}px`;
}

new MutationObserver((changes) => {
  for (const { target } of changes) if (target.matches("details.menu[open]")) keepInWindow(target);
}).observe(document, { subtree: true, attributeFilter: ["open"] });

addEventListener("resize", () => open().forEach(keepInWindow));
open().forEach(keepInWindow); // a refused form is open from the start

// A filter is applied when its menu or select changes; without JavaScript by its button.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-autosubmit]");
  if (form && !event.target.closest("[data-no-autosubmit]")) form.requestSubmit();
});

// The language changes where one is: a desk has moved on since the page was loaded.
document.addEventListener("submit", ({ target }) => {
  if (target.matches("form.language")) target.elements.next.value = location.pathname + location.search;
});
