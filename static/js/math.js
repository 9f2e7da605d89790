// Formulas. The server leaves their source as text in .math.inline and .math.block; KaTeX builds the nodes here.
// The source is untrusted: the options and limits below restrict what it can do.
const MAX_LENGTH = 5000;
const MAX_FORMULAS = 300;
const MAX_DEPTH = 240; // elements inside each other: some 30 fractions. At 1,000 the layout of Chromium ends the tab
const SLICE_MS = 12;

// A new object for every formula: a \gdef in one response must not affect the next one.
function options(displayMode) {
  return {
    displayMode,
    throwOnError: true,
    trust: false,
    strict: "ignore",
    maxExpand: 200,
    maxSize: 20,
    macros: { "\\mbox": "\\text{#1}", "\\cancelto": "{\\cancel{#2}}^{\\,#1}" }, // not in KaTeX
    globalGroup: false,
    output: "htmlAndMathml",
    errorColor: "currentcolor", // of commands that are not trusted: their names, in no colour
  };
}

// KaTeX sets most styles through the style object, which the CSP allows, but a few (the width
// of an arrow, a tall brace) by setAttribute("style"), which it blocks: \vec would lose its arrow.
// While one formula is drawn, and only then, those go through the style object too.
function withStyleObject(work) {
  const original = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function setAttribute(name, value) {
    if (name === "style" && this.style) this.style.cssText = value;
    else original.call(this, name, value);
  };
  try {
    work();
  } finally {
    Element.prototype.setAttribute = original;
  }
}

// Without recursion, which is what a deep formula breaks.
function depthOf(root) {
  let deepest = 0;
  const waits = [[root, 0]];
  while (waits.length) {
    const [node, depth] = waits.pop();
    deepest = Math.max(deepest, depth);
    for (const child of node.children) waits.push([child, depth + 1]);
  }
  return deepest;
}

// Drawn outside the page first: what is too deep must never be laid out.
function renderFormula(el) {
  if ("rendered" in el.dataset) return; // two events may have queued it: drawn twice, it doubles
  el.dataset.rendered = "";
  const source = el.textContent;
  if (source.length > MAX_LENGTH) return; // stays as source
  try {
    const drawn = document.createElement("span");
    withStyleObject(() => katex.render(source, drawn, options(el.classList.contains("block"))));
    if (depthOf(drawn) > MAX_DEPTH) throw new RangeError("too deep");
    el.replaceChildren(...drawn.childNodes);
  } catch {
    el.classList.add("math-source"); // no TeX that KaTeX reads, or too deep: stays as source
  }
}

function waiting(root) {
  const found = [...root.querySelectorAll(".math:not([data-rendered])")];
  const count = new Map();
  return found.filter((el) => {
    const owner = el.closest(".rich") || root;
    count.set(owner, (count.get(owner) || 0) + 1);
    return count.get(owner) <= MAX_FORMULAS;
  });
}

// The first slice runs at once, so that most pages never show the source; the rest runs when the browser is idle.
function renderSome(queue) {
  const end = performance.now() + SLICE_MS;
  while (queue.length && performance.now() < end) {
    const el = queue.shift();
    if (el.isConnected) renderFormula(el);
  }
  if (queue.length) setTimeout(renderSome, 0, queue);
}

export function renderMath(root) {
  renderSome(waiting(root));
}

renderMath(document);
document.addEventListener("htmx:afterSwap", (event) => renderMath(event.target));
document.addEventListener("math:render", (event) => renderMath(event.target));
