// The page: takes files, shows the verdict. All text is set as text, never as HTML.
//
// Whatever is given anew takes the verdict on what was given before off the page at once; a verdict is shown only where no file
// was given since its check began, and with the names of what was checked.

const element = (name) => document.getElementById(name);

/** What is given: `reading` while a folder's names are read, then `given`, or `bad` with a reason. */
const slots = {
  held: { says: "Give the held file.", state: "lacking", turn: 0 },
  folder: { says: "Give the folder of the proof or the run.", state: "lacking", turn: 0 },
};
let turn = 0;

async function compiled() {
  return WebAssembly.compile(Uint8Array.from(atob(element("module").textContent), (one) => one.charCodeAt(0)));
}
const module = compiled().catch((error) => ({ error }));

/** A file as `check` takes it. */
const taken = (file, path) => ({ path, size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) });

/** Files by their paths below the one folder that all are in, and its name. */
function below(files) {
  const folders = new Set(files.map((file) => file.path.split("/")[0]));
  if (folders.size !== 1) throw new Error(`expected one folder with files, found ${folders.size}`);
  return { name: [...folders][0], files: files.map((file) => ({ ...file, path: file.path.slice(file.path.indexOf("/") + 1) })) };
}

/** Files that were chosen: of a folder, or by their names alone. */
function chosen(list) {
  const whole = list.length > 0 && list.every((file) => file.webkitRelativePath);
  if (whole) return below(list.map((file) => taken(file, file.webkitRelativePath)));
  return { name: "", files: list.map((file) => taken(file, file.name)) };
}

const entriesOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

/** What is in a dropped folder: by its handle, or where the browser has none by its entry, which Chromium denies a page from the disk. */
async function inside(folder) {
  const found = [];
  if (folder.values) for await (const one of folder.values()) found.push(one);
  else {
    const reader = folder.createReader();
    for (let some = await entriesOf(reader); some.length > 0; some = await entriesOf(reader)) found.push(...some);
  }
  return found;
}

/** All files of a dropped file or folder, by their paths from the folder that was dropped on. */
async function walked(one, before) {
  if (one instanceof File) return [taken(one, before + one.name)];
  if (one.getFile) return [taken(await one.getFile(), before + one.name)];
  if (one.isFile) return [taken(await fileOf(one), before + one.name)];
  const found = [];
  for (const inner of await inside(one)) found.push(...(await walked(inner, `${before}${one.name}/`)));
  return found;
}

/** What was dropped: asked during the event, for it is not there later. */
function asked(item) {
  const entry = item.webkitGetAsEntry();
  return entry?.isDirectory ? (item.getAsFileSystemHandle?.() ?? entry) : item.getAsFile();
}

async function dropped(asking) {
  const ones = await Promise.all(asking);
  if (ones.length === 0 || ones.includes(null)) throw new Error("expected files, found something else");
  const files = (await Promise.all(ones.map((one) => walked(one, "")))).flat();
  return ones.every((one) => one instanceof File) ? { name: "", files } : below(files);
}

function show(state, lines) {
  const verdict = element("verdict");
  verdict.className = verdict.dataset.state = state;
  verdict.textContent = lines.map(visible).join("\n");
}

async function judge() {
  const own = ++turn;
  const { held, folder } = slots;
  element("of").textContent = "";
  const bad = Object.values(slots).find((slot) => slot.state === "bad");
  if (bad) return show("refused", [`NOT verified: ${bad.reason}`]);
  const lacking = Object.values(slots).find((slot) => slot.state !== "given");
  if (lacking) return show("waiting", [lacking.state === "reading" ? "reading the names of files" : lacking.says]);
  show("checking", ["checking"]);
  const start = performance.now();
  const progress = async (place, count) => {
    if (own === turn) show("checking", [`${place + 1} of ${count} files`]);
    await new Promise((resolve) => setTimeout(resolve));
  };
  const verifiers = await module;
  const found = verifiers.error ? null : await check(verifiers, held.files[0], folder.files, progress);
  if (own !== turn) return;
  if (found === null) return show("refused", [`NOT verified: this browser cannot run the verifiers: ${verifiers.error}`]);
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  const of = [`checked: ${folder.files.length} files of ${folder.name || "no folder"}, by ${held.files[0].path}`];
  if (found.digest !== null) of.push(`SHA-256 of the held file: ${found.digest}`);
  element("of").textContent = of.map(visible).join("\n");
  if (found.holds) show("valid", [...found.lines, `${seconds} s in this browser`]);
  else show("refused", [`NOT valid: ${found.reason}`]);
}

/** Takes what was given for a slot, once its names are read, unless something else was given for it since. */
async function take(slot, reading) {
  const own = ++slot.turn;
  slot.state = "reading";
  judge();
  let found;
  try {
    const { name, files } = await reading;
    if (slot === slots.held && files.length !== 1) throw new Error(`expected one held file, found ${files.length}`);
    found = { name, files, state: "given" };
  } catch (error) {
    found = { reason: String(error?.message ?? error), state: "bad" };
  }
  if (own !== slot.turn) return;
  Object.assign(slot, found);
  await judge();
}

for (const [name, slot] of [["held", slots.held], ["folder", slots.folder], ["files", slots.folder]]) {
  element(name).addEventListener("change", (event) => {
    const list = [...event.target.files];
    // So that the same choice made again is a new one, and no input names what a drop has replaced.
    event.target.value = "";
    take(slot, (async () => chosen(list))());
  });
}
for (const [zone, slot] of [["held-zone", slots.held], ["folder-zone", slots.folder]]) {
  element(zone).addEventListener("drop", (event) => {
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    take(slot, dropped(items.map(asked)));
  });
}
// A file dropped elsewhere would be opened instead of this page.
for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
judge();
