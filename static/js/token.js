// Logging in changes the CSRF token, and the site says the new one. What was typed here is sent in the name of
// whoever typed it only: the token of another person is not taken.

const LONGEST_WAIT_MS = 10_000;

async function ask() {
  const answer = await fetch("/session/", { signal: AbortSignal.timeout(LONGEST_WAIT_MS) });
  const said = answer.ok ? await answer.json() : "";
  return said && "person" in said ? said : ""; // a proxy may answer
}

// Returns { state }: "renewed", "other" where somebody else is logged in, "nobody" where nobody is, "held" where
// the person has something to do first, which { text } says, "unreached" where nothing answers, or something else
// does than the site, or "" where the site cannot say.
export async function renewToken() {
  const said = await ask().catch(() => "unreached");
  if (typeof said !== "object") return { state: said };
  const { person, token, held } = said;
  if (!person) return { state: "nobody" };
  if (person !== document.body.dataset.person) return { state: "other" };
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "x-csrftoken": token }));
  document.dispatchEvent(new Event("desk:token")); // forms outside of the page hold the old one
  return held ? { state: "held", text: held } : { state: "renewed" };
}
