"use strict";
// Each button copies a field or an output. Where that can't be done it is hidden or selects, to be copied as any text is.
document.querySelectorAll("button[data-copy]").forEach((button) => {
  if (!navigator.clipboard) return;
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.value);
      button.textContent = button.dataset.done ?? "Copied";
    } catch {
      if ("select" in source) source.select();
      else getSelection().selectAllChildren(source);
    }
  });
});
document.querySelectorAll(".address").forEach((field) => {
  field.addEventListener("focus", () => field.select());
});
