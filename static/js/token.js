// Logging in changes the CSRF token, and the site says the new one. What was typed here is sent in the name of
// whoever typed it only: the token of another person is not taken.

// Returns "renewed", "other" where somebody else is logged in, "nobody" where nobody is, "unreached" where the site
// is not reached, or "" where it cannot say.
export async function renewToken() {
  const answer = await fetch("/session/").catch(() => null);
  if (!answer) return "unreached";
  if (!answer.ok) return "";
  const { person, token } = await answer.json();
  if (!person) return "nobody";
  if (person !== document.body.dataset.person) return "other";
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "x-csrftoken": token }));
  document.dispatchEvent(new Event("desk:token")); // forms outside of the page hold the old one
  return "renewed";
}
