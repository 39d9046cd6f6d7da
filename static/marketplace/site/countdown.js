// The countdown counts, and says when it is nearly over. It is a comfort: the page works without.
const clock = document.getElementById("countdown");
const note = document.getElementById("time-note");
const end = performance.now() + Number(clock.dataset.seconds) * 1000;

function show() {
  const left = Math.max(0, Math.round((end - performance.now()) / 1000));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  clock.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  clock.classList.toggle("soon", left < 60);
  if (note && left <= 60) tell(left ? "Less than a minute is left." : "The time is over.");
  if (left === 0) clearInterval(timer);
}

function tell(words) {
  if (note.textContent !== words) note.textContent = words;
}

const timer = setInterval(show, 1000);
show();
