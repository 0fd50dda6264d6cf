// Compiles a contract with solc, deploys it in an EVM (Cancun) and calls it.
//
// {"source": TEXT, "function": NAME, "calls": [HEX, ...]}, HEX being arguments without the selector; answers
// {"warnings": [...], "code_bytes": N, "calls": [{"reverted": BOOL, "value": HEX, "execution_gas": N, "gas": N}, ...]}
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM } from "@ethereumjs/evm";
import { bytesToHex, hexToBytes } from "@ethereumjs/util";
import solc from "solc";

const settings = {
    evmVersion: "cancun",
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.deployedBytecode.object", "evm.methodIdentifiers"] } },
};

export async function evm(request) {
    const sources = { "Verifier.sol": { content: request.source } };
    const compiled = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
    const warnings = (compiled.errors ?? []).map((error) => error.formattedMessage);
    if (!compiled.contracts) throw new Error(warnings.join("\n"));
    const { bytecode, deployedBytecode, methodIdentifiers } = Object.values(compiled.contracts["Verifier.sol"])[0].evm;
    const selector = Object.entries(methodIdentifiers).find(([name]) => name.startsWith(`${request.function}(`))[1];

    const machine = await createEVM({ common: new Common({ chain: Mainnet, hardfork: Hardfork.Cancun }) });
    const deployed = await machine.runCall({ data: hexToBytes(`0x${bytecode.object}`), gasLimit: 30_000_000n });
    if (deployed.execResult.exceptionError) throw new Error(deployed.execResult.exceptionError.error);
    const calls = [];
    for (const words of request.calls) {
        const data = hexToBytes(`0x${selector}${words}`);
        const { execResult } = await machine.runCall({ to: deployed.createdAddress, data, gasLimit: 30_000_000n });
        const execution = Number(execResult.executionGasUsed);
        calls.push({
            reverted: execResult.exceptionError !== undefined,
            value: bytesToHex(execResult.returnValue),
            execution_gas: execution,
            gas: 21000 + data.reduce((sum, byte) => sum + (byte ? 16 : 4), 0) + execution,
        });
    }
    return { warnings, code_bytes: deployedBytecode.object.length / 2, calls };
}
