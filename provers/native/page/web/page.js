// The page: takes files, shows the verdict. All text is set as text, never as HTML.

const element = (name) => document.getElementById(name);
const module = WebAssembly.compile(Uint8Array.from(atob(element("module").textContent), (one) => one.charCodeAt(0)));
const given = { held: null, files: null };
let turn = 0;

/** A file as `check` takes it. Of a path of a chosen or dropped folder, the folder's own name is not a part. */
const taken = (file, path) => ({ path, size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) });

function below(paths) {
  const folders = new Set(paths.map((path) => path.split("/")[0]));
  if (folders.size !== 1) throw new Error(`expected one folder, found ${folders.size}`);
  return paths.map((path) => path.slice(path.indexOf("/") + 1));
}

function chosen(list) {
  const files = [...list];
  const whole = files.every((file) => file.webkitRelativePath);
  const paths = whole ? below(files.map((file) => file.webkitRelativePath)) : files.map((file) => file.name);
  return files.map((file, place) => taken(file, paths[place]));
}

const entriesOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

/** All files of a dropped entry, by their paths from the folder that was dropped on. */
async function walked(entry, before) {
  if (entry.isFile) return [taken(await fileOf(entry), before + entry.name)];
  const reader = entry.createReader();
  const found = [];
  for (let some = await entriesOf(reader); some.length > 0; some = await entriesOf(reader)) {
    for (const one of some) found.push(...(await walked(one, `${before}${entry.name}/`)));
  }
  return found;
}

async function dropped(transfer) {
  const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry());
  const found = (await Promise.all(entries.map((entry) => walked(entry, "")))).flat();
  if (entries.every((entry) => entry.isFile)) return found;
  const paths = below(found.map((file) => file.path));
  return found.map((file, place) => ({ ...file, path: paths[place] }));
}

function show(state, lines) {
  const verdict = element("verdict");
  verdict.className = verdict.dataset.state = state;
  verdict.textContent = lines.join("\n");
}

async function judge() {
  const own = ++turn;
  if (given.held === null || given.files === null) {
    element("digest").textContent = "";
    show("waiting", [given.held === null ? "Give the held file." : "Give the folder of the proof or the run."]);
    return;
  }
  const start = performance.now();
  const progress = async (place, count, path) => {
    if (own === turn) show("checking", [`${place + 1} of ${count}: ${path}`]);
    await new Promise((resolve) => setTimeout(resolve));
  };
  show("checking", ["checking"]);
  let found;
  try {
    found = await check(await module, await given.held.read(), given.files, progress);
  } catch (error) {
    found = { holds: false, reason: String(error), digest: null };
  }
  if (own !== turn) return;
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  element("digest").textContent = found.digest === null ? "" : `held file, SHA-256 ${found.digest}`;
  if (found.holds) show("valid", [...found.lines, `${seconds} s in this browser`]);
  else show("refused", [`NOT valid: ${found.reason}`]);
}

async function take(name, files) {
  given[name] = null;
  try {
    given[name] = await files();
  } catch (error) {
    turn += 1;
    show("refused", [`NOT valid: ${error.message ?? error}`]);
    return;
  }
  await judge();
}

function one(files) {
  if (files.length !== 1) throw new Error(`expected one held file, found ${files.length}`);
  if (files[0].size > MOST_BYTES) throw new Error(`expected a held file of at most ${MOST_BYTES} bytes`);
  return files[0];
}

const inputs = { held: ["held", one], folder: ["files", (files) => files], files: ["files", (files) => files] };
for (const [name, [place, made]] of Object.entries(inputs)) {
  element(name).addEventListener("change", (event) => take(place, () => made(chosen(event.target.files))));
}
for (const [zone, place, made] of [["held-zone", "held", one], ["folder-zone", "files", (files) => files]]) {
  element(zone).addEventListener("dragover", (event) => event.preventDefault());
  element(zone).addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const found = dropped(event.dataTransfer);
    take(place, async () => made(await found));
  });
}
// A file dropped elsewhere would be opened instead of this page.
for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
judge();
