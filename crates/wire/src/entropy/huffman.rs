//! Optimal code lengths under a limit, by package-merge.
//!
//! Plain Huffman can give a rare symbol a code of any length, but decoding by lookup needs a limit. Package-merge finds
//! the best lengths under it: think of each symbol as a coin of every denomination 1/2 … 1/2^limit whose price is the
//! symbol's count, and buy coins worth n − 1 as cheaply as possible. Going from the smallest denomination up, coins are
//! paired into packages, which compete with the coins of the next one. A symbol's length is the number of its coins in
//! the purchase.

/// A coin or a package: its price, and how many coins of each symbol are inside.
#[derive(Clone)]
struct Item {
    price: u64,
    coins: Vec<u8>,
}

/// The code length of each symbol, at most `limit` bits. Needs 2 ≤ symbols ≤ 2^limit.
pub(super) fn limited_lengths(counts: &[u64], limit: u32) -> Vec<u8> {
    let mut coins: Vec<Item> = counts
        .iter()
        .enumerate()
        .map(|(symbol, &count)| {
            let mut coins = vec![0; counts.len()];
            coins[symbol] = 1;
            Item { price: count.clamp(1, u64::MAX >> 16), coins }
        })
        .collect();
    coins.sort_by_key(|item| item.price);

    let mut row = coins.clone();
    for _ in 1..limit {
        let packages = row.chunks_exact(2).map(|pair| merge(&pair[0], &pair[1]));
        let mut next: Vec<Item> = coins.iter().cloned().chain(packages).collect();
        next.sort_by_key(|item| item.price);
        row = next;
    }
    let mut lengths = vec![0u8; counts.len()];
    for item in row.iter().take(2 * counts.len() - 2) {
        for (length, coins) in lengths.iter_mut().zip(&item.coins) {
            *length += coins;
        }
    }
    lengths
}

fn merge(a: &Item, b: &Item) -> Item {
    let coins = a.coins.iter().zip(&b.coins).map(|(a, b)| a + b).collect();
    Item { price: a.price.saturating_add(b.price), coins }
}
