//! What a server may send in total, divided among its peers.

/// Lowers budgets until their sum is at most `total`, and no further than that takes.
///
/// Nobody gets more than was wanted, and nobody is lowered for somebody who gets more:
///
/// ```text
///   wanted   10   40   30   5        total 60       10   22   22   5      sum 59
///                                                        └─ the same level for all who want more
/// ```
///
/// So a peer that needs little gets it however greedy the others are, and what it leaves is theirs. The level is a whole
/// number of bytes; the remainder, less than one byte for each peer, stays unused.
pub fn share(total: u64, budgets: &mut [u64]) {
    let sum_at = |level: u64| budgets.iter().map(|budget| u128::from(*budget.min(&level))).sum::<u128>();
    let (mut fits, mut above) = (0, budgets.iter().copied().max().unwrap_or_default());
    if sum_at(above) <= total.into() {
        return;
    }
    // `fits` fits and `above` does not: halving takes at most 64 rounds, without sorting and without memory.
    while above - fits > 1 {
        let middle = fits + (above - fits) / 2;
        if sum_at(middle) <= total.into() {
            fits = middle;
        } else {
            above = middle;
        }
    }
    budgets.iter_mut().for_each(|budget| *budget = fits.min(*budget));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_wishes_are_met_and_the_rest_is_the_same_for_all() {
        let mut budgets = [10, 40, 30, 5];
        share(60, &mut budgets);
        assert_eq!(budgets, [10, 22, 22, 5]);
    }

    #[test]
    fn what_fits_is_left_alone_and_of_nothing_everybody_gets_nothing() {
        let mut budgets = [7, 8];
        share(15, &mut budgets);
        assert_eq!(budgets, [7, 8]);
        share(0, &mut budgets);
        assert_eq!(budgets, [0, 0]);
        share(5, &mut []);
    }

    proptest! {
        #[test]
        fn the_total_holds_is_used_and_nobody_is_lowered_for_somebody_who_gets_more(
            total: u64, wanted in proptest::collection::vec(any::<u64>(), 1..40),
        ) {
            let mut budgets = wanted.clone();
            share(total, &mut budgets);
            let sum: u128 = budgets.iter().map(|budget| u128::from(*budget)).sum();
            let wish: u128 = wanted.iter().map(|budget| u128::from(*budget)).sum();
            prop_assert!(sum <= total.into());
            prop_assert!(sum == wish || sum + wanted.len() as u128 > total.into());
            let most = budgets.iter().max().unwrap();
            for (budget, wanted) in budgets.iter().zip(&wanted) {
                prop_assert!(budget == wanted || (budget < wanted && budget == most));
            }
        }
    }
}
