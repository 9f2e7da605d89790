// A button that copies the text of the field it names, and says so; without JavaScript it stays hidden.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const said = document.getElementById("copied");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // Without HTTPS a page may not write to the clipboard by itself.
      field.focus();
      field.select();
      if (!document.execCommand("copy")) return;
    }
    said.textContent = button.dataset.copied;
  });
}
