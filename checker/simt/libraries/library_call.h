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
#include "checker/simt/runtime/footprint.h"

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

// What the calls of libraries that have run so far have taken, each byte once for each call and matrix.
struct LibraryCounts {
    std::uint64_t calls = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    double flop = 0;
};
const LibraryCounts& library_counts();

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

    void reads(const CallMatrix& matrix) { touches(matrix, Use::read); }
    void writes(const CallMatrix& matrix) { touches(matrix, Use::write); }
    void takes(double flop);
    // Whether all that was named is there. If not, what the call would have written is poison.
    bool may_compute() const { return fine_; }

  private:
    void touches(const CallMatrix& matrix, Use use);
    bool is_there(const CallMatrix& matrix, const char* verb);
    void judge_written(const CallMatrix& matrix);
    void fail(cudaError_t error);

    const LibraryCall call_;
    std::vector<CallMatrix> written_;
    bool fine_ = true;
    cudaError_t error_{};
};

// Puts the call into its stream's queue. `body` runs with the device's memory open, once the stream comes to it. False
// if there is no such stream, or if a host function calls: the runtime has said so.
bool issue(const LibraryCall& call, std::function<void(RunningCall&)> body);

// SIMT_VERBOSE=1: prints why a library refuses a call, and what says so: "simt: cublasSgemm: lda 3 < m 4 (cublas<t>gemm())".
void tell_refusal(const char* function, const std::string& why);

}  // namespace simt
