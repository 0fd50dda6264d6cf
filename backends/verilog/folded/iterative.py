"""Division and square roots in pipelines, which compute one bit of the result a clock and take new operands every
clock.

One subtraction serves as comparison as well: it has a bit more than its operands, which is 1 where the second is
greater. yosys 0.23 makes two carry chains of a comparison and a subtraction of equal operands.
"""

from __future__ import annotations


def divide(width: int, divisor: int) -> tuple[str, str]:
    """Return the name and the text of a module that divides a signed number of `width` bits with a latency of `width`
    clocks.
    """
    places, name = width - 1, f"folded_divide_{width}_{divisor}"
    lines = [
        "  // high: what is left of x, and below it the bits of the result so far; rest: the remainder so far.",
        f"  wire [{width - 1}:0] flipped = x[{width - 1}] ? ~x : x;",
        "  wire flipped_unused = ^flipped;",
        f"  reg [{places - 1}:0] high0;",
        f"  reg [{divisor - 1}:0] rest0;",
        f"  reg [{divisor - 1}:0] y0;",
        "  reg minus0;",
        "  always @(posedge clk) begin",
        f"    high0 <= flipped[{places - 1}:0];",
        f"    rest0 <= {divisor}'d0;",
        "    y0 <= y;",
        f"    minus0 <= x[{width - 1}];",
        "  end",
    ]
    for k in range(places):
        kept = f"{{high{k}[{places - 2}:0], fits{k}}}" if places > 1 else f"fits{k}"
        lines += [
            f"  wire [{divisor}:0] next{k} = {{rest{k}, high{k}[{places - 1}]}};",
            f"  wire [{divisor + 1}:0] less{k} = {{1'b0, next{k}}} - {{2'd0, y{k}}};",
            f"  wire fits{k} = ~less{k}[{divisor + 1}];",
            f"  wire less{k}_unused = ^less{k};",
            f"  reg [{places - 1}:0] high{k + 1};",
            f"  reg minus{k + 1};",
            "  always @(posedge clk) begin",
            f"    high{k + 1} <= {kept};",
            f"    minus{k + 1} <= minus{k};",
            "  end",
        ]
        if k < places - 1:
            lines += [
                f"  reg [{divisor - 1}:0] rest{k + 1};",
                f"  reg [{divisor - 1}:0] y{k + 1};",
                "  always @(posedge clk) begin",
                f"    rest{k + 1} <= fits{k} ? less{k}[{divisor - 1}:0] : next{k}[{divisor - 1}:0];",
                f"    y{k + 1} <= y{k};",
                "  end",
            ]
    last = f"high{places}"
    lines.append(f"  assign quotient = $signed({{minus{places}, minus{places} ? ~{last} : {last}}});")
    ports = [
        "input wire clk",
        f"input wire signed [{width - 1}:0] x",
        f"input wire [{divisor - 1}:0] y",
        f"output wire signed [{width - 1}:0] quotient",
    ]
    comment = (
        "// floor(x / y) for y >= 1, toward minus infinity: long division, one bit a clock; for x < 0 of ~x,\n"
        "// since floor(x / y) = ~floor(~x / y)."
    )
    return name, _module(name, comment, ports, lines)


def root(half: int) -> tuple[str, str]:
    """Return the name and the text of a module for the square root of a number of 2 * `half` bits, with a latency of
    `half` clocks.
    """
    name, width = f"folded_root_{half}", 2 * half
    lines = [
        "  // rest: the remainder so far; made: the bits of the root so far; left: the pairs of bits to come.",
        f"  wire [{width - 1}:0] left0 = x;",
    ]
    for k in range(half):
        have = k  # bits of the root so far
        rest = 2 * k  # generous width of the remainder so far
        before = f"rest{k}, " if k else ""
        wide = rest + 2
        trial = f"{{{wide - have - 2}'d0, made{k}, 2'b01}}" if k else "2'b01"
        if k and wide == have + 2:
            trial = f"{{made{k}, 2'b01}}"
        lines += [
            f"  wire [{wide - 1}:0] next{k} = {{{before}left{k}[{width - 1}:{width - 2}]}};",
            f"  wire [{wide}:0] less{k} = {{1'b0, next{k}}} - {{1'b0, {trial}}};",
            f"  wire fits{k} = ~less{k}[{wide}];",
            f"  reg [{wide - 1}:0] rest{k + 1};",
            f"  reg [{k}:0] made{k + 1};",
            "  always @(posedge clk) begin",
            f"    rest{k + 1} <= fits{k} ? less{k}[{wide - 1}:0] : next{k};",
            f"    made{k + 1} <= {f'{{made{k}, fits{k}}}' if k else 'fits0'};",
            "  end",
        ]
        if k < half - 1:
            lines += [
                f"  reg [{width - 1}:0] left{k + 1};",
                f"  always @(posedge clk) left{k + 1} <= {{left{k}[{width - 3}:0], 2'b00}};",
            ]
        else:
            lines.append(f"  wire rest{k + 1}_unused = ^rest{k + 1};")
        lines.append(f"  wire left{k}_unused = ^left{k};")
    lines.append(f"  assign root = made{half};")
    ports = ["input wire clk", f"input wire [{width - 1}:0] x", f"output wire [{half - 1}:0] root"]
    return name, _module(name, "// floor(sqrt(x)), one bit a clock.", ports, lines)


def _module(name: str, comment: str, ports: list[str], lines: list[str]) -> str:
    body = "\n".join(lines)
    return (
        f"{comment}\n`default_nettype none\nmodule {name} (\n  " + ",\n  ".join(ports) + f"\n);\n{body}\nendmodule\n"
        "`default_nettype wire\n"
    )
