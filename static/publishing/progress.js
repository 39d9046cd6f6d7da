"use strict";
(() => {
  const SECONDS = 3;
  const card = document.querySelector("[data-progress]");
  if (!card) return;

  const show = (counts) => {
    for (const place of document.querySelectorAll("[data-count]")) {
      if (!(place.dataset.count in counts)) continue;
      const text = String(counts[place.dataset.count]);
      if (place.textContent !== text) place.textContent = text;
    }
    for (const bar of document.querySelectorAll("[data-bar]")) {
      if (!(bar.dataset.bar in counts)) continue;
      bar.max = counts[bar.dataset.barMax] || 1;
      bar.value = counts[bar.dataset.bar];
    }
  };

  const ask = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(card.dataset.progress, {
          headers: { Accept: "application/json" },
          redirect: "manual", // who is signed out is sent to a page that no counts are on
        });
        if (answer.ok) {
          const counts = await answer.json();
          show(counts);
          if (counts.status !== card.dataset.status) {
            location.reload();
            return;
          }
        }
      } catch {
        // The server may be restarting; the next round asks again.
      }
    }
    setTimeout(ask, SECONDS * 1000);
  };
  setTimeout(ask, SECONDS * 1000);
})();
