// Pictures of questions enlarged: each becomes a button that opens a dialog with + and -.
const STEPS = [1, 1.5, 2, 3, 4, 6];
const EDGE = 16;

const dialog = () => document.getElementById("zoom");
const picture = () => dialog().querySelector(".zoom-picture img");
let step = 0;

export function offerZoom(root) {
  for (const image of root.querySelectorAll(".rich img")) {
    if (image.closest(".zoom-in")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "zoom-in";
    button.setAttribute("aria-label", [dialog().dataset.enlarge, image.alt].filter(Boolean).join(": "));
    image.replaceWith(button);
    button.append(image);
  }
}

function draw() {
  const { naturalWidth } = picture();
  picture().style.width = `${naturalWidth * STEPS[step]}px`;
  document.getElementById("zoom-size").textContent = `${STEPS[step] * 100} %`;
}

function enlarge(image) {
  const large = new Image();
  large.alt = image.alt;
  large.addEventListener("load", draw);
  dialog().querySelector(".zoom-picture").replaceChildren(large);
  dialog().showModal();
  // The largest step at which the whole picture fits inside the padding.
  const { clientWidth, clientHeight } = dialog().querySelector(".zoom-picture");
  const fits = (times) =>
    image.naturalWidth * times <= clientWidth - 2 * EDGE && image.naturalHeight * times <= clientHeight - 2 * EDGE;
  step = Math.max(0, STEPS.findLastIndex(fits));
  large.src = image.currentSrc;
  dialog().querySelector(".zoom-picture").focus();
}

function change(by) {
  step = Math.min(Math.max(step + by, 0), STEPS.length - 1);
  draw();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".zoom-in, [data-zoom]");
  if (!button) return;
  if (button.dataset.zoom) change(Number(button.dataset.zoom));
  else enlarge(button.querySelector("img"));
});

document.addEventListener("keydown", (event) => {
  if (!dialog()?.open || event.ctrlKey || event.metaKey) return;
  const by = { "+": 1, "=": 1, "-": -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  change(by);
});
