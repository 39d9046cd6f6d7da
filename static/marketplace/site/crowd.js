// A local stand-in for Amazon's crowd elements in the frame of an HTMLQuestion: ordinary fields inside the elements,
// so that handlers a template has put on an element go on working, and one answer in the shape theirs had.
(() => {
  "use strict";

  const given = new URLSearchParams(location.search);
  const isPreview = given.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
  const COPIED = ["type", "value", "placeholder", "min", "max", "step", "rows", "cols", "pattern", "autofocus", "disabled", "checked", "required"];
  let groups = 0;

  function made(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  class Crowd extends HTMLElement {
    connectedCallback() {
      if (this.isBuilt) return;
      this.isBuilt = true;
      this.build();
    }

    // Make the field this element stands for; `tag` and `type` are HTML's.
    makeField(tag, type) {
      this.field = document.createElement(tag);
      for (const name of COPIED) if (this.hasAttribute(name)) this.field.setAttribute(name, this.getAttribute(name));
      if (this.hasAttribute("max-length")) this.field.maxLength = Number(this.getAttribute("max-length"));
      if (type) this.field.type = type;
      if (this.getAttribute("name")) this.field.name = this.getAttribute("name");
      return this.field;
    }

    labelled(...children) {
      const text = this.getAttribute("label");
      this.append(made("label", {}, ...(text ? [`${text} `] : []), ...children));
    }

    get value() { return this.field?.value; }
    set value(text) { this.field.value = text; }
    get checked() { return this.field?.checked; }
    set checked(state) { this.field.checked = state; }
    get disabled() { return this.field?.disabled; }
    set disabled(state) { this.field.disabled = state; }
  }

  class CrowdInput extends Crowd {
    build() { this.labelled(this.makeField("input")); }
  }

  class CrowdTextArea extends Crowd {
    build() {
      this.makeField("textarea").value = this.getAttribute("value") ?? this.textContent;
      this.replaceChildren();
      this.labelled(this.field);
    }
  }

  class CrowdSlider extends Crowd {
    build() {
      const shown = made("output");
      this.makeField("input", "range");
      this.field.addEventListener("input", () => { shown.textContent = this.field.value; });
      shown.textContent = this.field.value;
      this.labelled(this.field, " ", shown);
    }
  }

  class CrowdChoice extends Crowd {
    build() {
      const text = [...this.childNodes];
      this.labelled(this.makeField("input", this.constructor.kind), " ", ...text);
    }
  }
  class CrowdCheckbox extends CrowdChoice { static kind = "checkbox"; }
  class CrowdRadioButton extends CrowdChoice { static kind = "radio"; }

  // Buttons of a group may have names of their own: they exclude each other, and answer under those names.
  class CrowdRadioGroup extends Crowd {
    build() {
      this.setAttribute("role", "radiogroup");
      const group = `crowd-group-${++groups}`;
      for (const button of this.querySelectorAll("crowd-radio-button")) {
        button.connectedCallback();
        button.field.dataset.answer = button.field.name;
        button.field.name = group;
        button.field.required ||= this.hasAttribute("required");
      }
    }
  }

  class CrowdButton extends Crowd {
    build() {
      const kind = { none: "button", reset: "reset" }[this.getAttribute("form-action")] ?? "submit";
      const button = made("button", { type: kind, disabled: this.hasAttribute("disabled") }, ...this.childNodes);
      this.field = button;
      this.append(button);
    }
  }

  class CrowdInstructions extends Crowd {
    build() {
      const text = this.getAttribute("link-text") || this.getAttribute("header") || "Instructions";
      this.append(made("details", {}, made("summary", { textContent: text }), ...this.childNodes));
    }
  }

  class CrowdClassifier extends Crowd {
    build() {
      const kind = this.constructor.kind, name = this.getAttribute("name");
      const categories = JSON.parse((this.getAttribute("categories") || "[]").replaceAll("'", '"'));
      const options = categories.map((value) => {
        const field = made("input", { type: kind, name, value, required: kind === "radio" });
        field.dataset.label = kind;
        return made("p", {}, made("label", {}, field, ` ${value}`));
      });
      this.append(made("fieldset", {}, made("legend", { textContent: this.getAttribute("header") || "" }), ...options));
    }
  }
  class CrowdClassifierOne extends CrowdClassifier { static kind = "radio"; }
  class CrowdClassifierMany extends CrowdClassifier { static kind = "checkbox"; }

  class CrowdForm extends Crowd {
    build() {
      this.form = made("form", { method: "post" }, ...this.childNodes);
      this.append(this.form);
    }

    // Once everything inside is built.
    finish() {
      if (!this.form.querySelector("button:not([type=button]), input[type=submit]")) {
        this.form.append(made("button", { textContent: "Submit" }));
      }
      if (isPreview) {
        for (const button of this.form.querySelectorAll("button:not([type=button]), input[type=submit]")) button.disabled = true;
      }
    }

    submit() { this.form.requestSubmit(); }
  }

  // One array of one object with sorted keys: choices as {value: chosen}, classifiers as {label} or {labels}, empty
  // texts left out.
  function answersOf(form) {
    const answers = {};
    for (const field of form.elements) {
      const name = field.dataset.answer ?? field.name;
      if (!name || field.disabled || ["submit", "button", "reset", "fieldset", "output"].includes(field.type)) continue;
      if (field.dataset.label) classify((answers[name] ??= {}), field);
      else if (["radio", "checkbox"].includes(field.type)) (answers[name] ??= {})[field.value] = field.checked;
      else if (field.value !== "") answers[name] = field.value;
    }
    return Object.fromEntries(Object.entries(answers).sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  function classify(answer, field) {
    if (field.type === "checkbox") answer.labels ??= [];
    if (!field.checked) return;
    if (field.type === "radio") answer.label = field.value;
    else answer.labels.push(field.value);
  }

  function send(form) {
    const sent = made("form", { method: "post", action: "/mturk/externalSubmit", hidden: true });
    const fields = { assignmentId: given.get("assignmentId") ?? "", taskAnswers: JSON.stringify([answersOf(form)]) };
    for (const [name, value] of Object.entries(fields)) sent.append(made("input", { type: "hidden", name, value }));
    document.body.append(sent);
    sent.submit();
  }

  // Last of all handlers: whoever prevents the submission before, keeps it from being sent.
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || !event.target.closest("crowd-form")) return;
    event.preventDefault();
    if (!isPreview) send(event.target);
  });

  const ELEMENTS = [
    ["crowd-form", CrowdForm],
    ["crowd-input", CrowdInput],
    ["crowd-text-area", CrowdTextArea],
    ["crowd-slider", CrowdSlider],
    ["crowd-checkbox", CrowdCheckbox],
    ["crowd-toggle-button", class extends CrowdCheckbox {}],
    ["crowd-radio-button", CrowdRadioButton],
    ["crowd-radio-group", CrowdRadioGroup],
    ["crowd-button", CrowdButton],
    ["crowd-instructions", CrowdInstructions],
    ["crowd-classifier", CrowdClassifierOne],
    ["crowd-classifier-multi-select", CrowdClassifierMany],
  ];

  // Only now do the elements have their contents.
  document.addEventListener("DOMContentLoaded", () => {
    for (const [name, element] of ELEMENTS) customElements.define(name, element);
    document.querySelectorAll("crowd-form").forEach((form) => form.finish());
  });
})();
