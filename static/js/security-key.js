// Starts allauth's script for security keys; what it could not do is said on the page.
const place = document.querySelector("[data-key-call]");
const { keyCall, keyButton, keyId, keyField, keyFailed, keyKnown } = place.dataset;

window.allauth.webauthn.forms[keyCall]({ ids: { [keyButton]: keyId, credential: keyField, data: "key-data" } });
// Until now a click would have been lost.
document.getElementById(keyId).disabled = false;

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  // What a browser says of a key that this person has already.
  const known = event.detail?.exception?.name === "InvalidStateError";
  place.textContent = known ? keyKnown : keyFailed;
});
