use super::*;

#[test]
fn the_order_of_numbers_is_exact_whatever_their_spelling() {
    for (left, right, order) in [
        ("1", "1.0", Ordering::Equal),
        ("1", "10e-1", Ordering::Equal),
        ("-0", "0.0e7", Ordering::Equal),
        ("-0.0", "0", Ordering::Equal),
        ("9007199254740993", "9007199254740992", Ordering::Greater),
        ("9007199254740993.0", "9007199254740993", Ordering::Equal),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567891",
            Ordering::Less,
        ),
        (
            "-123456789012345678901234567890",
            "-123456789012345678901234567891",
            Ordering::Greater,
        ),
        ("1E400", "1e401", Ordering::Less),
        ("10E399", "1e400", Ordering::Equal),
        ("-1e400", "1e-400", Ordering::Less),
        ("1e-400", "0", Ordering::Greater),
        ("-1e-400", "0", Ordering::Less),
        ("0.1", "0.10000000000000000555", Ordering::Less),
        ("100", "99.999999999999999999999", Ordering::Greater),
        ("0.00123", "1.23e-3", Ordering::Equal),
        ("12300", "1.23e4", Ordering::Equal),
        ("1.20", "1.2", Ordering::Equal),
        ("120", "12", Ordering::Greater),
        ("1e999999999999999999999999999999999999", "2", Ordering::Greater),
        ("1e-999999999999999999999999999999999999", "2", Ordering::Less),
    ] {
        assert_eq!(compare(left, right), order, "{left} {right}");
        assert_eq!(compare(right, left), order.reverse(), "{right} {left}");
    }
}

#[test]
fn a_whole_number_is_whole_in_every_spelling() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "0e-5",
        "1",
        "1.0",
        "10e-1",
        "1e400",
        "1.50e1",
        "123456789012345678901234567890.00",
    ] {
        assert!(is_whole(text), "{text}");
    }
    for text in [
        "0.5",
        "1e-1",
        "1.5",
        "15e-1",
        "1e-400",
        "123456789012345678901234567890.1",
        "1.50",
    ] {
        assert!(!is_whole(text), "{text}");
    }
}

#[test]
fn divisibility_is_exact() {
    for (value, divisor) in [
        ("0", "7"),
        ("-0.0", "0.1"),
        ("21", "-7"),
        ("0.3", "0.1"),
        ("19.99", "0.01"),
        ("1070468.14", "0.01"),
        ("9007199254740993", "3"),
        ("1e400", "1e-7"),
        ("1e400", "7e0".replace('7', "8").as_str()),
        ("123456789012345678901234567890", "10"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("3e999999999999999999999999999999999999", "3"),
        ("5.35", "2.675"),
        ("1e-3", "1e-400"),
    ] {
        assert!(
            Divisor::new(divisor).is_some_and(|divisor| divisor.divides(value)),
            "{value} {divisor}"
        );
    }
    for (value, divisor) in [
        ("1", "7"),
        ("0.35", "0.1"),
        ("19.991", "0.01"),
        ("9007199254740992", "3"),
        ("1e400", "7"),
        ("1e-400", "1e-399"),
        ("1", "3.0"),
        ("7", "1e400"),
        ("123456789012345678901234567891", "10"),
        ("0.5", "1"),
        ("10", "4"),
    ] {
        assert!(
            Divisor::new(divisor).is_some_and(|divisor| !divisor.divides(value)),
            "{value} {divisor}"
        );
    }
    assert!(Divisor::new("0.0").is_none());
}
