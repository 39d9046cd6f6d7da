"use strict";
// What is judged stays in view: the bar at the top shows what has scrolled away, and pictures open larger.
(() => {
  const { gettext, kept } = window;
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const bar = find(".bar"), PICTURES = ".look img, .states img, .block img, .output img", LONG_SIDE = 3, MOST = 3;
  if (!bar || !find("#hit")) return; // a preview's controls are switched off

  // -- What has not arrived, or is gone ------------------------------------------------------------------
  // As the server's page offers it where it knows of a file that is gone (templates/assent/unseen.html).
  function offerUnseen(item) {
    const way = document.createElement("div"), name = `i${item.dataset.position}-skip-unseen`;
    way.className = "unseen";
    way.innerHTML = '<fieldset class="group checkbox optional" role="group"><legend></legend><div class="choices"><label><input type="checkbox" value="file:unseen"><span><b></b> <small></small></span></label></div></fieldset>';
    Object.assign(find("input", way), { name, id: `${name}-1` });
    find("legend", way).textContent = gettext("Something is missing here");
    find("b", way).replaceWith(gettext("Without it this can’t be judged"));
    find("small", way).textContent = gettext("Then nothing else is asked about it.");
    find("h2", item).after(way);
    way.dispatchEvent(new Event("unseen", { bubbles: true }));
  }

  function offerAgain(media, holder) {
    const note = document.createElement("p"), name = media.alt || media.ariaLabel || media.getAttribute("aria-label");
    const item = media.closest(".item"), skip = find(".skip", item);
    const others = skip ? gettext("If you need it, choose “Skip: it can’t be judged” below.") : "";
    if (!skip && !find(".unseen", item) && !("judged" in item.dataset)) offerUnseen(item);
    note.className = "missing";
    note.setAttribute("role", "status");
    const lost = gettext("{name} can’t be loaded.", { name });
    note.append(`${lost} ${others} `);
    note.append(
      button("", gettext("Load it again"), () => {
        note.remove();
        holder.hidden = false;
        media.tagName === "IMG" ? (media.src += "") : media.load();
      }),
    );
    holder.hidden = true;
    holder.after(note);
  }

  // Who comes late to an error that is over asks for it: an SVG without a size of its own has a width of 0, too.
  function watch(media, holder = media) {
    const lost = () => holder.hidden || offerAgain(media, holder);
    media.addEventListener("error", lost);
    if (media.error) lost();
    else if (media.tagName === "IMG" && media.complete && !media.naturalWidth) media.decode().catch(lost);
  }

  all(".block :is(audio, video)").forEach((media) => watch(media));

  // -- Larger --------------------------------------------------------------------------------------------
  const larger = document.createElement("dialog");
  larger.className = "larger";
  larger.setAttribute("aria-label", gettext("What is judged"));
  document.body.append(larger);
  // A press beside what it shows closes it, as Escape does.
  larger.addEventListener("click", ({ target }) => target === larger && larger.close());
  larger.addEventListener("close", () => larger.replaceChildren());

  function button(className, text, onClick) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", className, textContent: text });
    made.addEventListener("click", onClick);
    return made;
  }

  // `src` is the picture as it came, whichever smaller copy the page shows. As wide as the window, or as wide as it is: then its frame scrolls, by finger, wheel and arrow keys.
  function paneOf({ src, alt, naturalWidth, naturalHeight }) {
    const figure = document.createElement("figure"), pane = document.createElement("div"), image = new Image();
    Object.assign(image, { src, alt });
    Object.assign(pane, { className: "pane", tabIndex: 0 });
    pane.setAttribute("role", "group");
    pane.setAttribute("aria-label", alt);
    pane.append(image);
    const isLong = naturalWidth > LONG_SIDE * naturalHeight, shape = isLong ? "long" : "usual";
    const choose = (isActual) => (resize(isActual), kept.liked(`size.${shape}`, isActual ? "actual" : "fitting"));
    const size = button("", gettext("Actual size"), () => choose(!figure.classList.contains("actual")));
    const resize = (isActual) => {
      figure.classList.toggle("actual", isActual);
      size.setAttribute("aria-pressed", isActual);
    };
    const liked = kept.liked(`size.${shape}`); // as it was chosen before, else as it can be read
    resize(liked ? liked === "actual" : isLong);
    figure.append(pane, size);
    return figure;
  }

  function open(pictures, texts = []) {
    const close = button("main", gettext("Close"), () => larger.close());
    larger.append(close, ...pictures.map(paneOf), ...texts);
    larger.showModal();
    close.focus();
  }

  for (const picture of all(PICTURES)) {
    const enlarge = button("enlarge", "", () => open([picture]));
    enlarge.setAttribute("aria-label", gettext("Enlarge: {name}", { name: picture.alt }));
    picture.replaceWith(enlarge);
    enlarge.append(picture);
    watch(picture, enlarge);
  }

  // -- What has scrolled away ----------------------------------------------------------------------------
  const glance = button("glance", "", () => open(seen.pictures, seen.texts.map((text) => text.cloneNode(true))));
  const [thumbnails, words, given] = [["span", "thumbnails"], ["span", "words"], ["b", "given"]].map(([tag, className]) => Object.assign(document.createElement(tag), { className }));
  given.dir = "auto";
  glance.append(thumbnails, words, given);
  glance.hidden = true;
  bar.prepend(glance);
  let seen = { pictures: [], texts: [] }, shown = "";

  const picturesOf = (item) => all(PICTURES, item).filter((picture) => !picture.closest("[hidden]"));
  const isAbove = (node) => node.getBoundingClientRect().bottom <= bar.getBoundingClientRect().bottom;

  // The first output with a question that has not gone by.
  const judgedOutput = (item) => all(".output", item).find((output) => all(".group", output).some((group) => !isAbove(group)));

  // What was answered first: what is asked later may be about that.
  // Not what is withdrawn, as an item that can't be judged has no answer.
  function answerOf(item) {
    const label = find(`[name="i${item.dataset.position}-answer"]:checked`, item)?.closest("label");
    return label?.getClientRects().length ? find("span", label) : undefined;
  }

  const lineOf = (textContent) => Object.assign(document.createElement("span"), { textContent, dir: "auto" });

  function look() {
    const item = all(".item:not([hidden])").find((one) => !isAbove(one));
    if (!item) return;
    const asked = find(".asked", item), quote = judgedOutput(item)?.querySelector("blockquote"), answer = answerOf(item);
    const texts = [asked, answer, ...all(".block :is(p, li, tr), .step bdi", item), quote].filter((text) => text?.textContent.trim());
    const gone = texts.filter((text) => text !== answer && isAbove(text)), away = gone.filter((text) => [asked, quote].includes(text));
    const there = picturesOf(item), pictures = there.filter(isAbove), answered = answer && isAbove(answer) ? answer.textContent.trim() : "";
    const lines = (away.length ? away : gone.slice(-1)).map(({ textContent }) => textContent);
    seen = { pictures: there, texts };
    const now = JSON.stringify([pictures.map(({ src }) => src), lines, answered]);
    glance.hidden = !pictures.length && !lines.length && !answered;
    if (now === shown) return;
    shown = now;
    thumbnails.replaceChildren(...pictures.slice(0, MOST).map(({ currentSrc, src }) => Object.assign(new Image(), { src: currentSrc || src, alt: "" })));
    words.replaceChildren(...lines.map(lineOf));
    given.textContent = answered;
    if (glance.hidden) return;
    glance.setAttribute("aria-label", gettext("Look again: {text}", { text: [...lines, answered].filter(Boolean).join(" ") || pictures[0].alt }));
  }

  let frame = 0;
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(look);
  };
  ["scroll", "resize", "focusin", "click", "change"].forEach((event) => addEventListener(event, soon, { passive: true }));
  soon();
})();
