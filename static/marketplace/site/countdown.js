// The countdown counts, and says when it is nearly over. It is a comfort: the page works without.
const clock = document.getElementById("countdown");
const note = document.getElementById("time-note");
let end = performance.now() + secondsFirst() * 1000;
const secondsLeft = () => (end - performance.now()) / 1000;
const more = document.getElementById("more-time"), WARNED_SECONDS = 300;
let calm = ""; // what is said when nothing has to be
const WARNINGS = [
  [0, gettext("The time is over. {next}", { next: note.dataset.over })],
  [60, gettext("Less than a minute is left.")],
  [WARNED_SECONDS, gettext("Less than five minutes are left.")],
];

// A page that Back takes from the browser's cache is as old as it is there: its time ends when it did at first.
function secondsFirst() {
  const given = Number(clock.dataset.seconds), visit = performance.getEntriesByType("navigation")[0];
  if (visit?.type !== "back_forward" || visit.transferSize > 0) return given;
  try {
    const kept = Number(sessionStorage.getItem(`end:${location.href}`));
    return kept ? (kept - Date.now()) / 1000 : given;
  } catch {
    return given; // the browser keeps nothing
  }
}

function keepEnd() {
  try {
    sessionStorage.setItem(`end:${location.href}`, Date.now() + secondsLeft() * 1000);
  } catch {}
}

function show() {
  const left = Math.max(0, Math.round(secondsLeft()));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  clock.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  clock.classList.toggle("soon", left <= WARNED_SECONDS);
  tell(WARNINGS.find(([seconds]) => left <= seconds)?.[1] ?? calm);
  note.classList.toggle("wrong", left <= WARNED_SECONDS);
  note.classList.toggle("over", left === 0);
  if (more) more.hidden = left === 0 || left > WARNED_SECONDS || Boolean(calm);
  if (left === 0) clearInterval(timer);
}

// Spoken once, when it changes.
function tell(words) {
  if (note.textContent !== words) note.textContent = words;
}

// More time, asked for without leaving the task; its frame is told (hit.js).
more?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = more.querySelector("button");
  try {
    const response = await fetch(more.action, { method: "POST", body: new FormData(more), headers: { Accept: "application/json" } });
    const { seconds } = await response.json();
    end = performance.now() + 1000 * seconds;
    keepEnd();
    calm = gettext("You have more time.");
    document.querySelector("iframe#task")?.contentWindow.postMessage({ seconds }, "*");
    show();
  } catch {
    button.textContent = gettext("Not reached: try again");
  }
});

const timer = setInterval(show, 1000);
keepEnd();
show();
