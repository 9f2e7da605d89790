// A click fills in a person of the demo.
document.addEventListener("click", (event) => {
  const person = event.target.closest("[data-fill-username]");
  if (!person) return;
  const form = document.querySelector("form[data-login]");
  form.elements.username.value = person.dataset.fillUsername;
  form.elements.password.value = person.dataset.fillPassword;
  form.querySelector("button[type=submit]").focus();
});
