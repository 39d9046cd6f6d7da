// In the frame of an HTMLQuestion, before its own scripts: what MTurk's helper scripts did for such documents.
(() => {
  "use strict";

  const given = new URLSearchParams(location.search);
  const assignmentId = given.get("assignmentId") ?? "";
  const isPreview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";

  function hiddenField(form, name, value) {
    const field = form.querySelector(`input[name="${name}"]`) ?? form.appendChild(document.createElement("input"));
    Object.assign(field, { type: "hidden", name, value });
  }

  function lockInPreview(form) {
    if (!isPreview) return;
    for (const button of form.querySelectorAll("button:not([type=button]), input[type=submit]")) button.disabled = true;
  }

  // Templates call this at their end.
  window.turkSetAssignmentID = () => {
    for (const form of document.querySelectorAll('form[action$="/mturk/externalSubmit"]')) {
      hiddenField(form, "assignmentId", assignmentId);
      lockInPreview(form);
    }
  };

  // <crowd-form>: one field taskAnswers, an array of one object; choices become {value: chosen}, empty texts are left out.
  function answersOf(form) {
    const answers = {};
    for (const field of form.elements) {
      if (!field.name || field.disabled || ["submit", "button"].includes(field.type)) continue;
      if (["radio", "checkbox"].includes(field.type)) (answers[field.name] ??= {})[field.value] = field.checked;
      else if (field.value !== "") answers[field.name] = field.value;
    }
    return Object.fromEntries(Object.entries(answers).sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  function send(form) {
    const sent = document.createElement("form");
    Object.assign(sent, { method: "post", action: "/mturk/externalSubmit", hidden: true });
    hiddenField(sent, "assignmentId", assignmentId);
    hiddenField(sent, "taskAnswers", JSON.stringify([answersOf(form)]));
    document.body.append(sent);
    sent.submit();
  }

  function renamed(element, tag) {
    const made = document.createElement(tag);
    for (const { name, value } of element.attributes) made.setAttribute(name, value);
    made.append(...element.childNodes);
    element.replaceWith(made);
    return made;
  }

  function standIn(crowdForm) {
    const form = renamed(crowdForm, "form");
    for (const element of form.querySelectorAll("crowd-input")) renamed(element, "input");
    for (const element of form.querySelectorAll("crowd-text-area")) renamed(element, "textarea");
    for (const element of form.querySelectorAll("crowd-button")) renamed(element, "button");
    if (!form.querySelector("button:not([type=button]), input[type=submit]")) {
      form.append(Object.assign(document.createElement("button"), { textContent: "Submit" }));
    }
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (!isPreview) send(form);
    });
    lockInPreview(form);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("crowd-form").forEach(standIn);
    window.turkSetAssignmentID();
  });
})();
