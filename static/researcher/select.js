"use strict";
(() => {
  const all = document.querySelector("[data-pick-all]");
  const boxes = [...document.querySelectorAll("input[name=selected]")];
  if (!all || !boxes.length) return;
  const tell = () => {
    const n = boxes.filter((box) => box.checked).length;
    all.checked = n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) box.addEventListener("change", tell);
})();
