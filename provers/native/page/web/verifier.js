// The verifiers' WebAssembly module: a held file and the files of a folder in, the verdict's lines or a refusal out.
//
// The module is from provers/native/page. Every check has an instance of its own, and nothing holds unless its last
// call says so: whatever throws on the way, a panic in the module too, is a refusal.

/** The most bytes of one file that are read: the command line's bound of a proof. */
export const MOST_BYTES = 2 ** 28;

const DAMAGED = "the verifier stopped: what it was given is none that it can read";

/** The most random bytes that a browser draws at a time. */
const MOST_RANDOM = 65536;

class Instance {
  /** The module has random bytes from here, and nothing else; another one is none of ours. */
  constructor(module) {
    const random = (place, length) => {
      const bytes = new Uint8Array(this.exports.memory.buffer, place >>> 0, length >>> 0);
      for (let start = 0; start < bytes.length; start += MOST_RANDOM) {
        crypto.getRandomValues(bytes.subarray(start, start + MOST_RANDOM));
      }
    };
    this.exports = new WebAssembly.Instance(module, { page: { random } }).exports;
  }

  /** What an exported function returns; where it does not return, nothing holds. */
  run(name, ...given) {
    try {
      return this.exports[name](...given);
    } catch {
      throw new Error(DAMAGED);
    }
  }

  put(...parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    let place = this.run("reserve", length) >>> 0;
    for (const part of parts) {
      new Uint8Array(this.exports.memory.buffer).set(part, place);
      place += part.length;
    }
  }

  /** The answer of a call that says 1; what else it says is thrown. */
  call(name, ...given) {
    const held = this.run(name, ...given);
    const place = this.run("answer") >>> 0;
    const bytes = new Uint8Array(this.exports.memory.buffer, place, this.run("answer_length") >>> 0);
    const text = new TextDecoder().decode(bytes.slice());
    if (held !== 1) throw new Error(text);
    return text;
  }
}

/** The bytes of a file that is not too long to read. */
async function content(file) {
  const found = file.size > MOST_BYTES ? null : await file.read().catch(() => null);
  if (found !== null) return found;
  throw new Error(`${visible(file.path)}: expected a file of at most ${MOST_BYTES} bytes that can be read; give it again`);
}

/** A text of somebody else on one line, of characters that are seen and do not turn the others, and not long. */
export function visible(text) {
  const escaped = (one) => (one === " " ? one : `\\u{${one.codePointAt(0).toString(16)}}`);
  const shown = text.replace(/[\p{C}\p{Z}]/gu, escaped);
  return shown.length <= 2000 ? shown : `${shown.slice(0, 2000)}...`;
}

/**
 * What holds, by a held file, of a folder's files: {path, size, read()} each, `path` below the folder.
 *
 * {holds: true, lines, digest} or {holds: false, reason, digest}; `digest` is the held file's SHA-256, if it is one.
 */
export async function check(module, held, files, progress = async () => {}) {
  let digest = null;
  try {
    const instance = new Instance(module);
    instance.put(await content(held));
    digest = instance.call("open");
    for (const [place, file] of files.entries()) {
      await progress(place, files.length);
      const path = new TextEncoder().encode(file.path);
      instance.put(path, await content(file));
      instance.call("file", path.length);
    }
    return { holds: true, lines: instance.call("finish").split("\n"), digest };
  } catch (error) {
    return { holds: false, reason: String(error?.message ?? error), digest };
  }
}
