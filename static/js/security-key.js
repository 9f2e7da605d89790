// Starts allauth's script for security keys; what it could not do is said on the page.
const place = document.querySelector("[data-key-call]");
const { keyCall, keyButton, keyId, keyField, keyFailed } = place.dataset;

window.allauth.webauthn.forms[keyCall]({ ids: { [keyButton]: keyId, credential: keyField, data: "key-data" } });

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  place.textContent = keyFailed;
});
