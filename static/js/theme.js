// Sets light or dark before the first paint: the only blocking script, loaded in <head>.
// The choice is "light", "dark" or "auto" (the system's), kept in localStorage.
(() => {
  const root = document.documentElement;
  const KEY = "gradeapp-theme";

  function stored() {
    try {
      return localStorage.getItem(KEY) || "auto";
    } catch {
      return "auto"; // storage may be closed to us; the system's theme still works
    }
  }

  function apply(choice) {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
    for (const button of document.querySelectorAll("[data-theme-set]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeSet === choice));
    }
    document.dispatchEvent(new CustomEvent("themechange"));
  }

  root.classList.add("js");
  apply(stored());
  document.addEventListener("DOMContentLoaded", () => apply(stored()));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-set]");
    if (!button) return;
    try {
      localStorage.setItem(KEY, button.dataset.themeSet);
    } catch {
      // the choice then lasts for this page
    }
    apply(button.dataset.themeSet);
  });
})();
