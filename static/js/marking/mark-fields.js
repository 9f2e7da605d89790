// A mark that is not possible is refused at its field at once, on every page where marks are typed. The form
// has the sentences (data-above, data-wrong) and the step; the field or its point has the full marks.
const FIELD = "form[data-above] .point-entry";

const fullOf = (field) => Number(field.dataset.full ?? field.closest("[data-full]").dataset.full);
// At the desk a number that ends with "." has a half added.
function valueOf(field) {
  const text = field.value.trim().replace(/[,。，]/, ".");
  return Number(field.form.id === "marks" && /^\d*\.$/.test(text) ? `${text}5` : text);
}

function fault(field, isFinished) {
  const { above, wrong, step } = field.form.dataset;
  const value = valueOf(field);
  if (field.value.trim() === "") return "";
  const said = (sentence) =>
    sentence.replace("%mark%", field.value.trim()).replace("%full%", fullOf(field)).replace("%step%", step);
  if (value > fullOf(field)) return said(above);
  const steps = value / Number(step);
  const fits = value >= 0 && (Number.isInteger(steps) || value === fullOf(field));
  // While it is typed, a number may still become a possible one.
  return isFinished && !fits ? said(wrong) : "";
}

function say(field, sentence) {
  const id = `fault-${field.name}`;
  if (sentence) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
  } else {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  sayIn(field.closest("tr")?.querySelector("th, td") ?? field.parentElement, id, sentence);
}

// Shows the sentence at the end of an element, in place of an earlier one with this id; "" removes it.
export function sayIn(place, id, sentence) {
  document.getElementById(id)?.remove();
  if (!sentence) return;
  const said = document.createElement("p");
  said.id = id;
  said.className = "field-error mark-fault";
  said.setAttribute("role", "alert");
  said.append(sentence);
  place.append(said);
}

export const fits = (field) => fault(field, true) === "";

// The sentence disappears as soon as the mark is possible; a mark above the maximum is refused while it is typed.
document.addEventListener("input", (event) => {
  if (event.target.matches?.(FIELD)) say(event.target, fault(event.target, false));
});

document.addEventListener("change", (event) => {
  if (event.target.matches?.(FIELD)) say(event.target, fault(event.target, true));
});

document.addEventListener(
  "submit",
  (event) => {
    if (!event.target.matches("form[data-above]")) return;
    const bad = [...event.target.querySelectorAll(".point-entry")].find((field) => fault(field, false));
    if (!bad) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    say(bad, fault(bad, false));
    bad.focus();
    bad.scrollIntoView({ block: "nearest" });
  },
  { capture: true },
);

// Focus the first field without scrolling past the text before it.
document.querySelector("[data-begin]")?.focus({ preventScroll: true });
