// A person's own keys: from the key that was pressed to the one by which the page knows the action.
// #own-keys says what leads where ({"z": "u", "u": ""}), and whether characters are keys at all.
const FULL_WIDTH = { "。": ".", "，": ",", "？": "?" };
const chosen = document.getElementById("own-keys")?.dataset;
const own = JSON.parse(chosen?.keys ?? "{}");

// "" when nothing is to happen.
export function actual(event) {
  if (event.key.length !== 1) return event.key;
  if (chosen?.shortcuts === "off") return "";
  const plain = FULL_WIDTH[event.key] ?? event.key;
  const small = chosen ? plain.toLowerCase() : plain;
  const key = small === "," && !("," in own) ? "." : small; // some keyboards have no other point
  return own[key] ?? key;
}
