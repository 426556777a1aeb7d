// SPDX-License-Identifier: MIT
//
// Barriers and fences.
#pragma once
#pragma GCC system_header

extern "C" {
// Every thread of the block that has not exited must come; all at the same line.
void __syncthreads();
int __syncthreads_count(int predicate);  // in how many threads the predicate is not 0
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);

// Every lane of the mask that has not exited must come.
void __syncwarp(unsigned int mask = 0xffffffffU);

void __threadfence_block();
void __threadfence();
void __threadfence_system();
}

// What simt-lower adds to statements and functions with a barrier in them, each of which has its number (lower.h): so
// the runtime knows which threads went round a barrier at which others wait.
namespace simt {

unsigned enter_statement(unsigned number) noexcept;  // gives 1
unsigned leave_statement(unsigned number) noexcept;  // gives 0

template <unsigned kNumber>
struct Within {
    __attribute__((always_inline, no_sanitize_thread)) Within() noexcept { enter_statement(kNumber); }
    __attribute__((always_inline, no_sanitize_thread)) ~Within() { leave_statement(kNumber); }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
};

}  // namespace simt

#ifdef __SIMT_UNCHECKED__
#define SIMT_WITHIN(n)
#define SIMT_WITHIN_LOOP(n)
#else
#define SIMT_WITHIN(n) const ::simt::Within<n> simt_within_##n
#define SIMT_WITHIN_LOOP(n)                                                      \
    for (unsigned simt_within_##n = ::simt::enter_statement(n); simt_within_##n; \
         simt_within_##n = ::simt::leave_statement(n))
#endif
