//! Base64 on its way out: the standard alphabet, padded (RFC 4648, 4). What comes in is judged and decoded in `content`.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The two digits of each twelve bits, so that three bytes take two looks.
static PAIRS: [[u8; 2]; 4096] = {
    let mut pairs = [[0; 2]; 4096];
    let mut bits = 0;
    while bits < pairs.len() {
        pairs[bits] = [ALPHABET[bits >> 6], ALPHABET[bits & 63]];
        bits += 1;
    }
    pairs
};

/// How many digits so many bytes take.
#[must_use]
pub const fn encoded_size(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Writes the digits of `data` into the `encoded_size` bytes that somebody else has made room for.
pub fn encode_into(data: &[u8], room: &mut [u8]) {
    let groups = data.chunks_exact(3);
    let rest = groups.remainder();
    let mut places = room.chunks_exact_mut(4);
    for (group, place) in groups.zip(&mut places) {
        digits([group[0], group[1], group[2]], place);
    }
    if let (false, Some(place)) = (rest.is_empty(), places.next()) {
        let mut group = [0; 3];
        group[..rest.len()].copy_from_slice(rest);
        digits(group, place);
        place[rest.len() + 1..].fill(b'=');
    }
}

fn digits([first, second, third]: [u8; 3], place: &mut [u8]) {
    let upper = usize::from(first) << 4 | usize::from(second) >> 4;
    let lower = usize::from(second & 15) << 8 | usize::from(third);
    place[..2].copy_from_slice(&PAIRS[upper]);
    place[2..].copy_from_slice(&PAIRS[lower]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::content::{decode_base64, decoded_size};

    fn encoded(data: &[u8]) -> Vec<u8> {
        let mut room = vec![0; encoded_size(data.len())];
        encode_into(data, &mut room);
        room
    }

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (data, digits) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(data.as_bytes()), digits.as_bytes());
        }
    }

    #[test]
    fn whatever_is_encoded_decodes_to_itself() {
        let data: Vec<u8> = (0..=255_u8).chain((0..=255).rev()).chain([0, 255, 0]).collect();
        for length in 0..data.len() {
            let digits = encoded(&data[..length]);
            assert_eq!(decoded_size(&digits), Some(length));
            assert_eq!(decode_base64(&digits), &data[..length]);
        }
    }
}
