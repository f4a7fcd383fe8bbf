// The link of the server has a token in its fragment, which browsers do not send. It is taken out of the address, kept for
// this tab alone, and shown to the server in a header: a cookie would go with requests of other pages, too.
const KEPT = "monas-token";
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEPT, given);
  history.replaceState(null, "", location.pathname + location.search);
}

async function ask(path) {
  const token = sessionStorage.getItem(KEPT);
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { headers, credentials: "omit", cache: "no-store" });
  if (answer.status === 401) sessionStorage.removeItem(KEPT);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

async function showState(place) {
  try {
    const [status, waiting] = await Promise.all([ask("api/agent/status"), ask("api/approvals")]);
    const count = waiting.approvals.length + waiting.questions.length;
    const waits = count === 1 ? "1 question waits" : `${count} questions wait`;
    const known = sessionStorage.getItem(KEPT) ? "You are signed in. " : "";
    place.textContent = `${known}The agent is ${status.state}; ${waits} for a person.`;
  } catch (error) {
    place.textContent = error.message === "401"
      ? "You are not signed in: `monas open` prints a link that signs you in."
      : `How the agent stands is not known: ${error.message}.`;
  }
}

showState(document.querySelector("#session"));
