// What the scripts of every desk share: the form that saves, and the pill that shows the state of saving.
export const form = () => document.querySelector("#desk form.desk-marks");

// One request at a time: the answer to another one would swap the page under the first.
export const isBusy = () => "busy" in (document.getElementById("desk")?.dataset ?? {});

// Meanwhile the form takes nothing: it would belong to no item. Afterwards the focus is where it was.
let focused = null;

export function setBusy(busy) {
  const desk = document.getElementById("desk");
  if (busy) focused = document.activeElement;
  desk.toggleAttribute("data-busy", busy);
  form()?.toggleAttribute("inert", busy);
  if (!busy && desk.contains(focused) && [focused, document.body].includes(document.activeElement)) {
    focused.focus({ preventScroll: true });
  }
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

// kind: saving, saved, draft or failed. A failure is also said aloud.
export function show(kind, text) {
  const pill = document.getElementById("saved");
  const isNews = pill.textContent !== text;
  pill.dataset.state = kind;
  pill.textContent = text;
  if (kind === "failed" && isNews) say(text);
}

// How long to wait before a request that failed is sent again.
const RETRIES_MS = [2000, 5000, 10000, 20000, 30000];

export function patience(failures) {
  return RETRIES_MS[Math.min(failures, RETRIES_MS.length - 1)];
}

// Whether Enter in a text makes a new line; else it saves. A keyboard on the screen has no Shift with Enter.
export function makesLine({ shiftKey, ctrlKey, metaKey }) {
  return shiftKey || (matchMedia("(pointer: coarse)").matches && !ctrlKey && !metaKey);
}
