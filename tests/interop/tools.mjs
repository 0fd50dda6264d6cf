// Answers requests to snarkjs and circomlibjs, one JSON object a line on stdin, with one JSON line each on stdout.
//
// {"tool": "info", "r1cs": PATH}                                      counts of a constraint system
// {"tool": "json", "r1cs": PATH}                                      the whole system, as `r1cs export json` has it
// {"tool": "check", "r1cs": PATH, "wtns": PATH, "changes": [[w, v]]}  `wtns check` of the witness as it is, then with
//                                                                     wire w set to the decimal v, one change at a time
// {"tool": "verify", "key": PATH, "public": PATH, "proof": PATH}      `groth16 verify`
// {"tool": "call", "of": "zKey.newZKey", "given": [...]}              a function of snarkjs; null or what it returns
// {"tool": "pairing", "key": KEY}                                     e(alpha, beta) of a verification key
// {"tool": "powers", "power": N, "path": PATH}                        `powersoftau new`
// {"tool": "evm", ...}                                                see evm.mjs
// {"tool": "poseidon", "inputs": [[...]], "capacity": "0"}            hashes of lists of decimals
// {"tool": "constants", "width": t}                                   round constants and matrix, as decimals
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { buildPoseidonReference } from "circomlibjs";
import { utils } from "ffjavascript";
import * as snarkjs from "snarkjs";

const silent = { info() {}, warn() {}, error() {}, debug() {} };
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

function info(request) {
    return snarkjs.r1cs.info(request.r1cs).then((system) => ({
        wires: system.nVars,
        constraints: system.nConstraints,
        publicOutputs: system.nOutputs,
        publicInputs: system.nPubInputs,
        privateInputs: system.nPrvInputs,
        labels: system.nLabels,
        prime: String(system.prime),
    }));
}

// Where a section's payload begins in a file of sections.
function payload(data, kind) {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let at = 12; at < data.length; at += 12 + Number(view.getBigUint64(at + 4, true))) {
        if (view.getUint32(at, true) === kind) return at + 12;
    }
    throw new Error(`no section of type ${kind}`);
}

async function check(request) {
    const r1cs = { type: "mem", data: new Uint8Array(readFileSync(request.r1cs)) };
    const original = new Uint8Array(readFileSync(request.wtns));
    const values = payload(original, 2);
    const answers = [];
    for (const change of [null, ...(request.changes ?? [])]) {
        const data = original.slice();
        if (change) {
            let rest = BigInt(change[1]);
            for (let place = 0; place < 32; place++, rest >>= 8n) {
                data[values + 32 * change[0] + place] = Number(rest & 255n);
            }
        }
        answers.push(await snarkjs.wtns.check(r1cs, { type: "mem", data }, silent));
    }
    return answers;
}

let building; // once for all requests

async function poseidon(request) {
    const hash = await (building ??= buildPoseidonReference());
    return request.inputs.map((inputs) => hash.F.toString(hash(inputs.map(BigInt), BigInt(request.capacity ?? 0))));
}

async function constants(request) {
    const { default: all } = await import("./node_modules/circomlibjs/src/poseidon_constants.js");
    const decimal = (numbers) => numbers.map((number) => String(BigInt(number)));
    return { constants: decimal(all.C[request.width - 2]), matrix: all.M[request.width - 2].map(decimal) };
}

async function call({ of, given }) {
    const [part, name] = of.split(".");
    const found = await snarkjs[part][name](...given, silent);
    if (found === -1) throw new Error(`${of} failed`);
    return found ?? null;
}

async function pairing({ key }) {
    const curve = await snarkjs.curves.getCurveFromName("bn128");
    const [alpha, beta] = [key.vk_alpha_1, key.vk_beta_2].map(utils.unstringifyBigInts);
    const found = curve.pairing(curve.G1.fromObject(alpha), curve.G2.fromObject(beta));
    return utils.stringifyBigInts(curve.Gt.toObject(found));
}

const tools = {
    info,
    json: (request) => snarkjs.r1cs.exportJson(request.r1cs),
    check,
    verify: ({ key, public: publics, proof }) => snarkjs.groth16.verify(json(key), json(publics), json(proof)),
    poseidon,
    constants,
    call,
    pairing,
    powers: async ({ power, path }) =>
        snarkjs.powersOfTau.newAccumulator(await snarkjs.curves.getCurveFromName("bn128"), power, path, silent),
    evm: async (request) => (await import("./evm.mjs")).evm(request),
};

for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let answer;
    try {
        answer = { result: await tools[request.tool](request) };
    } catch (error) {
        answer = { error: String(error) };
    }
    process.stdout.write(JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value)) + "\n");
}
process.stdout.end(() => process.exit(0));
