// The countdown counts, and says when it is nearly over. It is a comfort: the page works without.
const clock = document.getElementById("countdown");
const note = document.getElementById("time-note");
const end = performance.now() + Number(clock.dataset.seconds) * 1000;
const secondsLeft = () => (end - performance.now()) / 1000;
const WARNINGS = [
  [0, `The time is over. ${note.dataset.over}`],
  [60, "Less than a minute is left."],
  [300, "Less than five minutes are left."],
];

function show() {
  const left = Math.max(0, Math.round(secondsLeft()));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  clock.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  clock.classList.toggle("soon", left < 60);
  tell(WARNINGS.find(([seconds]) => left <= seconds)?.[1] ?? "");
  if (left === 0) clearInterval(timer);
}

// Spoken once, when it changes.
function tell(words) {
  if (note.textContent !== words) note.textContent = words;
}

const timer = setInterval(show, 1000);
show();
