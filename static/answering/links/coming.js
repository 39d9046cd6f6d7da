"use strict";
// The pictures of what probably comes next are fetched once this page has all of its own, for who pays for no byte.
(() => {
  const coming = document.getElementById("coming");
  const get = () => (window.coming = document.importNode(coming.content, true)); // held: what nobody holds may be dropped
  if (!coming || navigator.connection?.saveData) return;
  document.readyState === "complete" ? get() : window.addEventListener("load", get, { once: true });
})();
