use super::*;

#[test]
fn every_place_of_the_unit_interval_is_a_value_within_the_bounds() {
    let domains = [
        Domain::Number {
            low: -2.0,
            high: 3.0,
            scale: Scale::Linear,
        },
        Domain::Number {
            low: 1e-6,
            high: 10.0,
            scale: Scale::Logarithmic,
        },
        Domain::Integer {
            low: 16,
            high: 65_536,
            scale: Scale::Logarithmic,
        },
        Domain::Choice(vec!["lru".into(), "lfu".into(), "arc".into()]),
        Domain::Flag,
    ];
    for domain in domains {
        for step in 0..=100 {
            let value = domain.at(f64::from(step) / 100.0);
            assert!(domain.holds(&value), "{domain:?} {value:?}");
            let again = domain.at(domain.unit(&value));
            match (&value, &again) {
                (Value::Number(one), Value::Number(two)) => assert!((one - two).abs() < 1e-9),
                _ => assert_eq!(value, again),
            }
        }
    }
}
