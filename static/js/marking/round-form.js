// Only the tasks of the chosen runs' datasets are shown, among the filters and the tolerances per task; all tasks
// while no run is chosen.
const form = document.getElementById("round-form");

function show() {
  const runs = [...form.querySelectorAll("[name=runs]:checked")];
  const datasets = new Set(runs.map((run) => run.dataset.dataset));
  for (const task of form.querySelectorAll("[name=tasks], [name^=tolerance-]")) {
    const other = datasets.size > 0 && !datasets.has(task.dataset.dataset);
    task.closest("label, .field").hidden = other;
    task.disabled = other;
  }
}

form?.addEventListener("change", (event) => event.target.name === "runs" && show());
if (form) show();
