// The page to print: its one button. Formulas are drawn by math.js before anybody can press it.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});
