// Keys that press buttons: <button data-key="u">, <a data-key="j">, <button data-key="Enter">.
// "?" opens <dialog data-keys-help>. A key does nothing while one types or a dialog is open, and acts once where
// it is held down.
// A person may have other keys for the same actions (key-map.js).
import { actual, composes } from "./key-map.js";

const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const PRESSABLE = "button, a[href], summary, input";

function isForUs(event) {
  if (event.defaultPrevented || event.repeat || composes(event)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("dialog[open]")) return false;
  if (event.target.closest(TYPING)) return false;
  // Enter and space belong to the button that has the focus.
  return !(["Enter", " "].includes(event.key) && event.target.closest(PRESSABLE));
}

function usable(el) {
  return !el.disabled && el.getAttribute("aria-disabled") !== "true" && el.offsetParent !== null;
}

// False when the key means nothing here.
export function press(key) {
  const keyed = document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`);
  const help = key === "?" && document.querySelector("dialog[data-keys-help]");
  const target = [...keyed].find(usable);
  if (help) help.showModal();
  else target?.click();
  return Boolean(help || target);
}

document.addEventListener("keydown", (event) => {
  if (!isForUs(event)) return;
  const key = actual(event);
  if (key && press(key)) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-open]")) {
    document.querySelector("dialog[data-keys-help]")?.showModal();
  }
});
