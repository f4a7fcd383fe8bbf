use super::*;
use crate::parameter::{Domain, Parameter, Place, Scale, Value};

fn number(index: usize, value: f64) -> Parameter {
    Parameter {
        name: format!("x{index}"),
        place: Place::Environment(format!("X{index}")),
        domain: Domain::Number {
            low: -5.0,
            high: 5.0,
            scale: Scale::Linear,
        },
        value: Value::Number(value),
    }
}

/// The best value after a budget, of a function that is to be made small.
fn least(
    component: &Component,
    budget: usize,
    seed: u64,
    function: impl Fn(&[Value]) -> f64,
) -> f64 {
    let content = component.content();
    let mut search = Vectors::new(component, budget).unwrap();
    let mut best = f64::MAX;
    for step in 0..budget {
        let point = search.ask(&mut Random::at(seed, step as u64));
        let values = content
            .edited(&edit(component, &content, &point))
            .unwrap()
            .values;
        let value = function(&values);
        best = best.min(value);
        search.tell(&point, -value, &mut Random::at(seed, step as u64));
    }
    best
}

fn numbers(values: &[Value]) -> Vec<f64> {
    values
        .iter()
        .map(|it| match it {
            Value::Number(it) => *it,
            _ => panic!("{it:?}"),
        })
        .collect()
}

#[test]
fn a_narrow_valley_is_followed_to_its_end() {
    let component = Component::of_parameters("c", (0..6).map(|it| number(it, -2.0)).collect());
    let valley = |values: &[Value]| {
        let x = numbers(values);
        x.windows(2)
            .map(|it| 100.0 * (it[1] - it[0] * it[0]).powi(2) + (1.0 - it[0]).powi(2))
            .sum()
    };
    let mut found: Vec<f64> = (0..5)
        .map(|seed| least(&component, 6_000, seed, valley))
        .collect();
    found.sort_by(f64::total_cmp);
    assert!(found[2] < 1e-3, "{found:?}");
}

#[test]
fn many_numbers_are_searched_by_differences() {
    let component = Component::of_parameters("c", (0..130).map(|it| number(it, 4.0)).collect());
    let bowl = |values: &[Value]| numbers(values).iter().map(|it| (it - 1.0).powi(2)).sum();
    let (few, many) = (
        least(&component, 500, 1, bowl),
        least(&component, 20_000, 1, bowl),
    );
    assert!(many < few / 20.0, "{few} {many}");
}

#[test]
fn options_without_order_are_found_together_with_numbers() {
    let options = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let choice = |index| Parameter {
        domain: Domain::Choice(options.clone()),
        value: Value::Choice(0),
        ..number(index, 0.0)
    };
    let component = Component::of_parameters("c", vec![choice(0), number(1, 0.0), choice(2)]);
    let mixed = |values: &[Value]| match values {
        [Value::Choice(a), Value::Number(x), Value::Choice(b)] => {
            f64::from(u8::from(*a != 3)) + f64::from(u8::from(*b != 1)) + (x - 2.0).powi(2)
        }
        _ => panic!("{values:?}"),
    };
    let solved = (0..20)
        .filter(|seed| least(&component, 150, *seed, mixed) < 0.1)
        .count();
    assert!(solved >= 18, "{solved}");
}
