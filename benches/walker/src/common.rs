//! What both measurements share: the timing.

use std::time::{Duration, Instant};

/// The best of many rounds of each candidate, the rounds interleaved so that a slow moment hits all of them.
pub fn race(candidates: &mut [(&str, Box<dyn FnMut() + '_>)], budget: Duration) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; candidates.len()];
    let began = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || began.elapsed() < budget {
        for (slot, (_, run)) in best.iter_mut().zip(candidates.iter_mut()) {
            let start = Instant::now();
            run();
            *slot = (*slot).min(start.elapsed());
        }
        rounds += 1;
    }
    best
}

pub fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e6
}
