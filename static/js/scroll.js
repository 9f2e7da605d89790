// Elements that scroll sideways (a wide table, a long formula) can be focused and scrolled by keyboard.
const SCROLLERS = ".table-wrap, .rich, .raw, .math.block";

// An arrow shows that a table continues to the right, until it has been scrolled.
function hint(el) {
  const goesOn = el.scrollLeft === 0 && el.scrollWidth > el.clientWidth + 1;
  if (el.matches(".table-wrap")) el.toggleAttribute("data-more", goesOn);
}

const scrolled = ({ currentTarget }) => hint(currentTarget);

function judge(el) {
  hint(el);
  if (el.scrollWidth > el.clientWidth || el.matches(".table-tall")) el.tabIndex = 0;
  else el.removeAttribute("tabindex");
}

const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => judge(target)));

function watch(root) {
  for (const el of root.querySelectorAll(SCROLLERS)) {
    sizes.observe(el);
    el.addEventListener("scroll", scrolled, { passive: true });
  }
}

watch(document);
document.addEventListener("htmx:afterSettle", (event) => watch(event.target));
