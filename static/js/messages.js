// A message stays until its × is pressed; the focus then moves to the content.
document.addEventListener("click", ({ target }) => {
  const message = target.closest(".message .close")?.closest(".message");
  if (!message) return;
  const focused = message.contains(document.activeElement);
  message.remove();
  if (focused) document.getElementById("main")?.focus({ preventScroll: true });
});
