// A field for one key: the pressed key replaces its value, space clears it.
import { composes } from "../key-map.js";

document.addEventListener("keydown", (event) => {
  const { ctrlKey, metaKey, altKey, key, target } = event;
  if (!target.matches(".key-field") || key.length !== 1) return;
  if (ctrlKey || metaKey || altKey || composes(event)) return;
  event.preventDefault();
  target.value = key.trim().toLowerCase();
});
