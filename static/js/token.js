// Logging in changes the CSRF token; the page, fetched again, has the new one. What was typed here is sent in
// the name of whoever typed it only: the token of another person is not taken.
const PARSER = new DOMParser();

// Returns "renewed", "other" where somebody else is logged in, or "" where nobody is.
export async function renewToken() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer || answer.redirected) return "";
  const { body } = PARSER.parseFromString(await answer.text(), "text/html");
  const headers = body.getAttribute("hx-headers");
  if (body.dataset.person !== document.body.dataset.person) return "other";
  if (!headers) return "";
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) {
    field.value = JSON.parse(headers)["x-csrftoken"];
  }
  document.body.setAttribute("hx-headers", headers);
  document.dispatchEvent(new Event("desk:token")); // forms outside of the page hold the old one
  return "renewed";
}
