"use strict";
// Sends a form without leaving its page before there is another to show: a cut network never shows a broken frame.
window.send = (() => {
  const { gettext } = window;
  const TIMEOUT_MS = 20_000, LONGEST_WAIT_MS = 30_000;

  // A request that hangs counts as failed.
  async function post(url, body, { timeout = TIMEOUT_MS, ...options } = {}) {
    const control = new AbortController(), timer = setTimeout(() => control.abort(), timeout);
    try {
      return await fetch(url, { method: "POST", body, signal: control.signal, ...options });
    } finally {
      clearTimeout(timer);
    }
  }

  // Return the page that answers, or why there is none. A gateway's own page is no answer of ours.
  async function pageFor(form, body) {
    try {
      const response = await post(form.action, body), text = await response.text();
      const isOurs = response.status < 500 && text.includes("answering/hits/hit");
      return isOurs ? { url: response.url, status: response.status, text } : { why: gettext("the server can’t take it just now") };
    } catch {
      return { why: navigator.onLine ? gettext("the server can’t be reached") : gettext("offline") };
    }
  }

  function pause(milliseconds, button) {
    return new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
      window.addEventListener("online", resolve, { once: true });
      button.addEventListener("click", resolve, { once: true });
    });
  }

  // Post until there is an answer; the same body every time, so that the receipt is for what was sent.
  async function untilAnswered(form, body, { failed, button }) {
    for (let tries = 0; ; tries += 1) {
      if (tries) body.set("again", "1");
      const { why, ...page } = await pageFor(form, body);
      if (!why) return page;
      failed(why);
      await pause(Math.min(2000 * 2 ** tries, LONGEST_WAIT_MS), button);
    }
  }

  // Put a page that has arrived in the place of this one, under its own address.
  function show({ url, text }) {
    if (url !== location.href.split("#")[0]) history.pushState(null, "", url);
    window.arrivedAt = Date.now(); // outlives the document
    const here = new Set([...document.querySelectorAll("style[data-file]")].map(({ dataset }) => dataset.file));
    // The policy stays that of the page before: a style it does not know, as of a newer version, comes as a file.
    const known = text.replace(/<style data-file="([^"]+)">[^<]*<\/style>/g, (style, file) =>
      here.has(file) ? style : `<link rel="stylesheet" href="${file}">`,
    );
    document.open();
    scrollTo({ top: 0, behavior: "instant" }); // it would stay where the page before was left
    document.write(known);
    document.close();
  }

  // Resolve once the network is there, as far as asking our own server tells.
  async function untilReachable(url, { failed, button }) {
    for (let tries = 0; ; tries += 1) {
      try {
        return await post(url, undefined, { method: "HEAD", mode: "no-cors", cache: "no-store" });
      } catch {
        failed();
        await pause(Math.min(2000 * 2 ** tries, LONGEST_WAIT_MS), button);
      }
    }
  }

  return { post, untilAnswered, show, untilReachable };
})();
