"use strict";
// A problem with an item is reported without leaving the page; without this file the whole form takes it along.
(() => {
  const { gettext, send } = window;
  const form = document.getElementById("hit");
  const reports = form ? [...form.querySelectorAll(".report")] : [];

  async function post(button, text) {
    const body = new URLSearchParams({ token: form.elements.token.value, report: button.value, [text.name]: text.value, by_script: "1" });
    try {
      const response = await send.post(form.action, body);
      return response.ok ? await response.json() : undefined;
    } catch {
      return undefined; // no network, or a page that is no answer of ours
    }
  }

  for (const node of reports) {
    const [button, text, told] = ["button", "textarea", ".told"].map((selector) => node.querySelector(selector));
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      button.disabled = true;
      const sent = text.value, { message, is_kept } = (await post(button, text)) ?? {};
      button.disabled = false;
      told.textContent = message ?? gettext("Not sent: the server can’t be reached. What you wrote is still here; it is sent with your answers.");
      if (is_kept && text.value === sent) text.value = "";
    });
  }
})();
