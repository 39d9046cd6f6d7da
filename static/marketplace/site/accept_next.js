// The switch beside an open HIT, turned without leaving the page; without scripts it is on the pages before and after.
const accepting = document.getElementById("accept-next");
accepting.hidden = false;
accepting.addEventListener("change", () => {
  window.switching = fetch(accepting.action, { method: "POST", body: new FormData(accepting), keepalive: true });
});
