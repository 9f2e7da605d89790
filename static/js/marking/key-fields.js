// A field for one key: the pressed key replaces its value, space clears it.
document.addEventListener("keydown", (event) => {
  const { ctrlKey, metaKey, altKey, isComposing, key, target } = event;
  if (!target.matches(".key-field") || key.length !== 1) return;
  if (ctrlKey || metaKey || altKey || isComposing) return;
  event.preventDefault();
  target.value = key.trim().toLowerCase();
});
