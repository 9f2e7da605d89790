// A field for one key: what is typed replaces what stands there.
document.addEventListener("focusin", (event) => {
  if (event.target.matches(".key-field")) event.target.select();
});
