// A person's own keys: maps the pressed key to the key that the page uses for the action.
// #own-keys has the map ({"z": "u", "u": ""}), and whether characters are keys at all.
const FULL_WIDTH = { "。": ".", "，": ",", "？": "?" };
const chosen = document.getElementById("own-keys")?.dataset;
const own = JSON.parse(chosen?.keys ?? "{}");

// Whether the key belongs to an input method. Safari ends the composition before the Enter that did so: its
// keyCode is 229 then.
export const composes = (event) => event.isComposing || event.keyCode === 229;

// "" when the key does nothing.
export function actual(event) {
  if (event.key.length !== 1) return event.key;
  if (chosen?.shortcuts === "off") return "";
  const plain = FULL_WIDTH[event.key] ?? event.key;
  const small = chosen ? plain.toLowerCase() : plain;
  const key = small === "," && !("," in own) ? "." : small; // some keyboards have no other point
  return own[key] ?? key;
}
