// Drives the page in headless Chromium: `node browser.mjs PAGE.html CHROMIUM`; one JSON of {held, folder} or {held, files} a line in, and
// {state, text, html, milliseconds, bytes} a line out. `held` and `files` are paths, `folder` is one of a folder.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const profile = mkdtempSync(join(tmpdir(), "circuitize-browser-"));
const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
const browser = spawn(process.argv[3], options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , to, from] = browser.stdio;
const waiting = new Map();
let number = 0;
let rest = "";
from.setEncoding("utf8");
from.on("data", (some) => {
  const parts = (rest + some).split("\0");
  rest = parts.pop();
  for (const { id, result, error } of parts.map((part) => JSON.parse(part))) {
    const own = waiting.get(id);
    waiting.delete(id);
    if (own) error ? own.reject(new Error(JSON.stringify(error))) : own.resolve(result);
  }
});

function ask(method, params = {}, sessionId = undefined) {
  const id = ++number;
  to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
const page = (method, params) => ask(method, params, sessionId);
const value = async (expression) =>
  (await page("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true })).result.value;

async function put(name, files) {
  const { root } = await page("DOM.getDocument");
  const { nodeId } = await page("DOM.querySelector", { nodeId: root.nodeId, selector: `#${name}` });
  await page("DOM.setFileInputFiles", { nodeId, files });
}

async function judged({ held, folder, files }) {
  // A page of its own for every question, so that no answer is an earlier one's.
  await page("Page.navigate", { url: "about:blank" });
  await page("Page.navigate", { url: pathToFileURL(process.argv[2]).href });
  while (!(await value("document.readyState === 'complete' && !!document.querySelector('#verdict')?.textContent"))) ;
  const start = performance.now();
  await put("held", [held]);
  await (folder === undefined ? put("files", files) : put("folder", [folder]));
  for (;;) {
    const state = await value("document.querySelector('#verdict').dataset.state");
    if (state === "valid" || state === "refused") {
      const [text, html] = await value("[document.querySelector('#verdict').textContent, document.querySelector('#verdict').innerHTML]");
      return { state, text, html, milliseconds: performance.now() - start };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

try {
  for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await judged(JSON.parse(line))));
} finally {
  await ask("Browser.close").catch(() => {});
  await new Promise((resolve) => browser.exitCode === null ? browser.on("exit", resolve) : resolve());
  rmSync(profile, { recursive: true, force: true });
}
