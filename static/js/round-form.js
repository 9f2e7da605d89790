// Of the tasks only those of the chosen runs' datasets can be ticked; all while no run is chosen.
const form = document.getElementById("round-form");

function show() {
  const runs = [...form.querySelectorAll("[name=runs]:checked")];
  const datasets = new Set(runs.map((run) => run.dataset.dataset));
  for (const task of form.querySelectorAll("[name=tasks]")) {
    const other = datasets.size > 0 && !datasets.has(task.dataset.dataset);
    task.closest("label").hidden = other;
    task.disabled = other;
  }
}

form?.addEventListener("change", (event) => event.target.name === "runs" && show());
if (form) show();
