// Niceties for a page of rows; everything here can also be done with the page's links and form.
(() => {
  "use strict";

  const wrapper = document.querySelector(".table-wrapper[data-column-menu]");
  const form = document.querySelector("form.filters");

  // The address of this page with its query string changed; paging starts over.
  const address = (change) => {
    const args = new URLSearchParams(location.search);
    args.delete("_next");
    change(args);
    const query = args.toString();
    return location.pathname + (query ? "?" + query : "");
  };

  const sortBy = (name, value) =>
    address((args) => {
      for (const key of ["_sort", "_sort_desc", "_sort_by_desc"]) args.delete(key);
      args.set(name, value);
    });

  const removeValue = (args, key, value) => {
    const rest = args.getAll(key).filter((item) => item !== value);
    args.delete(key);
    rest.forEach((item) => args.append(key, item));
    return rest.length;
  };

  const choicesFor = (cell) => {
    const { column } = cell.dataset;
    const args = new URLSearchParams(location.search);
    const choices = [];
    if (cell.querySelector("a")) {
      const order = cell.getAttribute("aria-sort");
      if (order !== "ascending") choices.push(["Sort ascending", sortBy("_sort", column)]);
      if (order !== "descending") choices.push(["Sort descending", sortBy("_sort_desc", column)]);
    }
    const shown = [...document.querySelectorAll(".facet-info")].some((facet) => facet.dataset.column === column);
    if (wrapper.dataset.allowFacet === "1" && !shown) {
      choices.push(["Facet by this", address((next) => next.append("_facet", column))]);
    }
    if (cell.dataset.isPk !== "1") {
      choices.push([
        "Hide this column",
        address((next) => {
          // A page that lists its columns stops listing this one; any other page names what to leave out.
          if (next.getAll("_col").includes(column) && removeValue(next, "_col", column) > 0) return;
          next.append("_nocol", column);
        }),
      ]);
    }
    if (cell.dataset.columnNotNull !== "1" && !args.has(column + "__notblank")) {
      choices.push(["Show not-blank rows", address((next) => next.set(column + "__notblank", "1"))]);
    }
    return choices;
  };

  const addColumnMenus = () => {
    const menu = document.createElement("div");
    menu.className = "column-menu";
    menu.hidden = true;
    document.body.append(menu);
    let opener = null;

    const close = (refocus) => {
      if (!opener) return;
      opener.setAttribute("aria-expanded", "false");
      if (refocus) opener.focus();
      opener = null;
      menu.hidden = true;
    };

    const open = (button, cell) => {
      const { column, columnType, isPk, columnDescription } = cell.dataset;
      const links = document.createElement("div");
      links.setAttribute("role", "menu");
      links.setAttribute("aria-label", "Column " + column);
      for (const [label, href] of choicesFor(cell)) {
        const link = document.createElement("a");
        link.href = href;
        link.rel = "nofollow";
        link.textContent = label;
        link.setAttribute("role", "menuitem");
        links.append(link);
      }
      menu.replaceChildren(links);
      const facts = [(columnType || "").toLowerCase(), isPk === "1" ? "primary key" : ""].filter(Boolean).join(", ");
      for (const text of [facts, columnDescription]) {
        if (!text) continue;
        const line = document.createElement("p");
        line.textContent = text;
        menu.append(line);
      }
      menu.hidden = false;
      const box = button.getBoundingClientRect();
      const left = Math.min(box.left, document.documentElement.clientWidth - menu.offsetWidth - 8);
      menu.style.left = Math.max(left, 8) + scrollX + "px";
      menu.style.top = box.bottom + scrollY + 3 + "px";
      opener = button;
      button.setAttribute("aria-expanded", "true");
      menu.querySelector("a")?.focus();
    };

    for (const cell of wrapper.querySelectorAll("th[data-column]")) {
      if (cell.dataset.isLinkColumn) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "column-menu-button";
      button.setAttribute("aria-label", "Options for column " + cell.dataset.column);
      button.setAttribute("aria-haspopup", "menu");
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => {
        const wasOpen = opener === button;
        close(false);
        if (!wasOpen) open(button, cell);
      });
      cell.append(button);
    }

    document.addEventListener("click", (event) => {
      if (opener && !menu.contains(event.target) && !opener.contains(event.target)) close(false);
    });
    document.addEventListener("keydown", (event) => {
      if (!opener) return;
      if (event.key === "Escape") return close(true);
      if (event.key === "Tab") return close(true);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const links = [...menu.querySelectorAll("a")];
      links[(links.indexOf(document.activeElement) + step + links.length) % links.length]?.focus();
    });
    wrapper.addEventListener("scroll", () => close(false), { passive: true });
    // Its place depends on the width alone; a phone changes the height whenever its address bar comes and goes.
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) close(false);
      width = innerWidth;
    });
  };

  // A comparison such as "is null" takes no value; an untouched row of the form needs no place in the address.
  const tidyForm = () => {
    const rows = [...form.querySelectorAll(".filter-row")].map((row) => {
      const [column, op] = row.querySelectorAll("select");
      return { column, op, value: row.querySelector("input") };
    });
    const update = () => {
      for (const { op, value } of rows) value.disabled = op.selectedOptions[0]?.hasAttribute("data-no-value") ?? false;
    };
    form.addEventListener("change", update);
    form.addEventListener("submit", () => {
      for (const { column, op, value } of rows) {
        if (column.name === "_filter_column" && !column.value) {
          for (const control of [column, op, value]) control.disabled = true;
        }
      }
      for (const control of form.querySelectorAll("input[type=search], .sort-row select")) control.disabled = !control.value;
    });
    // Going back to the page shows the form as it was when it was sent.
    addEventListener("pageshow", () => {
      for (const control of form.elements) control.disabled = false;
      update();
    });
  };

  if (wrapper) addColumnMenus();
  if (form) tidyForm();
})();
