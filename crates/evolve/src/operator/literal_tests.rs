use super::*;
use crate::component::Component;
use crate::source::Source;

fn with<T>(path: &str, text: &str, then: impl FnOnce(Parent<'_>) -> T) -> T {
    let component = Component::of_files("c", vec![Source::parse(path, text).unwrap()]);
    let content = component.content();
    let files = component.parse(&content);
    then(Parent {
        component: &component,
        content: &content,
        files: &files,
    })
}

#[test]
fn numbers_are_found_with_their_signs_and_not_in_texts() {
    let text =
        "# EVOLVE-BLOCK-START\na = -2 * b[0] - 1.5e3  # 7\nc = '8'\n# EVOLVE-BLOCK-END\nd = 9\n";
    let values = with("x.py", text, |it| {
        literals(it).iter().map(|it| it.value).collect::<Vec<_>>()
    });
    assert_eq!(values, [-2.0, 0.0, 1500.0]);
    let values = with("x.r", "a1 <- 2.5 + c(3)", |it| {
        literals(it).iter().map(|it| it.value).collect::<Vec<_>>()
    });
    assert_eq!(values, [2.5, 3.0]);
}

#[test]
fn a_step_crosses_zero_and_leaves_it() {
    with("x.py", "a = 0.0\n", |parent| {
        let found = literals(parent);
        let mut random = Random::at(1, 1);
        let mut signs = [0, 0];
        for _ in 0..200 {
            let Some((edit, _)) = step(&found, &[1.0], &mut random) else {
                continue;
            };
            let value: f64 = edit.replacements[0].text.parse().unwrap();
            signs[usize::from(value < 0.0)] += 1;
        }
        assert!(signs.iter().all(|it| *it > 20), "{signs:?}");
    });
}

#[test]
fn a_negative_number_after_a_minus_stays_a_number() {
    with("x.ts", "let a = b-3;", |parent| {
        assert_eq!(literals(parent)[0].with(-2.0).unwrap().text, "(-2)");
    });
}
