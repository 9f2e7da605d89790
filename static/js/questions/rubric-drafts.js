// The list of rubric drafts: shows sums while points are typed, and selects every item that adds up.
const form = document.querySelector("[data-rubric-drafts]");
const ticks = () => [...form.querySelectorAll("input[name=accept]")];
const number = (text) => Number(text.trim().replace(",", ".") || "NaN");

function show() {
  const all = ticks();
  const chosen = all.filter((tick) => tick.checked).length;
  const count = form.querySelector("[data-chosen]");
  if (count) count.textContent = `(${chosen})`;
  const whole = form.querySelector("[data-pick-all]");
  const ready = all.filter((tick) => "ready" in tick.dataset);
  if (whole) whole.checked = ready.length > 0 && ready.every((tick) => tick.checked);
}

// An item that adds up is selected as soon as it does, and deselected when it no longer does.
function add(row) {
  const sum = row.querySelector("[data-sum]");
  const points = [...row.querySelectorAll("input[name^=points-]")].map((input) => number(input.value));
  const known = points.filter((value) => !Number.isNaN(value)).reduce((a, b) => a + b, 0);
  const fits = points.every((value) => value > 0) && Math.abs(known - Number(sum.dataset.full)) < 1e-9;
  sum.textContent = Math.round(known * 100) / 100;
  const tick = row.querySelector("input[name=accept]");
  tick.toggleAttribute("data-ready", fits);
  tick.checked = fits;
}

form?.addEventListener("input", (event) => {
  const row = event.target.closest("[data-item]");
  if (event.target.name?.startsWith("points-")) add(row);
  if ("pickAll" in event.target.dataset) {
    for (const tick of ticks()) if ("ready" in tick.dataset) tick.checked = event.target.checked;
  }
  show();
});
if (form) show();
