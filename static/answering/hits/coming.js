"use strict";
// The pictures of what probably comes next are fetched once this page has all of its own, for who pays for no byte.
(() => {
  const coming = document.getElementById("coming");
  if (!coming || navigator.connection?.saveData) return;

  // A page of a marketplace asks which they are; one by link knows.
  async function ask() {
    const { token } = document.getElementById("hit").elements;
    const response = await window.send.post(coming.dataset.from, new URLSearchParams({ token: token.value }));
    if (response.ok) coming.innerHTML = await response.text();
  }

  async function get() {
    if (coming.dataset.from) await ask().catch(() => {}); // it is a comfort
    window.coming = document.importNode(coming.content, true); // held: what nobody holds may be dropped
  }

  document.readyState === "complete" ? get() : window.addEventListener("load", get, { once: true });
})();
