// With the switch on, go on to the next HIT. Whoever comes back to this page stays on it.
const next = document.querySelector("[data-go-on]");
if (next) {
  history.replaceState(null, "", "?stay");
  document.getElementById("going-on").hidden = false;
  if (next instanceof HTMLFormElement) next.requestSubmit();
  else location.assign(next.href);
}
