// <details class="menu">: one open at a time, closed by Escape or a click elsewhere.
const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of open()) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A filter is applied when its menu or select changes; without JavaScript by its button.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-autosubmit]");
  if (form && !event.target.closest("[data-no-autosubmit]")) form.requestSubmit();
});

// The language changes where one is: a desk has moved on since the page was loaded.
document.addEventListener("submit", ({ target }) => {
  if (target.matches("form.language")) target.elements.next.value = location.pathname + location.search;
});
