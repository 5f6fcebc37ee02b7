//! What players type, made fit to be shown to others.
//!
//! A line break in a name forges a second line of chat, a right-to-left override turns `txt.exe` around, and characters
//! that nobody sees make two names look the same. They are taken out; letters of every script stay. What looks alike
//! across scripts is left to whoever shows it.

/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 32;

/// Characters of a line of chat.
pub const CHAT_CHARS_MAX: usize = 500;

/// Characters of the reason of a kick.
pub const REASON_CHARS_MAX: usize = 100;

/// Bytes of UTF-8 that so many characters take at most.
pub(crate) const fn bytes_max(chars: usize) -> usize {
    chars * 4
}

/// Characters that change how others are shown, or the direction of text.
fn is_directional(char: char) -> bool {
    matches!(char, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// Characters that take no room, or show as nothing.
fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Joins what is left of a text by single spaces, or nothing if nothing is left.
fn cleaned(text: &str, is_taken_out: impl Fn(char) -> bool) -> String {
    // A control character that is no space vanishes; a line break or a tab separates words like a space.
    let kept =
        text.chars().filter(|char| char.is_whitespace() || !(char.is_control() || is_taken_out(*char)));
    let kept: String = kept.collect();
    let mut cleaned = String::with_capacity(kept.len());
    for word in kept.split_whitespace() {
        if !cleaned.is_empty() {
            cleaned.push(' ');
        }
        cleaned.push_str(word);
    }
    cleaned
}

/// A name: nothing that cannot be seen.
pub(crate) fn clean_name(name: &str) -> String {
    cleaned(name, |char| is_directional(char) || is_invisible(char))
}

/// A line: joiners and selectors stay, for scripts and emoji need them.
pub(crate) fn clean_line(line: &str) -> String {
    cleaned(line, is_directional)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_of_every_script_stay() {
        for name in ["Zoë", "Łukasz", "李小龍", "محمد", "Ольга", "नेहा", "🦊", "o'Neil-3"]
        {
            assert_eq!(clean_name(name), name);
        }
        assert_eq!(clean_line("👩\u{200d}👩\u{200d}👧 ok"), "👩\u{200d}👩\u{200d}👧 ok");
    }

    #[test]
    fn what_forges_lines_directions_or_likeness_goes() {
        assert_eq!(clean_name("  An\u{0}na\r\n\tadmin:\u{85} hi  "), "Anna admin: hi");
        assert_eq!(clean_name("gpj.\u{202e}exe\u{2066}\u{2069}\u{200f}"), "gpj.exe");
        assert_eq!(clean_name("An\u{200b}na\u{feff}\u{00ad}\u{3164}"), "Anna");
        assert_eq!(clean_name("\u{200b}\u{2028}\u{3000} "), "");
        assert_eq!(clean_line("\u{202e}a\nb\u{1b}[31m"), "a b[31m");
    }

    proptest! {
        #[test]
        fn cleaning_again_changes_nothing_and_nothing_gets_longer(text: String) {
            for clean in [clean_name, clean_line] {
                let once = clean(&text);
                prop_assert_eq!(clean(&once), once.clone());
                prop_assert!(once.chars().count() <= text.chars().count());
                prop_assert!(!once.chars().any(|char| char.is_control() || is_directional(char)));
            }
        }
    }
}
