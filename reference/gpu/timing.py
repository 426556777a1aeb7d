# SPDX-License-Identifier: MIT
"""Statistics of samples and the rule that ends them, as checker/clock/timing.h has both; samples that are queued behind
a delay, as in checker/gpu/event_stopwatch.h. Needs nothing but Python 3.10: the GPU's events come from the caller."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

FEWEST_SAMPLES = 6  # fewer have no 95% interval
GOAL = 0.01  # both ends of the interval are as near to the median
MOST_S = 1.5  # seconds for one item, if they are enough for FEWEST_SAMPLES
BATCH_S = 0.1  # seconds for calls that are timed without a pause
MOST_IN_BATCH = 10
WARMUP = 5  # calls


def rank_of_interval(n: int) -> int:
    """Returns the largest k for which P(Binomial(n, 1/2) < k) is at most 2.5%; 0 below 6 samples."""
    outcomes, below, k = 1, 0, 0  # `outcomes`: n over k; `below`: their sum
    tail = 2**n // 40  # 2.5% of all outcomes
    while 2 * k < n:
        below += outcomes
        if below > tail:
            break
        outcomes = outcomes * (n - k) // (k + 1)
        k += 1
    return k


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Returns the 95% interval of the median: the k-th smallest and the k-th largest sample. Below 6 samples no pair
    covers that much: then the smallest and the largest."""
    k = max(rank_of_interval(len(samples)), 1)
    order = sorted(samples)
    return order[k - 1], order[len(order) - k]


def is_narrow(samples: Sequence[float]) -> bool:
    """Returns true if both ends of the median's interval are within GOAL of it."""
    median, (low, high) = statistics.median(samples), median_interval(samples)
    return max(median - low, high - median) <= GOAL * median


def is_enough(samples: Sequence[float], spent_s: float) -> bool:
    return len(samples) >= FEWEST_SAMPLES and (spent_s >= MOST_S or is_narrow(samples))


def batch_of(call_s: float) -> int:
    """Returns how many calls of `call_s` are timed without a pause: 10, fewer where they take more than BATCH_S."""
    return max(1, min(MOST_IN_BATCH, int(BATCH_S / max(call_s, 1e-9))))


def summarise(samples: list[float]) -> dict:
    """In milliseconds. Quantiles are interpolated between order statistics."""
    p10, *_, p90 = statistics.quantiles(samples, n=10, method="inclusive")
    times = {"median_ms": statistics.median(samples), "p10_ms": p10, "p90_ms": p90}
    in_ms: dict = {name: seconds * 1e3 for name, seconds in times.items()}
    in_ms["interval_ms"] = [seconds * 1e3 for seconds in median_interval(samples)]
    return in_ms | {"samples": len(samples)}


class ColdQueue:
    """Device time of single calls on cold caches. [delay] and then [flush][begin][call][end] several times are queued
    without a wait, so that the host's part of a launch is over before the device comes to it. A sample that the device
    began before all of it was queued is thrown away, and the delay doubles; after MOST_DOUBLINGS it is taken as it is.
    """

    MOST_DOUBLINGS = 9

    def __init__(
        self, delay: Callable[[int], object], flush: Callable[[], object], new_event: Callable[[], Any]
    ) -> None:
        """`delay` queues work of as many units as it is told; an event is one of torch.cuda.Event with timing."""
        self.delay, self.flush, self.new_event = delay, flush, new_event
        self.doublings = 0
        self.late = 0  # samples that were taken as they are

    def take(self, call: Callable[[], object], count: int) -> list[float]:
        """Returns the seconds of `count` calls, or of fewer where the device came too early."""
        pairs = [(self.new_event(), self.new_event()) for _ in range(count)]
        came_early = []
        self.delay(1 << self.doublings)
        for begin, end in pairs:
            self.flush()
            begin.record()
            call()
            end.record()
            came_early.append(begin.query())
        pairs[-1][1].synchronize()
        samples = [begin.elapsed_time(end) * 1e-3 for begin, end in pairs]
        if not any(came_early):
            return samples
        if self.doublings < self.MOST_DOUBLINGS:
            self.doublings += 1
            return [seconds for seconds, early in zip(samples, came_early, strict=True) if not early]
        self.late += sum(came_early)
        return samples


SHORT_S = 100e-6  # calls below this are queued behind each other
QUEUED = 16


def time_cold(queue: ColdQueue, call: Callable[[], object], now: Callable[[], float]) -> list[float]:
    """Samples of single calls until there are enough. `now` is the host's clock: flushes and delays count too."""
    known: list[float] = []
    begin = now()
    for _ in range(WARMUP):
        known += queue.take(call, 1)
        if now() - begin >= MOST_S / 3:
            break
    count = QUEUED if min(known, default=SHORT_S) < SHORT_S else 1
    samples: list[float] = []
    begin = now()
    while not is_enough(samples, now() - begin):
        samples += queue.take(call, count)
    return samples


def time_hot(run: Callable[[int], list[float]]) -> list[float]:
    """Samples of calls one after another until there are enough; `run` times as many as it is told."""
    count = batch_of(min(run(1) + run(1)))  # the first call also sets up what the call needs
    if count > 1:
        run(count)
    samples: list[float] = []
    while not is_enough(samples, sum(samples)):
        samples += run(count)
    return samples
