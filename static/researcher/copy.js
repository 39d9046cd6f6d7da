"use strict";
(() => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = "Copied";
      } catch {
        field.focus();
        field.select();
      }
    });
  }
  for (const field of document.querySelectorAll("input.address")) {
    field.addEventListener("focus", () => field.select());
  }
})();
