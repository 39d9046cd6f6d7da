"use strict";
// The words of scripts in the page's language: English stands in the scripts, its translations in a block of data on
// pages in other languages (surveys' and the marketplace's `texts` tag). {name} in a text is filled from `values`.
(() => {
  const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
  const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
  window.gettext = (text, values = {}) => fill(texts[text] ?? text, values);
})();
