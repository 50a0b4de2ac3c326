// A box that leads to any database, table, view or query by a part of its name.
// It opens by its button or by "/", and asks /-/jump.json as one types.
(() => {
  "use strict";

  const url = `${document.currentScript.dataset.base}-/jump.json`;
  const pause = 120;
  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };

  const dialog = element("dialog", { class: "jump", "aria-label": "Jump to" });
  const input = element("input", {
    type: "search", placeholder: "Database, table or view", autocomplete: "off", spellcheck: "false",
    role: "combobox", "aria-label": "Name", "aria-expanded": "true", "aria-controls": "jump-list", "aria-autocomplete": "list",
  });
  const list = element("ul", { id: "jump-list", role: "listbox", "aria-label": "Places" });
  const note = element("p", { class: "note", role: "status" });
  dialog.append(input, list, note);

  const button = element("button", { type: "button", class: "jump-button", "aria-keyshortcuts": "/" }, "Jump to");
  button.append(element("kbd", { "aria-hidden": "true" }, "/"));

  let chosen = -1;
  let timer = 0;
  let asking = null;

  const options = () => [...list.children];

  function choose(place) {
    const all = options();
    chosen = all.length ? (place + all.length) % all.length : -1;
    all.forEach((option, n) => option.setAttribute("aria-selected", String(n === chosen)));
    if (chosen < 0) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    input.setAttribute("aria-activedescendant", all[chosen].id);
    all[chosen].scrollIntoView({ block: "nearest" });
  }

  function show({ matches, truncated }) {
    list.replaceChildren(...matches.map((match, n) => {
      const option = element("li", { role: "option", id: `jump-${n}` });
      const link = element("a", { href: match.url, tabindex: "-1" }, match.name);
      option.append(link, element("span", { class: "tag" }, match.type));
      if (match.description) option.append(element("small", {}, match.description));
      return option;
    }));
    if (!matches.length) note.textContent = "Nothing is called that";
    else note.textContent = truncated ? "There are more: type more of the name" : "";
    choose(0);
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await fetch(`${url}?${new URLSearchParams({ q: input.value })}`, { signal });
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.json());
    } catch (error) {
      if (error.name === "AbortError") return;
      list.replaceChildren();
      note.textContent = "The server did not answer: try again";
    }
  }

  function open() {
    if (dialog.open) return;
    if (!dialog.isConnected) document.body.append(dialog);
    dialog.showModal();
    input.select();
    ask();
  }

  button.addEventListener("click", open);
  dialog.addEventListener("click", (event) => {
    // A click beside the box falls on the dialog itself.
    if (event.target === dialog) dialog.close();
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
      event.preventDefault();
    } else if (event.key === "Enter") {
      const link = options()[chosen]?.querySelector("a");
      if (link) link.click();
      event.preventDefault();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement
      && (event.target.isContentEditable || event.target.closest("input, textarea, select"));
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      open();
      event.preventDefault();
    }
  });
  document.querySelector("header.top")?.append(button);
})();
