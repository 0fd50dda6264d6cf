// Reads a .r1cs and a .wtns, makes gnark's constraint system of them, and proves and verifies with gnark's Groth16.
//
// Usage: gnark CIRCUIT.r1cs WITNESS.wtns, which prints one JSON object:
// {"constraints", "publics", "solved", "verified", "tampered_verified"}; where gnark's solver refuses the witness
// ("solved" is false) nothing is proved.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/logger"
)

type header struct {
	Wires, Outputs, Inputs, Private uint32
	Labels                          uint64
	Constraints                     uint32
}

// The payloads of a file of sections, by type.
func sections(path, magic string, version uint32) map[uint32]*bytes.Reader {
	content := must(os.ReadFile(path))
	if len(content) < 12 || string(content[:4]) != magic || binary.LittleEndian.Uint32(content[4:]) != version {
		fail(fmt.Errorf("%s: not a .%s file of version %d", path, magic, version))
	}
	found := map[uint32]*bytes.Reader{}
	for at := uint64(12); at < uint64(len(content)); {
		size := binary.LittleEndian.Uint64(content[at+4:])
		found[binary.LittleEndian.Uint32(content[at:])] = bytes.NewReader(content[at+12 : at+12+size])
		at += 12 + size
	}
	return found
}

func number[T any](source io.Reader) (value T) {
	fail(binary.Read(source, binary.LittleEndian, &value))
	return value
}

// An element in normal form: little-endian, below the prime.
func element(source io.Reader) (value fr.Element) {
	var content [fr.Bytes]byte
	must(io.ReadFull(source, content[:]))
	value = must(fr.LittleEndian.Element(&content))
	return value
}

func checkPrime(source io.Reader) {
	width := number[uint32](source)
	content := make([]byte, width)
	must(io.ReadFull(source, content))
	for i, j := 0, len(content)-1; i < j; i, j = i+1, j-1 {
		content[i], content[j] = content[j], content[i]
	}
	if width != fr.Bytes || new(big.Int).SetBytes(content).Cmp(fr.Modulus()) != 0 {
		fail(fmt.Errorf("the prime is not that of BN254"))
	}
}

func combination(system *cs.R1CS, source io.Reader) (terms constraint.LinearExpression) {
	for count := number[uint32](source); count > 0; count-- {
		wire := number[uint32](source)
		value := element(source)
		var coefficient constraint.U64
		copy(coefficient[:], value[:])
		terms = append(terms, system.MakeTerm(coefficient, int(wire)))
	}
	return terms
}

// Wires keep their numbers: the constant and the publics are gnark's public variables, all others its secret ones.
func readSystem(path string) (*cs.R1CS, int, int) {
	parts := sections(path, "r1cs", 1)
	checkPrime(parts[1])
	head := number[header](parts[1])
	publics := int(head.Outputs + head.Inputs)
	system := cs.NewR1CS(int(head.Constraints))
	for wire := 0; wire < int(head.Wires); wire++ {
		if wire <= publics {
			system.AddPublicVariable(fmt.Sprint("wire ", wire))
		} else {
			system.AddSecretVariable(fmt.Sprint("wire ", wire))
		}
	}
	blueprint := system.AddBlueprint(&constraint.BlueprintGenericR1C{})
	for row := uint32(0); row < head.Constraints; row++ {
		a := combination(system, parts[2])
		b := combination(system, parts[2])
		c := combination(system, parts[2])
		system.AddR1C(constraint.R1C{L: a, R: b, O: c}, blueprint)
	}
	return system, publics, int(head.Wires)
}

func readWitness(path string, publics, wires int) (witness.Witness, fr.Vector) {
	parts := sections(path, "wtns", 2)
	checkPrime(parts[1])
	if count := number[uint32](parts[1]); int(count) != wires {
		fail(fmt.Errorf("%s: %d wires, expected %d", path, count, wires))
	}
	if one := element(parts[2]); !one.IsOne() {
		fail(fmt.Errorf("%s: wire 0 is not 1", path))
	}
	values := make(fr.Vector, wires-1)
	channel := make(chan any, len(values))
	for i := range values {
		values[i] = element(parts[2])
		channel <- values[i]
	}
	close(channel)
	full := must(witness.New(fr.Modulus()))
	fail(full.Fill(publics, wires-1-publics, channel))
	return full, values[:publics]
}

func main() {
	logger.Disable()
	system, publics, wires := readSystem(os.Args[1])
	full, values := readWitness(os.Args[2], publics, wires)
	report := map[string]any{"constraints": system.GetNbConstraints(), "publics": publics}
	report["solved"] = system.IsSolved(full) == nil
	if report["solved"] == true {
		var key groth16.ProvingKey
		var verifying groth16.VerifyingKey
		fail(groth16.Setup(system, &key, &verifying))
		proof := must(groth16.Prove(system, &key, full))
		report["verified"] = groth16.Verify(proof, &verifying, values) == nil
		values[0].Add(&values[0], new(fr.Element).SetOne())
		report["tampered_verified"] = groth16.Verify(proof, &verifying, values) == nil
	}
	fail(json.NewEncoder(os.Stdout).Encode(report))
}

func must[T any](value T, err error) T {
	fail(err)
	return value
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
