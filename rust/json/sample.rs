//! Texts for the fuzz tests of every room: random, the same in every run, valid or broken in the ways that peers break.

/// Xorshift: one seed, one sequence, on every machine.
pub struct Random(u64);

/// What a broken text is made of besides random bytes.
const TOKENS: [&[u8]; 34] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\u",
    b"\\ud800",
    b"\\udfff",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"\0",
    b"\x1f",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"null",
    b"NaN",
    b"-Infinity",
    b"true",
    b"-",
    b"0",
    b"01",
    b"1.",
    b"1e",
    b"1E400",
    b"{\"a\":",
    b"[[[[[[[[",
];

/// Rounds of a fuzz test: `FUZZ=100 cargo test --release --no-default-features fuzz` for a hundred times as many.
pub fn rounds(count: usize) -> usize {
    count * std::env::var("FUZZ").map_or(1, |times| times.parse().expect("FUZZ is a number"))
}

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `bound`; 0 where there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.bits()).unwrap_or_default() % bound.max(1)
    }

    /// True once in `bound` times.
    pub fn once_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Bytes that may be anything.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1))
            .map(|_| self.bits().to_le_bytes()[0])
            .collect()
    }

    /// Tokens in no order.
    pub fn soup(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1))
            .flat_map(|_| self.pick(&TOKENS))
            .copied()
            .collect()
    }

    /// A number's text, of any length that grammar allows and sense does not.
    pub fn number(&mut self) -> String {
        let digits = |random: &mut Self, most: usize| -> String {
            (0..=random.below(most))
                .map(|_| char::from(b'0' + random.bits().to_le_bytes()[0] % 10))
                .collect()
        };
        let mut text = if self.once_in(3) { "-".to_owned() } else { String::new() };
        let whole = digits(self, 20);
        text.push_str(if self.once_in(4) {
            "0"
        } else {
            whole.trim_start_matches('0')
        });
        if !text.ends_with(|digit: char| digit.is_ascii_digit()) {
            text.push('7');
        }
        if self.once_in(3) {
            text = text + "." + &digits(self, 20);
        }
        if self.once_in(4) {
            let most = if self.once_in(9) { 50 } else { 3 };
            text = text + self.pick(&["e", "E", "e-", "E+"]) + &digits(self, most);
        }
        text
    }

    /// A string's text between its quotes.
    fn characters(&mut self) -> String {
        const PIECES: [&str; 18] = [
            "a",
            "b",
            " ",
            "é",
            "漢",
            "😀",
            "\u{7f}",
            "\\n",
            "\\\\",
            "\\\"",
            "\\/",
            "\\u0041",
            "\\u00e9",
            "\\ud83d\\ude00",
            "{",
            "}",
            "[1,",
            "plain text that is longer than two words",
        ];
        let mut text = String::new();
        for _ in 0..self.below(6) {
            text.push_str(self.pick(&PIECES));
        }
        if self.once_in(40) {
            text.push_str(self.pick(&["\\ud800", "\\uDFFF", "\\udc00\\ud800"]));
        }
        text
    }

    fn gap(&mut self, out: &mut String) {
        if self.once_in(12) {
            out.push_str(self.pick(&[" ", "\n", "\r\n\t", "   "]));
        }
    }

    /// A valid value. `words` are whole tokens with quotes; member names and many values are taken from them.
    pub fn value(&mut self, depth: usize, words: &[&str], out: &mut String) {
        self.gap(out);
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => out.push_str(self.pick(&["null", "true", "false"])),
            1 => out.push_str(&self.number()),
            2 => {
                out.push('"');
                out.push_str(&self.characters());
                out.push('"');
            }
            3 | 4 if !words.is_empty() => out.push_str(self.pick(words)),
            3 | 4 => out.push_str("\"\""),
            5 | 6 => self.container(depth, words, false, out),
            _ => self.container(depth, words, true, out),
        }
        self.gap(out);
    }

    fn container(&mut self, depth: usize, words: &[&str], object: bool, out: &mut String) {
        out.push(if object { '{' } else { '[' });
        let count = if self.once_in(30) { 40 } else { self.below(5) };
        for index in 0..count {
            if index > 0 {
                out.push(',');
            }
            if object {
                self.gap(out);
                if words.is_empty() || self.once_in(4) {
                    out.push('"');
                    out.push_str(&self.characters());
                    out.push('"');
                } else {
                    out.push_str(self.pick(words));
                }
                self.gap(out);
                out.push(':');
            }
            self.value((depth - 1) / if count > 9 { 4 } else { 1 }, words, out);
        }
        self.gap(out);
        out.push(if object { '}' } else { ']' });
    }

    /// Breaks a text, or changes it, in one to four places.
    pub fn mutate(&mut self, text: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(text.len() + 1);
            let end = text.len().min(at + self.below(9));
            match self.below(7) {
                0 => text.truncate(at),
                1 => drop(text.drain(at..end)),
                2 => drop(text.splice(at..at, self.pick(&TOKENS).iter().copied())),
                3 => drop(text.splice(at..end, self.pick(&TOKENS).iter().copied())),
                4 => drop(text.splice(at..at, self.bytes(3))),
                5 => {
                    let copied = text[at..end].to_vec();
                    let to = self.below(text.len() + 1);
                    drop(text.splice(to..to, copied));
                }
                _ => {
                    if let Some(byte) = text.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
    }

    /// A text of any kind: valid, broken, soup or bytes.
    pub fn text(&mut self, words: &[&str]) -> Vec<u8> {
        let mut out = String::new();
        match self.below(8) {
            0 => return self.bytes(40),
            1 => return self.soup(30),
            2..5 => self.value(5, words, &mut out),
            _ => {
                self.value(5, words, &mut out);
                let mut text = out.into_bytes();
                self.mutate(&mut text);
                return text;
            }
        }
        out.into_bytes()
    }
}
