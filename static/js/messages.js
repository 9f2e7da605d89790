// A message stays until it is read: its × closes it. The focus goes on at the content.
document.addEventListener("click", ({ target }) => {
  const message = target.closest(".message .close")?.closest(".message");
  if (!message) return;
  const focused = message.contains(document.activeElement);
  message.remove();
  if (focused) document.getElementById("main")?.focus({ preventScroll: true });
});
