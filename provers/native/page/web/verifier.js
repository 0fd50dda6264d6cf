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

  put(...parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    let place = this.exports.reserve(length) >>> 0;
    for (const part of parts) {
      new Uint8Array(this.exports.memory.buffer).set(part, place);
      place += part.length;
    }
  }

  /** The answer of a call that says 1; what else it says is thrown. */
  call(name, ...given) {
    let held;
    try {
      held = this.exports[name](...given);
    } catch {
      throw new Error(DAMAGED);
    }
    const place = this.exports.answer() >>> 0;
    const bytes = new Uint8Array(this.exports.memory.buffer, place, this.exports.answer_length() >>> 0);
    const text = new TextDecoder().decode(bytes.slice());
    if (held !== 1) throw new Error(text);
    return text;
  }
}

/**
 * What holds, by the bytes of a held file, of a folder's files: {path, size, read()} each, `path` below the folder.
 *
 * {holds: true, lines, digest} or {holds: false, reason, digest}; `digest` is the held file's SHA-256, if it is one.
 */
export async function check(module, held, files, progress = async () => {}) {
  let digest = null;
  try {
    const instance = new Instance(module);
    instance.put(held);
    digest = instance.call("open");
    for (const [place, file] of files.entries()) {
      await progress(place, files.length, file.path);
      if (file.size > MOST_BYTES) throw new Error(`${file.path}: expected at most ${MOST_BYTES} bytes, found ${file.size}`);
      const path = new TextEncoder().encode(file.path);
      instance.put(path, await file.read());
      instance.call("file", path.length);
    }
    return { holds: true, lines: instance.call("finish").split("\n"), digest };
  } catch (error) {
    return { holds: false, reason: String(error?.message ?? error), digest };
  }
}
