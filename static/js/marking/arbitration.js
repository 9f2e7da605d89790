// The lead's page: accepting a mark fills the lead's column; typing there makes the decision a mark of their own.
import { cappedSum } from "../capped-sum.js";
import { makesLine } from "../desk/page.js";
import { refusal } from "../htmx-errors.js";
import { composes } from "../key-map.js";
import { fits } from "./mark-fields.js";

const form = () => document.getElementById("decision");
const own = () => [...form().querySelectorAll("[data-own]")];

function plain(number) {
  return String(Math.round(number * 100) / 100);
}

function showTotal() {
  const total = document.getElementById("own-total");
  const given = own().map((element) => ({ element, value: element.value.trim() === "" || !fits(element) ? NaN : Number(element.value) }));
  const complete = given.every(({ value }) => Number.isFinite(value));
  if (total) total.textContent = complete ? plain(cappedSum(given)) : "–";
}

function fill({ points, total }) {
  const values = points ? points.split(",") : [total];
  own().forEach((input, place) => (input.value = values[place] ?? ""));
  showTotal();
}

// Marks that stand in the page already, as those given before seeing the others.
if (form()) showTotal();

document.addEventListener("change", (event) => {
  if (event.target.name !== "decision") return;
  if (event.target.value === "own") own()[0]?.focus();
  else fill(event.target.dataset);
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-own]")) return;
  form().querySelector("[name=decision][value=own]").checked = true;
  showTotal();
});

document.addEventListener("focusin", (event) => {
  if (event.target.matches("[data-own]")) event.target.select();
});

// There are no drafts here: whoever leaves a case with marks or a comment that are not sent is asked first.
let unsent = false;
document.addEventListener("input", (event) => {
  if (event.target.matches("#decision [data-own], #decision #comment")) unsent = true;
});
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.elt === form() && detail.xhr.status < 400) unsent = false;
});
addEventListener("beforeunload", (event) => {
  if (form() && unsent) event.preventDefault();
});

// A key does not overwrite marks that the lead has typed: a digit meant as points must not accept another's
// mark. In a field a letter is never a mark; it chooses its reason.
function guardOwnMarks(event) {
  const { target, key } = event;
  if (!form() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches?.("[data-own]")) {
    if (!/^[a-z]$/i.test(key)) return;
    event.preventDefault();
    const reason = form().querySelector(`[data-key="${key}"] input[name=reason]`);
    if (reason) reason.checked = true;
    return;
  }
  if (target.matches?.("textarea")) return;
  const chosen = form().querySelector("[name=decision][value=own]")?.checked;
  const typed = own().some((input) => input.value.trim() !== "");
  if (chosen && (key === "y" || (typed && /^[0-9]$/.test(key)))) {
    event.preventDefault();
    own()[0]?.focus();
  }
}

document.addEventListener("keydown", guardOwnMarks, { capture: true });
document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key === "Escape" && target.matches?.("[data-own], #comment")) target.blur();
  // A chosen decision or reason keeps the focus; Enter submits from there, and from the comment, where Shift
  // with Enter makes a new line.
  const settles = target.matches?.("#decision input[type=radio]") || (target.id === "comment" && !makesLine(event));
  if (key === "Enter" && settles && !composes(event)) {
    event.preventDefault();
    form().requestSubmit();
  }
});

// What is refused is shown between the marks and the buttons: a notice over the page would cover the marking
// notes.
document.addEventListener(
  "htmx:responseError",
  (event) => {
    const { status, responseText } = event.detail.xhr;
    const place = document.getElementById("refused");
    const said = status === 400 && refusal(responseText);
    if (!said || !place || event.target !== form()) return;
    event.stopPropagation();
    place.textContent = said;
    place.hidden = false;
    const wrong = own().filter(({ value, dataset }) => {
      const empty = value.trim() === "";
      return empty || !(Number(value) >= 0 && Number(value) <= Number(dataset.full));
    });
    const given = form().querySelector("[name=decision][value=own]").checked ? wrong : [];
    own().forEach((input) => input.setAttribute("aria-invalid", given.includes(input)));
    (given[0] ?? place).scrollIntoView({ block: "nearest" });
    given[0]?.focus();
  },
  { capture: true },
);

// A decision that came too late is answered with the present page and what was typed.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  if (detail.xhr.status !== 409 || !detail.serverResponse.includes('id="case"')) return;
  detail.shouldSwap = true;
  detail.isError = false;
});

document.addEventListener("htmx:afterSettle", (event) => {
  const { elt } = event.detail;
  if (elt.id !== "case") return;
  elt.dispatchEvent(new Event("math:render", { bubbles: true }));
  if (form()) showTotal();
  document.getElementById("said").textContent = elt.querySelector("h2").textContent;
  scrollTo(0, 0);
});
