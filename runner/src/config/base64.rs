//! Base64 as people's files have it. It must not know what is in it.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// What `text` holds: of either alphabet, padded or not, with white space anywhere. None
/// when it is no base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let packed: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, lenient)
        .decode(packed)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn either_alphabet_is_read_padded_or_not_and_broken_into_lines() {
        for text in ["+/+/YQ==", "-_-_YQ", "+_+_\r\nYQ==\n", "-/-/YR"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff, 0xbf, b'a']), "{text}");
        }
        for text in ["a", "vless://x", "ab=c", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
