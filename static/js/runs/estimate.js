// From a change until its answer, the estimate is marked as that of the choice before. If the request fails it stays
// marked: its figures are not those of the form.
const form = document.querySelector("form[hx-target='#estimate']");

function mark() {
  const shown = document.getElementById("estimate");
  shown.setAttribute("aria-busy", "true");
  shown.querySelector("[data-before]")?.removeAttribute("hidden");
}

form?.addEventListener("input", mark);
form?.addEventListener("htmx:beforeRequest", mark);
for (const failed of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  form?.addEventListener(failed, () => document.getElementById("estimate").removeAttribute("aria-busy"));
}
