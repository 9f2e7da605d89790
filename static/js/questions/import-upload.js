// Refuses files that are too large before they are sent; the server checks again.
const form = document.querySelector("form[data-upload]");
const files = form?.querySelector("input[type=file]");

files?.addEventListener("change", () => {
  const bytes = [...files.files].reduce((sum, file) => sum + file.size, 0);
  const tooLarge = bytes > Number(form.dataset.mostBytes);
  files.setCustomValidity(tooLarge ? form.dataset.tooLarge : "");
  files.reportValidity();
});
