// A form whose content a browser does not bring back: whoever leaves with something typed that is not sent is asked.
// What was refused stands in the page, and is not sent either.
export function askBeforeLeaving(form) {
  let unsent = document.querySelector("[data-refusal]") !== null;
  form.addEventListener("input", () => (unsent = true));
  // On the window: behind whatever keeps the form from being sent.
  addEventListener("submit", (event) => {
    if (event.target === form && !event.defaultPrevented) unsent = false;
  });
  addEventListener("beforeunload", (event) => {
    if (unsent) event.preventDefault();
  });
}
