// The knowledge by typing: a combobox over the options of the plain select, which is what is sent.
// Words of an option are its Chinese and English names and the initials of its pinyin.
import { notify } from "../htmx-errors.js";

let shown = []; // the options that fit what is typed
let place = -1; // the one that Enter takes

export const entry = () => document.getElementById("knowledge-entry");
const select = () => document.getElementById("knowledge");
const list = () => document.getElementById("knowledge-list");
const nameOf = (option) => option.textContent.trim();

export const knowledgeValue = () => select().value;

const chosenName = () => (select().value ? nameOf(select().selectedOptions[0]) : "");

export function chooseKnowledge(slug) {
  select().value = slug;
  entry().value = chosenName();
  close();
}

// ---- what fits ----
function rank(option, typed) {
  const name = nameOf(option).toLowerCase();
  if (name === typed) return 0;
  if (name.startsWith(typed)) return 1;
  const words = option.dataset.words.replaceAll("_", " ");
  if (words.split("|").some((one) => one.startsWith(typed))) return 2;
  if (words.split(/[| ]/).some((word) => word.startsWith(typed))) return 3;
  return words.includes(typed) ? 4 : -1;
}

function fitting(typed) {
  const options = [...select().options].filter((option) => option.value);
  if (!typed) return options;
  return options
    .map((option) => ({ option, rank: rank(option, typed) }))
    .filter((found) => found.rank >= 0)
    .sort((one, other) => one.rank - other.rank)
    .map((found) => found.option);
}

function line(option, index) {
  const item = document.createElement("li");
  item.id = `knowledge-${index}`;
  item.setAttribute("role", "option");
  item.dataset.slug = option.value;
  item.append(nameOf(option));
  if (option.dataset.category) {
    const category = document.createElement("span");
    category.className = "category";
    category.append(option.dataset.category);
    item.append(category);
  }
  return item;
}

const sentence = (typed) => document.getElementById("labels").dataset.nothing.replace("%typed%", typed);

function nothing(typed) {
  const item = document.createElement("li");
  item.className = "nothing";
  item.setAttribute("role", "option");
  item.setAttribute("aria-disabled", "true");
  item.append(sentence(typed));
  return item;
}

// ---- the list ----
function open(typed) {
  shown = fitting(typed.trim().toLowerCase());
  list().replaceChildren(...(shown.length ? shown.map(line) : [nothing(typed)]));
  list().hidden = false;
  if (matchMedia("(max-width: 760px)").matches) scrollForList();
  entry().setAttribute("aria-expanded", "true");
  highlight(shown.length ? 0 : -1);
}

// On a phone the page scrolls so that the list has room below the field.
function scrollForList() {
  if (list().getBoundingClientRect().bottom > innerHeight) entry().scrollIntoView({ block: "start" });
}

function close() {
  list().hidden = true;
  entry().setAttribute("aria-expanded", "false");
  entry().removeAttribute("aria-activedescendant");
  place = -1;
}

function highlight(index) {
  place = index;
  [...list().children].forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
  const item = list().children[index];
  if (!item || index < 0) return entry().removeAttribute("aria-activedescendant");
  entry().setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

function take(index, chosen) {
  const option = shown[index];
  if (!option) return;
  chooseKnowledge(option.value);
  document.getElementById("notices").replaceChildren(); // what was refused in the field before
  chosen(option.dataset.branch);
}

// Refuse Enter or a digit where nothing is found, and a digit meant for the next label.
function refuse() {
  const found = list().hidden || shown.length;
  notify(found ? document.getElementById("labels").dataset.digits : sentence(entry().value), "warning");
  return true;
}

// Handle a key in the field: true or false (used or not), "leave" where the desk decides.
export function knowledgeKey(event, chosen) {
  const isOpen = !list().hidden;
  if (/^[0-9]$/.test(event.key)) return refuse(); // no name has a digit
  if (!["Enter", "Escape", "ArrowDown", "ArrowUp", "Tab"].includes(event.key)) return false;
  if (!isOpen) return event.key === "Tab" ? false : "leave";
  if (event.key === "ArrowDown") highlight(Math.min(place + 1, shown.length - 1));
  else if (event.key === "ArrowUp") highlight(Math.max(place - 1, 0));
  else if (event.key === "Escape") chooseKnowledge(select().value);
  else if (place >= 0) take(place, chosen);
  else if (event.key === "Enter") refuse();
  return event.key !== "Tab" || place >= 0;
}

// The field is new with every question.
export function beginKnowledge(chosen) {
  entry().addEventListener("input", () => {
    if (entry().value.trim()) return open(entry().value);
    select().value = "";
    return close();
  });
  entry().addEventListener("click", () => open(entry().value === chosenName() ? "" : entry().value));
  entry().addEventListener("blur", () => chooseKnowledge(select().value));
  // Before the field loses the focus.
  list().addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const item = event.target.closest("[data-slug]");
    if (item) take([...list().children].indexOf(item), chosen);
  });
}
