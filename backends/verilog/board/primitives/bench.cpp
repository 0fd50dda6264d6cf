// A board in a simulator: bytes go to and come from its serial line, as requests on standard input ask.
//
// A request is three numbers of 32 bits, lowest byte first: how many bytes to send, how many to take, and after how many
// clocks without a bit to give up; then the bytes to send. The answer is the number of bytes taken in 32 bits, the clocks
// since the start in 64, and the bytes. CLOCKS is how many a bit takes.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vboard.h"
#include "verilated.h"

namespace {

const int BITS = 8;

class Board {
 public:
  explicit Board(VerilatedContext* context) : context_(context), board_(context) {
    board_.ftdi_txd = 1;
    // Until the reset is over.
    for (int n = 0; n < 1024; ++n) clock();
  }

  ~Board() { board_.final(); }

  bool serve() {
    uint32_t asked[3];
    if (std::fread(asked, sizeof asked[0], 3, stdin) != 3) return false;
    std::vector<uint8_t> sent(asked[0]), taken;
    if (std::fread(sent.data(), 1, sent.size(), stdin) != sent.size()) return false;
    size_t next = 0;
    int bit = 0, rest = 0, place = -1, wait = 0;
    uint32_t quiet = 0;
    uint8_t byte = 0;
    while ((next < sent.size() || taken.size() < asked[1]) && quiet <= asked[2]) {
      ++quiet;
      board_.ftdi_txd = 1;
      if (next < sent.size()) {
        quiet = 0;
        board_.ftdi_txd = bit > BITS || (bit > 0 && (sent[next] >> (bit - 1) & 1));
        if (++rest == CLOCKS) {
          rest = 0;
          if (++bit == BITS + 2) bit = 0, ++next;
        }
      }
      clock();
      if (place < 0) {
        // To the middle of the first bit after the start bit.
        if (!board_.ftdi_rxd) place = 0, wait = CLOCKS + CLOCKS / 2 - 1;
      } else if (wait > 0) {
        --wait;
      } else if (place < BITS) {
        byte = static_cast<uint8_t>(byte >> 1 | (board_.ftdi_rxd ? 0x80 : 0));
        ++place;
        wait = CLOCKS - 1;
      } else {
        if (!board_.ftdi_rxd) return std::fprintf(stderr, "a byte without its stop bit\n"), false;
        taken.push_back(byte);
        place = -1;
        quiet = 0;
      }
    }
    const uint32_t count = static_cast<uint32_t>(taken.size());
    std::fwrite(&count, sizeof count, 1, stdout);
    std::fwrite(&clocks_, sizeof clocks_, 1, stdout);
    std::fwrite(taken.data(), 1, taken.size(), stdout);
    return std::fflush(stdout) == 0;
  }

 private:
  void clock() {
    board_.clk_25mhz = 0;
    board_.eval();
    context_->timeInc(1);
    board_.clk_25mhz = 1;
    board_.eval();
    context_->timeInc(1);
    ++clocks_;
  }

  VerilatedContext* context_;
  Vboard board_;
  uint64_t clocks_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Board board(&context);
  while (board.serve()) {
  }
  return 0;
}
