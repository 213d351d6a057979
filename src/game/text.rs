//! Text from outside, made fit for a log and a terminal.

/// The text as one line of what can be seen: without control characters, such as those that begin a
/// terminal's commands, and without those that turn or hide what stands beside them. Cut after so
/// many characters.
pub fn one_line(text: &str, most_chars: usize) -> String {
    text.chars().filter(|&c| !c.is_control() && !is_invisible(c)).take(most_chars).collect()
}

/// Line ends, directions, joiners and other marks without a shape (Unicode, general categories Zl,
/// Zp and Cf, and the tags).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_left() {
        assert_eq!(one_line("a\u{1b}[31mb\r\nc\t\u{7}\u{9b}2Jd", 99), "a[31mbc2Jd");
        assert_eq!(one_line("\u{202e}drawkcab\u{2066}\u{200b}", 99), "drawkcab");
        assert_eq!(one_line("Grüße, мир ♞", 99), "Grüße, мир ♞");
        assert_eq!(one_line("äöü", 2), "äö");
    }
}
