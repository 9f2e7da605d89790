// What scrolls sideways (a wide table, a long formula) can be reached and scrolled by keyboard.
const SCROLLERS = ".table-wrap, .rich, .raw, .math.block";

function judge(el) {
  if (el.scrollWidth > el.clientWidth || el.matches(".table-tall")) el.tabIndex = 0;
  else el.removeAttribute("tabindex");
}

const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => judge(target)));

function watch(root) {
  for (const el of root.querySelectorAll(SCROLLERS)) sizes.observe(el);
}

watch(document);
document.addEventListener("htmx:afterSettle", (event) => watch(event.target));
