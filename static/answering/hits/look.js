"use strict";
// What is judged stays in reach. Once the question of an item is scrolled away, it stands in the bar with a small
// picture, and opens what it is about: pictures, states, texts.
(() => {
  const bar = document.querySelector("header.bar"), items = [...document.querySelectorAll(".item")];
  if (!bar || !items.length) return;
  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const small = make("img", { alt: "" }), words = make("span", { dir: "auto" });
  const again = make("button", { type: "button", className: "again", hidden: true }, small, words);
  const inside = make("div", { className: "inside" }), close = make("button", { className: "main", textContent: "Back to the questions" });
  const whole = make("dialog", { className: "whole" }, inside, make("form", { method: "dialog" }, close));
  const away = new Set();
  bar.prepend(again);

  const heading = (item) => item.querySelector("h2");
  const question = (item) => [...heading(item).childNodes].filter((node) => !node.classList?.contains("count")).map((node) => node.textContent).join("").trim();

  function refresh() {
    const item = items.findLast((one) => !one.hidden && away.has(one)); // of a page that shows all, the one read now
    again.hidden = !item;
    if (!item) return;
    const picture = item.querySelector("img");
    again.item = item;
    small.hidden = !picture;
    if (picture && small.src !== picture.src) small.src = picture.src;
    words.textContent = question(item);
  }

  function copyOf(item) {
    const parts = [heading(item), ...item.querySelectorAll(".look, .states, .blocks, .reminder")].map((node) => node.cloneNode(true));
    parts.forEach((part) => [part, ...part.querySelectorAll("[id]")].forEach((node) => node.removeAttribute("id")));
    parts.forEach((part) => part.querySelectorAll("img").forEach((img) => (img.loading = "eager")));
    return parts;
  }

  again.addEventListener("click", () => {
    inside.replaceChildren(...copyOf(again.item));
    whole.setAttribute("aria-label", words.textContent);
    document.body.append(whole);
    whole.showModal();
  });

  const watch = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const isAbove = !isIntersecting && boundingClientRect.height > 0; // hidden items have none
        isAbove ? away.add(target.closest(".item")) : away.delete(target.closest(".item"));
      }
      refresh();
    },
    { root: document, rootMargin: `-${bar.offsetHeight}px 0px 1000000px 0px` }, // what is still to come is not away
  );
  // A reminder stays, too, where there is room: what stays below it has to know how high it is.
  const sizes = new ResizeObserver((entries) => {
    const height = Math.max(...entries.map(({ target }) => target.offsetHeight)); // those of hidden items have none
    if (height) document.documentElement.style.setProperty("--reminder", `${height}px`);
  });
  items.forEach((item) => item.querySelector(".reminder") && sizes.observe(item.querySelector(".reminder")));
  items.forEach((item) => watch.observe(heading(item)));
})();
