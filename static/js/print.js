// The button of the page to print. math.js draws the formulas before it can be pressed.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});
