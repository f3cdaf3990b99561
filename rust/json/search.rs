//! Where a run of plain characters ends: eight bytes at once by arithmetic, thirty-two where the run is long.

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// Marks each zero byte; bytes behind the first one may be marked in error, and nobody asks for those.
#[inline]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[inline]
const fn quotes(word: u64) -> u64 {
    (zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C))) & HIGH
}

#[inline]
const fn specials(word: u64) -> u64 {
    (zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C)) | (word.wrapping_sub(ONES * 0x20) & !word)) & HIGH
}

/// The first quote, backslash or control character from `position` on (what a string's text can't hold as it
/// stands); the text's end where there is none.
#[inline]
#[must_use]
pub fn special(text: &[u8], position: usize) -> usize {
    near(text, position, specials).unwrap_or_else(|position| far(text, position))
}

/// The first quote or backslash from `position` on; the text's end where there is none.
#[inline]
#[must_use]
pub fn quoting(text: &[u8], position: usize) -> usize {
    near(text, position, quotes).unwrap_or_else(|position| {
        let rest = text.get(position..).unwrap_or_default();
        text.len() - rest.len() + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
    })
}

/// Most strings end within two words, and these cost less than the call of a search. `Err`: where to go on.
#[inline]
fn near(text: &[u8], position: usize, mark: impl Fn(u64) -> u64) -> Result<usize, usize> {
    let mut at = position;
    for _ in 0..2 {
        let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let found = mark(u64::from_le_bytes(*word));
        if found != 0 {
            return Ok(at + first(found));
        }
        at += 8;
    }
    Err(at)
}

/// The place of the first byte that is marked; 8 where none is.
#[inline]
const fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

#[inline(never)]
fn far(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let mut at = text.len() - rest.len();
    let marks = |word: &[u8; 8]| specials(u64::from_le_bytes(*word));
    let (words, tail) = rest.as_chunks::<8>();
    let (blocks, _) = words.as_chunks::<4>();
    for [a, b, c, d] in blocks {
        if marks(a) | marks(b) | marks(c) | marks(d) != 0 {
            break;
        }
        at += 32;
    }
    let (words, _) = text[at..].as_chunks::<8>();
    for word in words {
        let found = marks(word);
        if found != 0 {
            return at + first(found);
        }
        at += 8;
    }
    // Eight bytes that are no special ones, and over them the last few of the text.
    let mut last = [b'x'; 8];
    last[..tail.len()].copy_from_slice(tail);
    text.len().min(at + first(marks(&last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_found_at_every_place_and_distance() {
        for wanted in [b'"', b'\\', 0, 0x1F, b'\n'] {
            for length in 0..100 {
                for place in 0..=length {
                    let mut text = vec![b'x'; length];
                    if place < length {
                        text[place] = wanted;
                        // What follows may not be taken for it, nor the bytes that differ by one bit or one.
                        text[place + 1..].fill(b'"');
                    }
                    for (index, byte) in text[..place].iter_mut().enumerate() {
                        *byte = [b'x', b'!', b'#', b' ', b'[', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF][index % 11];
                    }
                    for from in 0..=place {
                        assert_eq!(special(&text, from), place);
                        if wanted > 0x1F {
                            assert_eq!(quoting(&text, from), place);
                        }
                    }
                }
            }
        }
        assert_eq!((special(b"x", 5), quoting(b"", 9)), (1, 0));
    }
}
