// Opens the trials of a cell of the heat map. Without it the page stays readable: every number stands in it as text.
"use strict";

const json = (id) => {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
};

const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// A page opened from a file knows the folder of its run.
const runFolder = () => {
  const { protocol, pathname } = window.location;
  return protocol === "file:" ? decodeURIComponent(pathname.replace(/\/[^/]*$/, "")) : "RUN";
};

const element = (name, attributes, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};

const dialog = document.getElementById("trial");
const views = dialog.querySelector(".views");
const body = dialog.querySelector(".body");

const show = async (button, packed) => {
  for (const other of views.children) other.setAttribute("aria-pressed", String(other === button));
  body.setAttribute("aria-busy", "true");
  try {
    body.innerHTML = await unpack(packed);
  } catch {
    body.replaceChildren(element("p", { textContent: "This browser cannot unpack the trial." }));
  }
  body.scrollTop = 0;
  body.removeAttribute("aria-busy");
};

const commandFor = (cell) => {
  const command = `harness-eval view ${quoted(runFolder())} ${quoted(`${cell.task}/${cell.harness}`)}`;
  const copy = element("button", { type: "button", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(copy.previousElementSibling);
    }
  });
  return element("p", { className: "command" }, element("code", { textContent: command }), copy);
};

const open = (map, cell) => {
  const found = map.trials(cell);
  dialog.querySelector("h2").textContent = `${cell.task} · ${cell.harness}`;
  dialog.querySelector(".score").textContent = map.score(cell);
  views.replaceChildren();
  body.replaceChildren();
  for (const [title, packed] of found) {
    const button = element("button", { type: "button", textContent: title });
    button.addEventListener("click", () => show(button, packed));
    views.append(button);
  }
  dialog.querySelector(".wide-view").classList.toggle("paired", found.some(([title]) => title.startsWith("beside")));
  if (found.length) views.firstElementChild.click();
  else body.append(element("p", { textContent: map.absent }), ...(map.recorded ? [commandFor(cell)] : []));
  dialog.showModal();
};

class HeatMap {
  constructor(host) {
    const data = json(host.dataset.map);
    Object.assign(this, data);
    this.host = host;
    this.bytes = Uint8Array.from(atob(data.scores), (character) => character.charCodeAt(0));
    this.status = host.parentElement.querySelector(".status");
    this.row = 0;
    this.column = 0;
    this.tell();
  }

  cell() {
    return { row: this.row, column: this.column, harness: this.harnesses[this.row], task: this.tasks[this.column] };
  }

  trials({ row, column }) {
    this.kept ??= json(`${this.host.dataset.map}-trials`) ?? { trials: {}, pairs: {} };
    const key = `${row},${column}`;
    const pair = this.kept.pairs[key];
    return [...(this.kept.trials[key] ?? []), ...(pair ? [["beside canonical", pair]] : [])];
  }

  score({ row, column }) {
    const score = this.bytes[row * this.tasks.length + column];
    return score > 100 ? "no verdict" : `score ${score} %`;
  }

  tell() {
    const cell = this.cell();
    this.status.textContent = `${cell.task} · ${cell.harness}: ${this.score(cell)}`;
  }

  move(row, column) {
    this.row = Math.max(0, Math.min(this.harnesses.length - 1, row));
    this.column = Math.max(0, Math.min(this.tasks.length - 1, column));
    this.tell();
  }

  key(event) {
    const step = event.ctrlKey || event.metaKey ? 10 : 1;
    const moves = {
      ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step],
      Home: [0, -this.tasks.length], End: [0, this.tasks.length],
      PageUp: [-this.harnesses.length, 0], PageDown: [this.harnesses.length, 0],
    };
    if (event.key in moves) this.move(this.row + moves[event.key][0], this.column + moves[event.key][1]);
    else if (event.key === "Enter" || event.key === " ") open(this, this.cell());
    else return;
    event.preventDefault();
  }
}

// A table: one cell at a time can be reached with Tab, the others with the arrows.
const asGrid = (host) => {
  const map = new HeatMap(host);
  const table = host.querySelector("table");
  const rows = [...table.tBodies[0].rows];
  const at = () => rows[map.row].cells[map.column + 1];
  const focus = (previous) => {
    previous.tabIndex = -1;
    at().tabIndex = 0;
    at().focus();
  };
  table.setAttribute("role", "grid");
  at().tabIndex = 0;
  table.addEventListener("keydown", (event) => {
    const previous = at();
    map.key(event);
    if (previous !== at()) focus(previous);
  });
  const pointed = (event, then) => {
    const cell = event.target.closest("tbody td");
    if (cell) then(rows.indexOf(cell.parentElement), cell.cellIndex - 1);
  };
  table.addEventListener("click", (event) => pointed(event, (row, column) => {
    const previous = at();
    map.move(row, column);
    focus(previous);
    open(map, map.cell());
  }));
  table.addEventListener("pointerover", (event) => pointed(event, (row, column) => {
    const kept = [map.row, map.column];
    map.move(row, column);
    [map.row, map.column] = kept;
  }));
  table.addEventListener("focusin", () => map.tell());
};

// A picture with one pixel a cell: the place that is pointed at says which cell it is.
const asPicture = (host) => {
  const map = new HeatMap(host);
  const picture = host.querySelector(".pixels");
  const cursor = picture.appendChild(element("span", { className: "cursor" }));
  const draw = () => {
    cursor.style.left = `${(100 * map.column) / map.tasks.length}%`;
    cursor.style.top = `${(100 * map.row) / map.harnesses.length}%`;
    cursor.style.width = `${100 / map.tasks.length}%`;
    cursor.style.height = `${100 / map.harnesses.length}%`;
  };
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * map.harnesses.length);
    map.move(row, Math.floor(((event.clientX - box.left) / box.width) * map.tasks.length));
    draw();
  };
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  picture.setAttribute("aria-label", "Cells of the heat map: arrow keys move, Enter opens");
  picture.setAttribute("aria-describedby", map.status.id);
  picture.addEventListener("pointermove", point);
  picture.addEventListener("click", (event) => {
    point(event);
    open(map, map.cell());
  });
  picture.addEventListener("keydown", (event) => {
    map.key(event);
    draw();
  });
  draw();
};

for (const host of document.querySelectorAll("[data-map]")) {
  (host.querySelector("table") ? asGrid : asPicture)(host);
  host.classList.add("live");
}
// On a telephone long tables wait until they are asked for.
if (window.matchMedia("(max-width: 700px)").matches) {
  for (const table of document.querySelectorAll("details[open]")) table.open = false;
}
for (const hint of document.querySelectorAll(".needs-script")) hint.hidden = false;
dialog.querySelector(".close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => body.replaceChildren());
