// What points come to under the caps and choices of their groups; the server's rule is
// questions/rules/rubric.py. An element of a group says data-group, data-cap and, where only
// the best so many count, data-choose.
export function groupTotal(values, { cap, choose }) {
  const best = [...values].sort((a, b) => b - a).slice(0, choose ? Number(choose) : undefined);
  return Math.min(best.reduce((sum, value) => sum + value, 0), Number(cap));
}

// entries: [{ element, value }]; Map of group -> its total, and under "" what is in no group.
export function totalsByGroup(entries) {
  const groups = new Map();
  for (const { element, value } of entries) {
    const name = element.dataset.group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), { element, value }]);
  }
  const totals = new Map();
  for (const [name, members] of groups) {
    const values = members.map(({ value }) => value);
    const sum = values.reduce((one, other) => one + other, 0);
    totals.set(name, name === "" ? sum : groupTotal(values, members[0].element.dataset));
  }
  return totals;
}

export function cappedSum(entries) {
  return [...totalsByGroup(entries).values()].reduce((one, other) => one + other, 0);
}
