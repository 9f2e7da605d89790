// What the desk's scripts share: the form of the marks, and the pill that says what became of them.
export const marks = () => document.getElementById("marks");

// One request at a time: the answer to another one would swap the page under the first.
export const isBusy = () => "busy" in (document.getElementById("desk")?.dataset ?? {});

export function setBusy(busy) {
  document.getElementById("desk").toggleAttribute("data-busy", busy);
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

// kind: saving, saved, draft or failed. What failed is also said aloud.
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
