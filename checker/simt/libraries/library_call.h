// SPDX-License-Identifier: MIT
//
// One call of a library. It is an operation of its stream, like a cudaMemcpyAsync, and runs when its stream comes to it.
// What it reads and writes is judged then as a whole: device memory, bounds, alignment, what nobody has written, and
// races with other streams and with the host. It is counted with its bytes and its FLOP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/libraries/product.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/races/footprint.h"
#include "checker/simt/runtime/streams/sampling.h"

namespace simt {

// A matrix that a call is given: `columns` columns of `rows` elements, column-major, the columns `ld` elements apart; or
// `batch` of them, `stride` elements apart. What lies between two columns is not touched.
struct CallMatrix {
    std::string text;  // "A (m x k = 64 x 32, lda 64)"
    const void* data = nullptr;
    std::size_t element_bytes = 0;
    long rows = 0, columns = 1, ld = 1;
    long batch = 1, stride = 0;
    std::size_t alignment = 0;  // what the library asks for; 0: an element's size
};

struct LibraryCall {
    const char* name;  // "cublasSgemm"
    cudaStream_t stream;
    const void* site;  // return address
};

// A call that runs: says what it touches, then computes, unless something is wrong with what it touches.
class RunningCall {
  public:
    explicit RunningCall(const LibraryCall& call) : call_(call) {}
    ~RunningCall();
    RunningCall(const RunningCall&) = delete;
    RunningCall& operator=(const RunningCall&) = delete;

    // What is read must not be written by the same call, and nothing twice: that is a race within the call. `updates`
    // reads each element and writes it where it was.
    void reads(const CallMatrix& matrix);
    void updates(const CallMatrix& matrix);
    void writes(const CallMatrix& matrix);
    // Reads a column, a number or an array of pointers, and copies it to the host's memory. False: it is not there.
    bool fetches(const CallMatrix& column, void* to);
    // `bytes` are moved in smaller pieces than their addresses allow.
    void narrows(std::uint64_t bytes);
    // So many operations, in products of such inputs.
    void takes(double flop, Inputs inputs = Inputs::as_they_are);
    // Whether all that was named is there: if not, what the call would have written is poison. And whether anybody wants it.
    bool may_compute() const { return fine_ && libraries_compute(); }

  private:
    bool is_usable(const CallMatrix& matrix, const char* verb);
    bool check_matrix(const CallMatrix& matrix, const char* verb);
    void judge_written(const CallMatrix& matrix);
    void judge_overlaps();
    void fail(cudaError_t error);

    const LibraryCall call_;
    std::vector<CallMatrix> written_;
    std::vector<Span> read_spans_, written_spans_;
    Traffic traffic_;
    bool fine_ = true;
    cudaError_t error_{};
};

// Puts the call into its stream's queue. `body` runs with the device's memory open, once the stream comes to it. False
// if there is no such stream, or if a host function calls: the runtime has said so.
bool issue(const LibraryCall& call, std::function<void(RunningCall&)> body);

// Where launches run only some of their blocks (sampling.h), a call computes only some tiles of its outputs, which are
// `batch` matrices of m x n; otherwise all of them, as one tile.
struct Tile {
    long row = 0, rows = 0, column = 0, columns = 0, first = 0, batch = 0;
};
std::vector<Tile> tiles_of(const char* name, long m, long n, long batch);

// Whether SIMT_VERBOSE=1 is set: then the libraries say what a status alone does not tell.
bool is_verbose();

// Why a library refuses a call, and what says so: "lda = 3 is less than m = 4 (cublas<t>gemm())". SIMT_VERBOSE=1 prints it.
void tell_refusal(const char* function, const std::string& why);
// The last one since this was called, with its function; empty: there was none.
std::string take_refusal();

// Counts what a program can keep between calls: a library's handle that is made, an algorithm that is chosen.
void note_setup();
std::uint64_t library_setups();  // so far

}  // namespace simt
