// The countdown counts. It is a comfort: the page works without.
const clock = document.getElementById("countdown");
const end = performance.now() + Number(clock.dataset.seconds) * 1000;

function show() {
  const left = Math.max(0, Math.round((end - performance.now()) / 1000));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  clock.textContent = parts.map((part) => String(part).padStart(2, "0")).join(":");
  clock.classList.toggle("soon", left < 60);
  if (left === 0) clearInterval(timer);
}

const timer = setInterval(show, 1000);
show();
