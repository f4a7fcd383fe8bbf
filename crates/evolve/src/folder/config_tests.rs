use super::*;

#[test]
fn keys_count_or_are_named_with_the_reason_why_not() {
    let text = "max_iterations: 7\nrandom_seed: 3\nllm: {api_key: \"${KEY}\"}\ndatabase:\n  num_islands: 4\n  feature_dimensions: [complexity]\n\
                evaluator:\n  timeout: 1.5\n  cascade_thresholds: [0.1, 0.2]\n  parallel_evaluations: 4\nnew_key: 1\n";
    let config = FolderConfig::parse(text).unwrap();
    assert_eq!(
        (config.iterations, config.seed, config.time),
        (Some(7), Some(3), Duration::from_millis(1500))
    );
    assert_eq!(config.thresholds, [0.1, 0.2]);
    assert_eq!(config.dimensions, ["complexity"]);
    let named: Vec<&str> = config
        .notes
        .iter()
        .filter_map(|it| it.split(": ").next())
        .collect();
    assert_eq!(
        named,
        [
            "llm",
            "database.num_islands",
            "evaluator.parallel_evaluations",
            "new_key"
        ]
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_named() {
    for (text, part) in [
        ("max_iterations: many", "max_iterations"),
        ("evaluator: {timeout: -1}", "evaluator.timeout"),
        ("[1, 2]", "mapping"),
    ] {
        let refused = FolderConfig::parse(text).unwrap_err();
        assert!(refused.contains(part), "{refused}");
    }
    assert_eq!(FolderConfig::parse("").unwrap(), FolderConfig::default());
}
