// The groups of a desk: scoring points, labels, answers or dimensions. One is active: it has the focus or had
// it last. changed(group) is called before another one becomes active, reveal(group) scrolls it into view.
const intoView = (group) => group.scrollIntoView({ block: "nearest" });

export function groupsOf(selector, { changed = () => {}, reveal = intoView } = {}) {
  const all = () => [...document.querySelectorAll(selector)];
  const active = () => all().find((group) => group.hasAttribute("data-active")) ?? all()[0];

  function mark(group) {
    changed(group);
    for (const other of all()) other.toggleAttribute("data-active", other === group);
  }

  // The focus goes to what is chosen in the group, else to its first field.
  function activate(group, scroll = true) {
    mark(group);
    const first = group.querySelector("input");
    const target = group.querySelector(`input[name="${first.name}"]:checked`) ?? first;
    target.focus({ preventScroll: true });
    if (!target.matches("[type=radio], [type=checkbox]")) target.select();
    if (scroll) reveal(group);
  }

  function move(step) {
    const target = all()[all().indexOf(active()) + step];
    if (target) activate(target);
  }

  document.addEventListener("focusin", (event) => {
    const group = event.target.closest?.(selector);
    if (group) mark(group);
  });
  return { all, active, activate, move };
}
