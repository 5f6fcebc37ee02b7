//! Arithmetic that has the same result in every language: whole numbers within 32 bits, division towards zero.

/// Sixty-four times the cosine and the sine of each thirty-second of a turn, from the right, clockwise on the screen.
const DIRECTIONS: [(i32, i32); 32] = [
    (64, 0),
    (63, 12),
    (59, 24),
    (53, 36),
    (45, 45),
    (36, 53),
    (24, 59),
    (12, 63),
    (0, 64),
    (-12, 63),
    (-24, 59),
    (-36, 53),
    (-45, 45),
    (-53, 36),
    (-59, 24),
    (-63, 12),
    (-64, 0),
    (-63, -12),
    (-59, -24),
    (-53, -36),
    (-45, -45),
    (-36, -53),
    (-24, -59),
    (-12, -63),
    (0, -64),
    (12, -63),
    (24, -59),
    (36, -53),
    (45, -45),
    (53, -36),
    (59, -24),
    (63, -12),
];

/// The direction to the left, where the ships are.
pub const LEFTWARDS: i32 = 16;

/// `a / b` for a positive `b`, to the nearest, halves away from zero.
pub fn divide_rounded(a: i32, b: i32) -> i32 {
    if a < 0 { (a - b / 2) / b } else { (a + b / 2) / b }
}

/// The largest whole number whose square is at most `n`.
pub fn square_root(n: i32) -> i32 {
    let mut root = 0;
    let mut bit = 1 << 30;
    let mut rest = n;
    while bit > rest {
        bit >>= 2;
    }
    while bit != 0 {
        if rest >= root + bit {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    root
}

/// The velocity of that speed, in whole units of a step, that comes nearest to the way (dx, dy). To the left if there is no way.
pub fn aim(dx: i32, dy: i32, speed: i32) -> (i32, i32) {
    let distance = square_root(dx * dx + dy * dy);
    if distance == 0 {
        return (-speed, 0);
    }
    (divide_rounded(dx * speed, distance), divide_rounded(dy * speed, distance))
}

/// The velocity of that speed in a direction in thirty-seconds of a turn, of which any whole number is one.
pub fn towards(direction: i32, speed: i32) -> (i32, i32) {
    let (x, y) = DIRECTIONS[(direction & 31) as usize];
    (divide_rounded(x * speed, 64), divide_rounded(y * speed, 64))
}

/// The next of a row of numbers without a pattern (xorshift32). Zero is never one, and never leads to another.
pub fn xorshift(n: u32) -> u32 {
    let a = n ^ (n << 13);
    let b = a ^ (a >> 17);
    b ^ (b << 5)
}

/// A seed for [`xorshift`] out of any number.
pub fn seeded(seed: u32) -> u32 {
    if seed == 0 { 0x9e37_79b9 } else { seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_largest_that_fit() {
        for n in 0..10_000 {
            let root = square_root(n);
            assert!(root * root <= n && (root + 1) * (root + 1) > n, "{n}");
        }
        assert_eq!(square_root(i32::MAX), 46_340);
    }

    #[test]
    fn aim_keeps_the_speed_within_a_unit() {
        for dx in -40..40 {
            for dy in -40..40 {
                let (vx, vy) = aim(dx * 37, dy * 21, 9);
                assert!((64..=100).contains(&(vx * vx + vy * vy)), "{dx} {dy}: {vx} {vy}");
            }
        }
    }

    #[test]
    fn directions_are_opposite_to_those_of_half_a_turn_later() {
        for direction in 0..32 {
            let (x, y) = towards(direction, 64);
            assert_eq!(towards(direction + 16, 64), (-x, -y));
            assert!((61 * 61..=67 * 67).contains(&(x * x + y * y)));
        }
    }
}
